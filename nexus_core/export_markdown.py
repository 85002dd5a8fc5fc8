"""A conversation as Markdown that people read: what is shown of it, each message in a quote under its heading."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from nexus_core import export_json, workspaces
from nexus_core.database import Transaction
from nexus_core.i18n import _
from nexus_core.text import one_line

_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_MARKUP = re.compile(r"[\\`*_\[\]<>#&~|]")
_UNQUOTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


def write(tx: Transaction, conversation_id: UUID) -> Iterator[str]:
    """Front matter (YAML), the title, and the messages of the path that is shown. Raises NotFound."""
    row = export_json.head(tx, conversation_id)
    zone = ZoneInfo(workspaces.get(tx).time_zone)
    yield from _front(row, zone)
    for message in export_json.messages(tx, conversation_id, hidden=False):
        yield heading(message, row["agent"], zone)
        yield quote(_content(message))


def heading(message: Mapping[str, Any], agent: Mapping[str, Any] | None, zone: tzinfo) -> str:
    """Who says it, with which model, and when."""
    speakers = {
        "user": message["author"] or _("Somebody"),
        "assistant": agent["name"] if agent else _("Assistant"),
        "system": _("System"),
        "tool": _("Tool"),
    }
    facts = [speakers[message["role"]], message["model"] or "", _moment(message["created_at"], zone)]
    state = {"stopped": _("stopped"), "failed": _("failed"), "streaming": _("still being written")}
    facts.append(state.get(message["status"], ""))
    return f"\n## {' · '.join(_escaped(fact) for fact in facts if fact)}\n\n"


def quote(text: str) -> str:
    """The text as a block quote, which nothing in it can end: every line of it begins with the quote's sign.

    A fence, an HTML block or a comment that the text leaves open ends with the quote (CommonMark 0.31, 5.1).
    """
    lines = _BREAKS.split(text.strip("\n")) if text.strip() else []
    return "".join(f"> {line}".rstrip(" ") + "\n" for line in lines)


def fence(text: str, language: str = "") -> str:
    """The text as a code block whose fence is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def _front(row: Mapping[str, Any], zone: tzinfo) -> Iterator[str]:
    title = one_line(row["title"]) or _("New conversation")
    facts = {
        "title": title,
        "date": row["created_at"].astimezone(zone).isoformat(timespec="seconds"),
        "last_message": row["last_message_at"].astimezone(zone).isoformat(timespec="seconds"),
        "project": row["project"] and row["project"]["name"],
        "agent": row["agent"] and row["agent"]["name"],
        "tags": row["tags"],
        "id": str(row["id"]),
    }
    yield "---\n"
    for name, value in facts.items():
        if value:
            yield f"{name}: {_yaml(value)}\n"
    yield f"---\n\n# {_escaped(title)}\n"
    if row["summary_md"].strip():
        yield f"\n{quote(row['summary_md'])}"


def _yaml(value: Any) -> str:
    """JSON is YAML, but for characters that YAML does not print."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNQUOTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", one_line(text))


def _moment(instant: datetime, zone: tzinfo) -> str:
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M}"


def _content(message: Mapping[str, Any]) -> str:
    parts = message["parts"] if isinstance(message["parts"], list) else []
    written = [_part(part) for part in parts if isinstance(part, Mapping)]
    text = "\n\n".join(piece for piece in written if piece.strip())
    return text or message["body"] or _failure(message)


def _failure(message: Mapping[str, Any]) -> str:
    metadata = message["metadata"] if isinstance(message["metadata"], Mapping) else {}
    return str(metadata.get("error") or "")


def _part(part: Mapping[str, Any]) -> str:
    kind = str(part.get("type"))
    if kind == "text":
        return str(part.get("text") or "")
    if kind == "reasoning":
        thought = quote(str(part.get("text") or ""))
        return f"{_('Thought:')}\n\n{thought}" if thought else ""
    if kind in ("source-url", "source-document", "file"):
        said = " · ".join(str(part[key]) for key in ("title", "filename", "url", "mediaType") if part.get(key))
        return f"{_('Attached:')} {_escaped(said[:500])}"
    return _tool(part, kind) if kind.startswith("tool-") or kind == "dynamic-tool" else ""


def _tool(part: Mapping[str, Any], kind: str) -> str:
    name = str(part.get("toolName") or kind.removeprefix("tool-"))
    arguments = part.get("callProviderMetadata")
    for key in ("nexus", "arguments"):
        arguments = arguments.get(key) if isinstance(arguments, Mapping) else None
    said = [f"{_('Tool:')} {_escaped(name)}", fence(_shown(arguments or part.get("input") or {}), "json")]
    if "output" in part:
        said += [_("Result:"), fence(_shown(part["output"]))]
    elif part.get("errorText"):
        said += [_("It failed:"), fence(_shown(part["errorText"]))]
    return "\n\n".join(said)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
