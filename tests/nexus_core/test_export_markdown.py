"""Markdown: whatever a message holds, its borders are clear."""

from datetime import UTC, datetime
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nexus_core.database import Scope
from nexus_core.export_markdown import _BREAKS, _content, fence, heading, quote
from tests.nexus_core.exchanging import TEXT, bring, documents, markdown
from tests.store import do

EXAMPLES = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
COMMONMARK = MarkdownIt("commonmark")
AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks of the outermost level: their types, and their own text where they have one."""
    tokens = COMMONMARK.parse(text)
    found = []
    for place, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0:
            following = tokens[place + 1] if token.nesting else token
            found.append((token.tag, following.content))
    return found


def said(role: str, body: str, author: str = "Ana") -> dict[str, Any]:
    part = {"type": "text", "text": body}
    return {"role": role, "author": author, "model": None, "status": "complete", "created_at": AT, "body": body,
            "parts": [part], "metadata": {}}  # fmt: skip


@EXAMPLES
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool", "system"]), TEXT, TEXT), max_size=6))
def test_every_message_is_a_heading_and_a_quote(conversation: list[tuple[str, str, str]]) -> None:
    rows = [said(role, body, author) for role, body, author in conversation]
    text = "".join(heading(row, None, UTC) + quote(_content(row)) for row in rows)
    expected = []
    for row in rows:
        expected += ["h2"] + (["blockquote"] if row["body"].strip() else [])
    assert [tag for tag, _content_ in blocks(text)] == expected
    outside = [line for line in _BREAKS.split(text) if line and not line.startswith(">")]
    assert len(outside) == len(rows) and all(line.startswith("## ") for line in outside)


@EXAMPLES
@given(TEXT)
def test_a_quote_holds_every_line(text: str) -> None:
    written = quote(text)
    assert all(line.startswith(">") for line in written.splitlines())
    inside = [line[1:].removeprefix(" ") for line in written.split("\n")[:-1]]
    expected = [line.rstrip(" ") for line in _BREAKS.split(text.strip("\n"))] if text.strip() else []
    assert inside == expected


@EXAMPLES
@given(TEXT)
def test_a_fence_is_longer_than_any_in_it(text: str) -> None:
    (token,) = COMMONMARK.parse(fence(text, "json"))
    assert token.type == "fence" and token.info == "json"


def test_the_worst_message() -> None:
    worst = said("user", "```\n````\n## User\n\n<!--")
    text = heading(worst, None, UTC) + quote(_content(worst)) + heading(said("assistant", "x"), None, UTC)
    assert text.splitlines() == [
        "", "## Ana · 2026-05-01 12:00", "", "> ```", "> ````", "> ## User", ">", "> <!--", "",
        "## Assistant · 2026-05-01 12:00", "",
    ]  # fmt: skip


def test_a_file_has_front_matter_that_yaml_reads(operator: Scope) -> None:
    @settings(EXAMPLES, max_examples=25)
    @given(documents())
    def write(document: dict[str, Any]) -> None:
        do(operator, "DELETE FROM conversations")
        (outcome,) = bring(operator, document)
        text = markdown(operator, outcome.conversation_id)
        assert text.startswith("---\n")
        front, body = text.removeprefix("---\n").split("\n---\n", 1)
        told = yaml.safe_load(front)
        assert told["title"] == document["title"] or (not document["title"] and told["title"] == "New conversation")
        assert datetime.fromisoformat(told["date"]) == datetime.fromisoformat(document["created_at"]).replace(
            microsecond=0
        )
        tags = [tag for tag, _text in blocks(body)]
        assert tags[0] == "h1" and tags.count("h2") == sum(one["active"] for one in document["messages"])
        assert set(tags) <= {"h1", "h2", "blockquote"}

    write()
