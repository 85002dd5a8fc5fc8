"""Names of files that are safe on every system, whatever a title holds."""

from urllib.parse import quote

from pathvalidate import sanitize_filename

from nexus_core.i18n import _
from nexus_core.text import clip, one_line

CLUSTERS = 80
BYTES = 160


def stem(title: str) -> str:
    """A title as the beginning of a file's name: one line, no separators, no device's name, 160 bytes at most.

    What Windows, macOS and Linux refuse is left out (`pathvalidate`); a leading dot or dash goes too, which would hide
    the file or make it an option. Never empty.
    """
    words, clusters = one_line(title), CLUSTERS
    while len((words := _safe(clip(words, clusters))).encode()) > BYTES:
        clusters = clusters * BYTES // len(words.encode())
    return words or _("Conversation")


def _safe(name: str) -> str:
    """Twice: what is left once dots at its ends are gone may be a device's name."""
    for _again in range(2):
        plain = " ".join(sanitize_filename(name, replacement_text=" ", platform="universal").split())
        name = plain.lstrip(".-~ ").rstrip(". ")
    return name


def attachment(name: str) -> dict[str, str]:
    """The header that gives a download its name, as Starlette's FileResponse writes it (RFC 6266, RFC 8187)."""
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
