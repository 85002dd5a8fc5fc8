"""Proposals are accepted, edited and rejected line by line, against the memory as it is by then."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from nexus_core import conversations as conversations_
from nexus_core import deciding, keeping, memories, projects, proposals
from nexus_core import messages as messages_
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Conflict, Forbidden, Invalid, NotFound
from nexus_core.memories import Memory
from nexus_core.parts import text
from nexus_core.proposals import Line, Proposal

LISBON = {"id": "d1", "what": "Lisbon", "why": "sun", "status": "active"}
RAIN = {"id": "r1", "risk": "Rain", "status": "open"}


@pytest.fixture
def project_id(operator: Scope) -> UUID:
    with transaction(operator) as tx:
        made = projects.create(tx, "Pricing").id
        memories.replace(tx, made, version=1, summary_md="One.\n\nTwo.", decisions=[LISBON], risks=["plain", RAIN])
    return made


@pytest.fixture
def proposal(operator: Scope, project_id: UUID) -> Proposal:
    lines = [
        Line("add", "decisions", {"id": "d2", "what": "Turquoise", "status": "active"}),
        Line("close", "risks", RAIN | {"status": "closed"}, RAIN, "id:r1"),
        Line("edit", "summary_md", "One.\n\nTwo and a half.", "One.\n\nTwo."),
        Line("edit", "risks", {"id": "r2", "risk": "Not plain"}, "plain", "text:plain"),
    ]
    with transaction(operator) as tx:
        return proposals.create(tx, project_id, lines, base_version=2)


def stored(scope: Scope, project_id: UUID) -> Memory:
    with transaction(scope) as tx:
        return memories.get(tx, project_id)


def changed(scope: Scope, project_id: UUID, **values: Any) -> Memory:
    with transaction(scope) as tx:
        now = memories.get(tx, project_id)
        return memories.replace(tx, project_id, version=now.version, **(memories.values(now) | values))


def accepted(scope: Scope, proposal: Proposal, *numbers: int, **more: Any) -> deciding.Decision:
    ids = [proposal.lines[number].id for number in numbers] or None
    with transaction(scope) as tx:
        return deciding.accept(tx, proposal.id, ids, **more)


def test_all_at_once_is_one_revision(operator: Scope, project_id: UUID, proposal: Proposal) -> None:
    done = accepted(operator, proposal)
    assert (done.proposal.status, done.clashes, done.memory.version) == ("accepted", {}, 3)
    memory = stored(operator, project_id)
    assert memory.summary_md == "One.\n\nTwo and a half."
    assert [entry["what"] for entry in memory.decisions] == ["Lisbon", "Turquoise"]
    assert memory.risks == [{"id": "r2", "risk": "Not plain"}, RAIN | {"status": "closed"}]
    with transaction(operator) as tx:
        last = memories.revisions(tx, project_id)[0]
    assert (last.source, last.proposal_id, last.created_by) == ("proposal", proposal.id, operator.user_id)
    with pytest.raises(Conflict):
        accepted(operator, proposal)


def test_line_by_line(operator: Scope, colleague: Scope, project_id: UUID, proposal: Proposal) -> None:
    assert accepted(colleague, proposal, 0).proposal.status == "pending"
    with transaction(operator) as tx:
        left = deciding.reject(tx, proposal.id, [proposal.lines[1].id])
        assert [line.status for line in left.lines] == ["accepted", "rejected", "pending", "pending"]
        assert left.lines[0].decided_by == str(colleague.user_id)
        assert proposals.waiting(tx, project_id) == 1
        assert deciding.reject(tx, proposal.id).status == "accepted"
        assert proposals.waiting(tx, project_id) == 0
    assert stored(operator, project_id).risks == ["plain", RAIN]
    with pytest.raises(Conflict):
        accepted(operator, proposal, 1)


def test_what_others_changed_since_is_joined(operator: Scope, project_id: UUID, proposal: Proposal) -> None:
    changed(operator, project_id, summary_md="One!\n\nTwo.", risks=["plain", RAIN | {"likelihood": "high"}])
    accepted(operator, proposal)
    memory = stored(operator, project_id)
    assert memory.summary_md == "One!\n\nTwo and a half."
    assert memory.risks[1] == RAIN | {"likelihood": "high", "status": "closed"}


def test_what_clashes_waits_and_can_be_edited(operator: Scope, project_id: UUID, proposal: Proposal) -> None:
    now = changed(operator, project_id, summary_md="One.\n\nThree.", risks=["plain"])
    done = accepted(operator, proposal)
    summary, gone = proposal.lines[2], proposal.lines[1]
    assert done.clashes == {gone.id: None, summary.id: "One.\n\nThree."}
    assert done.proposal.status == "pending" and [line.id for line in done.proposal.pending] == [gone.id, summary.id]
    with pytest.raises(Conflict) as refused:
        accepted(operator, proposal, 2)
    assert refused.value.detail == {"version": 4, "current": {str(summary.id): "One.\n\nThree."}}
    with pytest.raises(Conflict):  # seen at a version that is not the current one
        accepted(operator, proposal, 2, edits={summary.id: "All."}, version=now.version)
    accepted(operator, proposal, 2, edits={summary.id: "All."}, version=4)
    assert stored(operator, project_id).summary_md == "All."


def test_an_edited_line_is_written_as_edited(operator: Scope, project_id: UUID, proposal: Proposal) -> None:
    first = proposal.lines[0]
    done = accepted(operator, proposal, 0, edits={first.id: {"what": "Blue", "why": "The sea"}})
    assert stored(operator, project_id).decisions[1] == {
        "id": "d2",
        "what": "Blue",
        "status": "active",
        "why": "The sea",
    }
    assert done.proposal.lines[0].after["what"] == "Blue"
    for edit in ({"what": " "}, "text", None):
        with pytest.raises(Invalid):
            accepted(operator, proposal, 1, edits={proposal.lines[1].id: edit or {"risk": ""}})
    with pytest.raises(Invalid):
        accepted(operator, proposal, 2, edits={proposal.lines[2].id: {"not": "a text"}})


def test_what_became_known_meanwhile_is_not_added_twice(operator: Scope, project_id: UUID, proposal: Proposal) -> None:
    changed(operator, project_id, decisions=[LISBON, {"what": "We decided: turquoise"}])
    done = accepted(operator, proposal, 0)
    assert (done.proposal.lines[0].status, done.memory.version) == ("known", 3)


def test_who_may_not_and_what_is_not_there(
    viewer: Scope, operator: Scope, other_scope: Scope, project_id: UUID, proposal: Proposal
) -> None:
    with pytest.raises(Forbidden):
        accepted(viewer, proposal)
    with pytest.raises(Forbidden), transaction(viewer) as tx:
        deciding.reject(tx, proposal.id)
    with pytest.raises(NotFound):
        accepted(other_scope, proposal)
    with pytest.raises(Invalid), transaction(operator) as tx:
        deciding.accept(tx, proposal.id, [uuid4()])
    with transaction(other_scope) as tx:
        assert proposals.waiting(tx) == 0
    with transaction(viewer) as tx:
        assert proposals.waiting(tx) == 1


@pytest.fixture
def message_id(operator: Scope, project_id: UUID) -> UUID:
    with transaction(operator) as tx:
        talk = conversations_.create(tx, Place(project_id))
        return messages_.append(tx, talk.id, "user", [text("**Ship** on *Friday*, `x`\n\n" + "more " * 200)]).id


@pytest.mark.parametrize("field", keeping.KINDS)
def test_a_message_is_kept_with_its_link_and_undone(
    operator: Scope, project_id: UUID, message_id: UUID, field: str
) -> None:
    before = stored(operator, project_id)
    kept = keeping.keep(operator, message_id, field)
    entry = getattr(stored(operator, project_id), field)[-1]
    sentence = entry[{"decisions": "what", "open_questions": "question", "risks": "risk"}[field]]
    assert sentence.startswith("Ship on Friday, x more") and sentence.endswith("…")
    assert (kept.new, entry["message_id"]) == (True, str(message_id))
    again = keeping.keep(operator, message_id, field)
    assert (again.new, again.version, again.entry) == (False, kept.version, entry)
    keeping.undo(operator, kept)
    after = stored(operator, project_id)
    assert (memories.values(after), after.version) == (memories.values(before), before.version + 2)
    with pytest.raises(Conflict):
        keeping.undo(operator, kept)


def test_not_everything_can_be_kept(operator: Scope, viewer: Scope, message_id: UUID) -> None:
    with pytest.raises(Forbidden):
        keeping.keep(viewer, message_id, "risks")
    with pytest.raises(Invalid):
        keeping.keep(operator, message_id, "links")
    with transaction(operator) as tx:
        private = conversations_.create(tx, Place())
        outside = messages_.append(tx, private.id, "user", [text("x")]).id
    with pytest.raises(Invalid, match="in a project"):
        keeping.keep(operator, outside, "risks")
    with pytest.raises(NotFound):
        keeping.keep(operator, uuid4(), "risks")
