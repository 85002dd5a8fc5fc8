"""ChatGPT's export: conversations.json, each conversation a tree in `mapping` whose branches are versions."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from nexus_core import foreign
from nexus_core import parts as parts_
from nexus_core.foreign import Facts, Node, instant, items, mapping, note, text
from nexus_core.formats import Taken
from nexus_core.parts import Part

_CITATION = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue204]")
"""What marks a source in the text, in private-use characters that nobody but ChatGPT's own page can show."""


def convert(raw: Mapping[str, Any]) -> Taken:
    """A conversation of the file, cleaned, as a document of ours."""
    left: Counter[str] = Counter()
    nodes = [_node(key, mapping(value), left) for key, value in mapping(raw.get("mapping")).items()]
    facts = Facts(
        format="chatgpt",
        id=text(raw.get("conversation_id")) or text(raw.get("id")) or _fingerprint(raw),
        title=text(raw.get("title")),
        created_at=instant(raw.get("create_time")),
        updated_at=instant(raw.get("update_time")),
        current=text(raw.get("current_node")) or None,
        archived=raw.get("is_archived") is True,
    )
    return foreign.taken(facts, nodes, left)


def _fingerprint(raw: Mapping[str, Any]) -> str:
    """An id for a conversation without one: its nodes are its own."""
    return " ".join(sorted(mapping(raw.get("mapping")))[:3])


def _node(key: str, value: Mapping[str, Any], left: Counter[str]) -> Node:
    parent = text(value.get("parent")) or None
    message = mapping(value.get("message"))
    if not message:
        return Node(key, parent)
    role = text(mapping(message.get("author")).get("role"))
    parts = _parts(message, role, left)
    model = text(mapping(message.get("metadata")).get("model_slug")) or None
    if role not in ("user", "assistant") or not parts:
        return Node(key, parent, at=instant(message.get("create_time")))
    said: Any = role
    return Node(key, parent, said, parts, instant(message.get("create_time")), model if role == "assistant" else None)


def _parts(message: Mapping[str, Any], role: str, left: Counter[str]) -> list[Part]:
    content, about = mapping(message.get("content")), mapping(message.get("metadata"))
    kind = text(content.get("content_type"))
    if role == "tool" or text(message.get("recipient")) not in ("", "all"):
        left["tool_calls"] += 1
        return []
    if role == "system" or about.get("is_visually_hidden_from_conversation") or kind.endswith("editable_context"):
        left["system"] += any(isinstance(piece, str) and piece.strip() for piece in _pieces(content))
        return []
    if kind in ("thoughts", "reasoning_recap"):
        left["thoughts"] += kind == "thoughts"
        return []
    attached = [one for one in map(mapping, items(about.get("attachments"))) if not _image(one)]
    left["attachments"] += len(attached)
    found = _code(content) if kind == "code" else _texts(content, left)
    left["unknown"] += not found and kind not in ("", "text", "multimodal_text")
    return found + [note(text(one.get("name"))) for one in attached]


def _pieces(content: Mapping[str, Any]) -> list[Any]:
    return [*items(content.get("parts")), content.get("text"), content.get("result")]


def _texts(content: Mapping[str, Any], left: Counter[str]) -> list[Part]:
    found: list[Part] = []
    for piece in _pieces(content):
        if isinstance(piece, str):
            words = _CITATION.sub("", piece)
            found += [parts_.text(words)] if words.strip() else []
        elif kind := text(mapping(piece).get("content_type")):
            if kind == "audio_transcription":
                found.append(parts_.text(text(piece.get("text"))))
            elif kind == "image_asset_pointer":
                left["images"] += 1
                found.append(note(image=True))
            else:
                left["attachments" if "asset_pointer" in kind else "unknown"] += 1
    return found


def _code(content: Mapping[str, Any]) -> list[Part]:
    return [parts_.text(f"```{text(content.get('language'))}\n{text(content.get('text'))}\n```")]


def _image(attachment: Mapping[str, Any]) -> bool:
    kind = text(attachment.get("mimeType")) or text(attachment.get("mime_type"))
    return kind.startswith("image/")
