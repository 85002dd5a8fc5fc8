"""The sections of a prompt as text."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from nexus_core import entries, sections, tokens
from nexus_core.memories import Memory

MEMORY = Memory(
    project_id=UUID(int=1),
    version=7,
    summary_md="We go to the moon.\n",
    decisions=[
        {"what": "Launch from\nLisbon", "decided_on": "2026-03-01", "who": "Ana", "why": "the weather"},
        {"what": "Launch from Oslo", "status": "superseded"},
        "Paint it turquoise",
    ],
    open_questions=[{"question": "Who flies?", "status": "open"}, {"question": "When?", "status": "answered"}],
    risks=[{"risk": "Rain", "likelihood": "high", "impact": "low", "mitigation": "An umbrella", "status": "open"}],
    links=[{"label": "Plan", "url": "https://example.com/plan"}],
    metadata={},
    updated_by=None,
    updated_by_name=None,
    updated_at=datetime(2026, 3, 1, tzinfo=UTC),
)  # fmt: skip


def test_a_memory_is_told_at_its_version_without_what_is_settled() -> None:
    told, left = sections.memory_text(MEMORY, 1000)
    assert told == (
        "# What this project remembers (version 7)\n\n"
        "## Summary\nWe go to the moon.\n\n"
        "## Decisions\n- Launch from Lisbon (2026-03-01, Ana): the weather\n- Paint it turquoise\n\n"
        "## Open questions\n- Who flies?\n\n"
        "## Risks\n- Rain (likelihood high, impact low): An umbrella\n\n"
        "## Links\n- Plan: https://example.com/plan"
    )
    assert left == [
        {"list": "decisions", "index": 1, "reason": "closed"},
        {"list": "open_questions", "index": 1, "reason": "closed"},
    ]  # fmt: skip


def test_what_is_over_the_budget_is_left_out_and_said_but_never_the_summary() -> None:
    many = replace(MEMORY, decisions=[f"Decision number {number}" for number in range(100)])
    told, left = sections.memory_text(many, 200)
    assert tokens.count(told) <= 210
    assert "We go to the moon." in told and "Decision number 0" in told
    assert {row["reason"] for row in left if row["list"] == "decisions"} == {"tokens"}
    assert told.count("Decision number") + sum(row["list"] == "decisions" for row in left) == 100
    told, _left = sections.memory_text(replace(MEMORY, summary_md="long " * 500), 10)
    assert told.count("long") == 500


def test_an_empty_memory_says_nothing() -> None:
    empty = replace(MEMORY, summary_md=" ", decisions=[], open_questions=[], risks=[], links=[])
    assert sections.memory_text(empty, 100) == ("", [])
    assert sections.summary_text(None) == ""
    assert sections.evidence_text([]) == ""


def test_odd_entries_are_told_as_far_as_they_can_be() -> None:
    assert entries.entry_line({"what": "x", "who": None, "why": 5}) == "x: 5"
    assert entries.entry_line({}) == ""
    assert entries.entry_line("a\n\nb") == "a b"
    assert not entries.is_closed("done")
