"""Text as it is stored, titled and compared: the one sanitiser, whole clusters, folding for search."""

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from itertools import islice
from typing import Any
from uuid import UUID

import regex
from markdown_it import MarkdownIt
from markdown_it.token import Token

from nexus_core.i18n import _

TITLE_CLUSTERS = 60
ELLIPSIS = "…"

_JSON_DEPTH = 100
_PRINTABLE_BITS = 14_000
_TITLE_SOURCE = 4_000
_CLUSTER = regex.compile(r"\X")
_THOUGHT = regex.compile(r"<(think(?:ing)?|reasoning)>.*?(?:</\1>|\Z)", regex.DOTALL | regex.IGNORECASE)
_UNSEEN = regex.compile(r"[\p{Bidi_Control}\u00ad\u200b\u2060\ufeff]|(?!\s)\p{Cc}")
_SEEN = regex.compile(r"[^\p{Default_Ignorable_Code_Point}\p{Z}\p{Cc}\p{Cf}\p{M}\u2800]")
_PILED_MARKS = regex.compile(r"(\p{M}{8})\p{M}+")
_BREAKING_TAG = regex.compile(r"</?(?:br|p|div|li|tr|td|th|h\d)\b", regex.IGNORECASE)
_QUOTES = ('""', "''", "“”", "‘’", "«»", "„“")
_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["html_block", "reference"])
_DIACRITIC = regex.compile(
    r"(?=\p{Mn})[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]|\p{Default_Ignorable_Code_Point}"
)
_STROKES = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe"})


def clean(value: str) -> str:
    r"""The text as PostgreSQL can store it: NUL removed, surrogate pairs joined, a lone surrogate → U+FFFD.

    Everything else stays, the six characters `\u0000` included.
    """
    value = value.replace("\0", "")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def as_uuid(value: str) -> UUID | None:
    """The UUID that a text writes, in any of its forms; None where it is none."""
    try:
        return UUID(value)
    except ValueError:
        return None


def clean_json(value: Any) -> Any:
    """The value as jsonb can store it, keys and strings cleaned at every depth.

    NaN and infinities → None, tuples → lists, dates and times → ISO 8601, anything else → its `str`; an
    integer longer than Python prints (4,300 digits) → hexadecimal text; below 100 levels (a cycle) → None.
    """
    return _clean_json(value, _JSON_DEPTH)


def _clean_json(value: Any, depth: int) -> Any:
    if value is None:
        return None
    if isinstance(value, int):
        return value if value.bit_length() <= _PRINTABLE_BITS else hex(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date | time):
        return value.isoformat()
    if not isinstance(value, Mapping | list | tuple):
        return clean(str(value))
    if not depth:
        return None
    if isinstance(value, Mapping):
        return {clean(str(key)): _clean_json(item, depth - 1) for key, item in value.items()}
    return [_clean_json(item, depth - 1) for item in value]


class ChunkJoiner:
    """Joins a stream's chunks so that none ends inside a character: half a surrogate pair waits."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, chunk: str) -> str:
        """What can be shown and stored now, cleaned; may be empty."""
        chunk, self._held = self._held + chunk, ""
        if chunk and "\ud800" <= chunk[-1] <= "\udbff":
            chunk, self._held = chunk[:-1], chunk[-1]
        return clean(chunk)

    def flush(self) -> str:
        """What was held back when the stream ended: U+FFFD for half a character, else nothing."""
        held, self._held = self._held, ""
        return clean(held)


def one_line(text: str) -> str:
    """A name as people typed it, on one line, without controls that nobody sees; may be empty."""
    return " ".join(_UNSEEN.sub("", clean(text)).split())


def clip(text: str, clusters: int) -> str:
    """At most so many grapheme clusters (UAX #29), whole ones; the "…" that marks a cut is counted."""
    if len(text) <= clusters:  # a cluster has a code point at least
        return text
    found = list(islice(_CLUSTER.finditer(text), max(clusters, 0) + 1))
    if len(found) <= clusters:
        return text
    return text[: found[clusters - 1].start()].rstrip() + ELLIPSIS if clusters > 0 else ""


def in_short(text: str) -> str:
    """A text as the ledger keeps it: one line of at most 300 clusters, and of 1,900 characters, for some are long."""
    return clip(one_line(text[:10_000])[:1_900], 300)


def title_of(text: str) -> str:
    """A conversation's title from its first question or from a model: one line of at most 60 clusters.

    Thoughts, Markdown, HTML, bidi controls and enclosing quotes are taken off. Never empty: where nothing
    visible is left, it is "New conversation" in the current language.
    """
    line = plain(text)
    return clip(line, TITLE_CLUSTERS) if _SEEN.search(line) else _("New conversation")


def plain(text: str) -> str:
    """The beginning of a text on one line, without thoughts, Markdown, HTML and enclosing quotes; may be empty."""
    source = _UNSEEN.sub("", _THOUGHT.sub(" ", clean(text)))[:_TITLE_SOURCE]
    words = _PILED_MARKS.sub(r"\1", _UNSEEN.sub("", " ".join(_blocks(_MARKDOWN.parse(source)))))
    return _unquote(" ".join(words.split()))


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "list_item_open" and token.info:
            yield token.info + token.markup
        elif token.type in ("fence", "code_block"):
            yield token.content
        elif token.type == "inline":
            yield "".join(map(_inline, token.children or ()))


def _inline(token: Token) -> str:
    if token.type == "html_inline":
        return " " if _BREAKING_TAG.match(token.content) else ""
    return " " if token.type in ("softbreak", "hardbreak") else token.content


def _unquote(line: str) -> str:
    inner = line[1:-1].strip()
    quoted = line[:1] + line[-1:] in _QUOTES and not set(line[0] + line[-1]) & set(inner)
    return inner if quoted and inner else line


def fold(text: str) -> str:
    """The form in which a search term and what it is looked for in are compared; idempotent, never raises.

    NFKC with full case folding (ς = σ, ß = ss, Ａ = a); accents, vowel points, variation selectors and other
    ignorable characters go. Marks that make another letter (kana voicing, Indic and Thai vowels) stay.
    """
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", clean(text)).casefold())
    bare = _DIACRITIC.sub("", decomposed).translate(_STROKES)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", bare).casefold())
