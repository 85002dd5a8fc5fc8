"""The words that people read, through gettext; the language is chosen per request or per page run."""

from contextvars import ContextVar
from gettext import GNUTranslations, NullTranslations

_translations: ContextVar[NullTranslations | GNUTranslations | None] = ContextVar("translations", default=None)


def use(translations: NullTranslations | GNUTranslations) -> None:
    """Speak this catalogue's language from here on, in this context alone."""
    _translations.set(translations)


def _(message: str) -> str:
    """The message in the current language; the message itself where there is no translation."""
    current = _translations.get()
    return current.gettext(message) if current else message


def ngettext(singular: str, plural: str, n: int) -> str:
    """The form that fits the number `n`, in the current language; the caller puts the number in."""
    current = _translations.get()
    return current.ngettext(singular, plural, n) if current else (singular if n == 1 else plural)
