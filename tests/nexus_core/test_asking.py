"""What did we decide about …? Dates, reasons and links at once; and what a memory weighs before it is sent."""

from dataclasses import replace
from uuid import UUID

from nexus_core import asking, memories, messages, profiles, projects, recall, weighing
from nexus_core import conversations as conversations_
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.entries import main_text
from nexus_core.parts import text
from tests.nexus_core.conversing import agent


def pricing(scope: Scope) -> tuple[UUID, UUID]:
    with transaction(scope) as tx:
        project_id = projects.create(tx, "Pricing").id
        talk = conversations_.create(tx, Place(project_id))
        said = messages.append(tx, talk.id, "user", [text("The discount is for orders over 100 k only")])
        messages.append(tx, talk.id, "user", [text("What about the discount?")])
        messages.append(tx, talk.id, "assistant", [text("I remember:\n\n> A discount\n>\n> — you")])
        messages.append(tx, talk.id, "user", [text("Descuento para Portugal: lo vemos en mayo")])
        decisions = [
            {"what": "Discount of 12 %", "decided_on": "2024-05-02", "message_id": str(said.id),
             "conversation_id": str(talk.id)},
            {"what": "Paint it blue"}, "A discount for nobody else",
        ]  # fmt: skip
        memories.replace(tx, project_id, version=1, summary_md="", decisions=decisions, risks=[{"risk": "Rain"}])
    recall.index_pending()
    return project_id, said.id


def test_a_decision_is_found_with_its_message(operator: Scope) -> None:
    project_id, said = pricing(operator)
    with transaction(operator) as tx:
        found = asking.about(tx, project_id, "What did we decide about the discount?")
        assert [main_text(one.entry) for one in found.entries] == ["A discount for nobody else", "Discount of 12 %"]
        assert found.entries[1].message_id == said and found.entries[0].message_id is None
        assert {one.body[:9] for one in found.passages} <= {"Descuento"}  # no questions, no quotes of quotes
        assert said not in {one.message_id for one in found.passages}  # said once is enough
        assert [main_text(one.entry) for one in asking.about(tx, project_id, "rain").entries] == ["Rain"]
        spanish = asking.about(tx, project_id, "¿Qué decidimos del descuento de Portugal?")
        assert "Portugal" in spanish.passages[0].body
        for blank in ("", "  ", "?!"):
            assert asking.about(tx, project_id, blank).entries == []


def test_what_does_not_fit_is_told_before_it_happens(operator: Scope, scope: Scope) -> None:
    project_id, _said = pricing(operator)
    with transaction(scope) as tx:
        small = profiles.save(tx, slug="small", name="Small", model="openai/of-our-own", context_tokens=2_000)
    agent(scope, "Tiny", profile_id=small.id)
    agent(scope, "Mute", profile_id=small.id, memory_mode="none")
    with transaction(operator) as tx:
        limits = weighing.limits(tx)
        memory = memories.get(tx, project_id)
    assert [(limit.tokens, limit.names) for limit in limits] == [(6_000, (None,)), (800, ("🤖 Tiny",))]
    assert [weight.left_out for weight in weighing.weigh(memory, limits)] == [(), ()]
    grown = replace(memory, decisions=[{"what": f"Decision number {n} about the price"} for n in range(200)])
    wide, narrow = weighing.weigh(grown, limits)
    assert wide.left_out == () and wide.tokens < 6_000
    assert narrow.tokens <= 800 and narrow.left_out[0]["list"] == "decisions"
