"""Claude's export: conversations.json, each conversation with its chat_messages, in which a parent may be named."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from nexus_core import foreign
from nexus_core import parts as parts_
from nexus_core.foreign import Facts, Node, instant, items, mapping, note, text
from nexus_core.formats import Taken
from nexus_core.parts import Part

_IGNORED = ("token_budget", "flag")


def convert(raw: Mapping[str, Any]) -> Taken:
    """A conversation of the file, cleaned, as a document of ours."""
    left: Counter[str] = Counter()
    nodes: list[Node] = []
    said = [mapping(one) for one in items(raw.get("chat_messages"))]
    branches = any("parent_message_uuid" in one for one in said)
    for place, one in enumerate(said):
        key = text(one.get("uuid")) or f"message {place}"
        before = nodes[-1].key if nodes else None
        parent = (text(one.get("parent_message_uuid")) or None) if branches else before
        nodes.append(_node(key, parent, one, left))
    facts = Facts(
        format="claude",
        id=text(raw.get("uuid")) or " ".join(node.key for node in nodes[:3]),
        title=text(raw.get("name")),
        created_at=instant(raw.get("created_at")),
        updated_at=instant(raw.get("updated_at")),
        current=text(raw.get("current_leaf_message_uuid")) or (nodes[-1].key if nodes else None),
    )
    return foreign.taken(facts, nodes, left)


def _node(key: str, parent: str | None, one: Mapping[str, Any], left: Counter[str]) -> Node:
    sender, at = text(one.get("sender")), instant(one.get("created_at"))
    if sender not in ("human", "assistant"):
        left["unknown"] += 1
        return Node(key, parent, at=at)
    parts = _content(one, left)
    files = [mapping(file) for name in ("attachments", "files", "files_v2") for file in items(one.get(name))]
    names = dict.fromkeys(text(file.get("file_name")) for file in files)
    left["attachments"] += len(names)
    return Node(key, parent, "user" if sender == "human" else "assistant", parts + [note(name) for name in names], at)


def _content(one: Mapping[str, Any], left: Counter[str]) -> list[Part]:
    found: list[Part] = []
    for block in map(mapping, items(one.get("content"))):
        kind = text(block.get("type"))
        if kind == "text":
            found += _said(block.get("text"))
        elif kind == "thinking":
            thought = text(block.get("thinking"))
            found += [parts_.reasoning(thought)] if thought.strip() else []
        elif kind in ("tool_use", "tool_result"):
            left["tool_calls"] += kind == "tool_use"
        elif kind == "image":
            left["images"] += 1
            found.append(note(image=True))
        elif kind not in _IGNORED:
            left["unknown"] += 1
    return found if any(part["type"] == "text" for part in found) else found + _said(one.get("text"))


def _said(value: Any) -> list[Part]:
    words = text(value)
    return [parts_.text(words)] if words.strip() else []
