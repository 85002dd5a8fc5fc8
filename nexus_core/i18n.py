"""The words that people read, through gettext, and whose language it is: a request's, a job's, or the cockpit's."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from babel.messages import mofile, pofile

LANGUAGES = {"en": "English", "es": "Español"}
"""The languages by code, each by its own name; the first is the one that the code is written in."""
LOCALE = Path(__file__).resolve().parent / "locale"

_language: ContextVar[str | None] = ContextVar("language", default=None)
_asked: list[Callable[[], str | None]] = []


def use(language: str | None) -> None:
    """Speak one of LANGUAGES from here on, in this context alone; None: whatever is asked for, else English."""
    _language.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak one of LANGUAGES inside."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def kept() -> Context:
    """A copy of this context that goes on in its language: for work that another thread does on somebody's behalf."""
    found = copy_context()
    found.run(_language.set, language())
    return found


def ask(who: Callable[[], str | None]) -> None:
    """Have `who` say the language where none is in use: it knows which person a thread draws for, None for nobody."""
    _asked[:] = [who]


def language() -> str:
    """The code of the language that is spoken here."""
    found = _language.get() or next(filter(None, (who() for who in _asked)), None)
    return found if found in LANGUAGES else "en"


def accepted(header: str | None) -> str | None:
    """The best of LANGUAGES for an Accept-Language header (es-MX;q=0.9, en); None when it names none of them."""
    wanted = []
    for place, part in enumerate((header or "")[:1000].split(",")):
        tag, _semicolon, weight = part.strip().partition(";q=")
        try:
            quality = float(weight or 1)
        except ValueError:
            continue
        code = tag.partition("-")[0].lower()
        if code in LANGUAGES and quality > 0:
            wanted.append((-quality, place, code))
    return min(wanted)[2] if wanted else None


def later(message: str) -> str:
    """The message as it is, noted for the catalogues: for a text made at import, which `_` translates when shown."""
    return message


def _(message: str) -> str:
    """The message in the current language."""
    return _catalogue(language()).gettext(message)


def pgettext(context: str, message: str) -> str:
    """The message as it is said in this context, for an English word that is several elsewhere."""
    return _catalogue(language()).pgettext(context, message)


def ngettext(singular: str, plural: str, n: int) -> str:
    """The form that fits the number `n`, in the current language; the caller puts the number in."""
    return _catalogue(language()).ngettext(singular, plural, n)


@cache
def _catalogue(code: str) -> NullTranslations:
    """The translations of a language, compiled when it is first spoken, which takes 50 ms."""
    path = LOCALE / code / "LC_MESSAGES" / "nexus.po"
    if not path.exists():
        return NullTranslations()
    compiled = io.BytesIO()
    with path.open("rb") as file:
        mofile.write_mo(compiled, pofile.read_po(file, locale=code))
    compiled.seek(0)
    return GNUTranslations(compiled)
