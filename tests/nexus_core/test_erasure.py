"""Everything of a person goes: a dump of the database holds no word of theirs, and others' rows are the same."""

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from nexus_core import (
    __main__,
    audit,
    cluster,
    conversations,
    erasure,
    fork,
    keeping,
    memories,
    messages,
    parts,
    people,
    proposals,
    proposing,
    recall,
    runs,
    shares,
    summaries,
    tags,
    views,
    worker,
    workspaces,
)
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.errors import Forbidden, Invalid, NotFound
from tests import debian
from tests.conftest import member
from tests.nexus_core.conversing import ask, connect, count, owner, project, run_of, until
from tests.nexus_core.model_server import ModelServer
from tests.store import RELATIONS, do

CANARY = "zyxcanary"


@pytest.fixture
def gone(scope: Scope) -> Scope:
    return member(scope, f"{CANARY}@example.com", f"Ada {CANARY}", "operator")


def all_rows(url: str) -> dict[str, list[str]]:
    """Every row, table by table, but for the sums, which are made anew, and the audit, which gets an entry more."""
    with owner(url) as connection:
        tables = [str(row[0]) for row in connection.execute(RELATIONS.encode()) if not row[1]]
        found = {}
        for table in tables:
            if not table.startswith(("run_", "audit")):
                query = f"SELECT CAST(to_jsonb(t) AS text) FROM {table} t ORDER BY 1"
                found[table] = [row[0] for row in connection.execute(query.encode())]
    return found


def without(rows: dict[str, list[str]], ids: set[str]) -> dict[str, list[str]]:
    """The rows in which none of these ids stands."""
    return {table: [row for row in found if not any(id in row for id in ids)] for table, found in rows.items()}


def dump(url: str) -> str:
    with psycopg.connect(url) as connection:
        own = connection.info.server_version // 10000 != 15
        bound = connection.execute("SELECT NOT (rolsuper OR rolbypassrls) FROM pg_roles WHERE rolname = current_user")
        flags = ["--enable-row-security"] if bound.fetchone() == (True,) else []
    program = (cluster.binaries() if own else debian.BINARIES) / "pg_dump"
    environment = os.environ | {"PGOPTIONS": "-c nexus.role=system"}
    done = subprocess.run([program, *flags, url], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def say(scope: Scope, conversation_id: UUID, *texts: str) -> None:
    with transaction(scope) as tx:
        for text in texts:
            messages.append(tx, conversation_id, "user", [parts.text(text)])


def begin(scope: Scope, place: Place, title: str, *texts: str) -> UUID:
    with transaction(scope) as tx:
        made = conversations.create(tx, place, title=title).id
    say(scope, made, *texts)
    return made


def live(gone: Scope, other: Scope) -> dict[str, UUID]:
    """Two people work in one project, and each on their own; the first one leaves words everywhere."""
    home = Place(project(gone, "Bridge"))
    made = {
        "private": begin(gone, Place(), f"Private {CANARY}", f"My {CANARY} secret."),
        "open": begin(gone, home, f"Open {CANARY}", f"The {CANARY} bridge is long."),
        "theirs": begin(other, home, "Theirs", "We need a bridge of steel."),
        "alone": begin(other, Place(), "Alone", "Only mine."),
    }
    turn, _answer = ask(gone, f"What of the {CANARY} bridge?", conversation_id=made["theirs"])
    say(other, made["open"], "I like long bridges.")
    ask(other, "How long is the bridge?", conversation_id=made["theirs"])
    say(gone, made["theirs"], f"We agreed on {CANARY} paint.")
    assert home.project_id
    run_id = proposing.propose(other, home.project_id, conversation_id=made["theirs"])
    until(lambda: run_of(other, run_id).status != "running")
    assert CANARY in (run_of(other, run_id).response_summary or "").lower()
    with transaction(other) as tx:
        made["fork"] = fork.fork(tx, messages.get(tx, turn.answer_id).id).id
    keeping.keep(other, messages_of(other, made["theirs"])[0].id, "decisions")
    with transaction(gone) as tx:
        tags.add(tx, [made["open"]], [f"tag {CANARY}"])
        views.save(tx, "costs", f"View {CANARY}", {}, shared=True)
        views.save(tx, "costs", f"Own {CANARY}", {})
        shares.create(tx, made["open"])
        summaries.store(tx, made["fork"], [1], f"Summary {CANARY}", "hand", former=None, run_id=None)
    made["run"] = turn.run_id
    while recall.index_pending():
        pass
    return made


def messages_of(scope: Scope, conversation_id: UUID) -> list[messages.Message]:
    with transaction(scope) as tx:
        return messages.page(tx, conversation_id, limit=1000)


def erased(scope: Scope, person: str = f"{CANARY}@EXAMPLE.com") -> erasure.Erased:
    return erasure.erase(scope, person)


def test_a_dump_holds_nothing_of_a_person_who_was_erased(
    database_url: str, scope: Scope, gone: Scope, colleague: Scope
) -> None:
    made = live(gone, colleague)
    assert dump(database_url).count(CANARY) > 20
    done = erased(scope)
    text = dump(database_url)
    left = [line for line in text.splitlines() if CANARY in line.lower()]
    assert left == [], "\n".join(left)
    after = all_rows(database_url)
    assert done.whole and without(after, {str(gone.user_id)}) == after
    assert done.removed["people"] == done.removed["memberships"] == 1 and done.removed["views"] == 2
    with transaction(colleague) as tx:
        run = runs.get(tx, made["run"])
        assert [one.body for one in messages.page(tx, made["open"])] == ["I like long bridges."]
        assert conversations.get(tx, made["open"]).user_id == colleague.user_id
        assert [one.role for one in messages.page(tx, made["theirs"])][:2] == ["user", "user"]
        assert summaries.of(tx, made["fork"]) == []
    assert (run.user_id, run.prompt_summary, run.response_summary) == (None, None, None)
    assert run.input_tokens and run.cost_estimate is not None and run.model
    with transaction(scope) as tx:
        entry = audit.latest(tx, 1)[0]
        assert audit.verify(tx).holds
    assert (entry.action, entry.entity, entry.entity_id) == ("erase", "person", gone.user_id)
    assert entry.detail == {"removed": done.removed, "staying": 0}


def test_everybody_elses_rows_are_byte_identical(
    database_url: str, scope: Scope, gone: Scope, colleague: Scope, other_scope: Scope
) -> None:
    begin(gone, Place(), "Mine", "Words.")
    home = Place(project(colleague, "Bridge"))
    begin(gone, home, "Also mine", "More words.")
    theirs = begin(colleague, home, "Theirs", "We need a bridge.")
    ask(colleague, "What bridge?", conversation_id=theirs)
    ask(gone, "Which one?", conversation_id=theirs)
    ask(other_scope, "Elsewhere", place=Place())
    with transaction(colleague) as tx:
        tags.add(tx, [theirs], ["steel"])
        views.save(tx, "costs", "View", {}, shared=True)
        shares.create(tx, begin(colleague, Place(), "Shared", "Look."))
    worker.close()  # it indexes and learns, too
    while recall.index_pending():
        pass
    with owner(database_url) as connection:
        query = """SELECT id FROM conversations WHERE user_id = %(id)s
                   UNION SELECT id FROM assistant_runs WHERE user_id = %(id)s
                   UNION SELECT m.id FROM messages m LEFT JOIN assistant_runs r ON r.id = m.run_id
                         WHERE %(id)s IN (m.user_id, r.user_id)"""
        theirs_alone = {str(row[0]) for row in connection.execute(query.encode(), {"id": gone.user_id})}
    theirs_alone.add(str(gone.user_id))
    before = without(all_rows(database_url), theirs_alone)
    assert len(before["messages"]) == 6 and before["shares"] and before["receipts"] and before["message_search"]
    erased(scope)
    after = without(all_rows(database_url), theirs_alone)
    assert before == after
    assert count(database_url, "messages", f"conversation_id = '{theirs}'") == 3


def test_a_person_of_two_workspaces_is_erased_in_one(scope: Scope, other_scope: Scope, gone: Scope) -> None:
    elsewhere = Scope(other_scope.workspace_id, gone.user_id, "operator")
    with transaction(Scope(other_scope.workspace_id, other_scope.user_id, "system")) as tx:
        assert gone.user_id
        people.join(tx, gone.user_id, "operator")
    kept = begin(elsewhere, Place(), "Elsewhere", "Words.")
    begin(gone, Place(), "Here", "Words.")
    done = erased(scope)
    assert not done.whole and done.removed["conversations"] == 1
    with transaction(elsewhere) as tx:
        assert conversations.get(tx, kept).title == "Elsewhere"
    with transaction(scope) as tx:
        assert people.by_email(tx, f"{CANARY}@example.com") is None
    with pytest.raises(NotFound):
        erased(scope)


def test_a_name_beside_a_decision_goes_and_the_decision_stays(scope: Scope, gone: Scope) -> None:
    home = Place(project(scope, "Bridge"))
    talk = begin(gone, home, "Ours", "We build it of steel.")
    assert home.project_id
    keeping.keep(gone, messages_of(gone, talk)[0].id, "decisions")
    [stays] = erasure.staying(scope, f"{CANARY}@example.com")
    assert (stays.workspace, stays.project_name, stays.field) == ("default", "Bridge", "decisions")
    assert stays.entry["what"] == "We build it of steel."
    [left] = erased(scope).staying
    assert (stays.entry["who"], left.entry["who"]) == (f"Ada {CANARY}", "")
    assert left.entry["what"] == stays.entry["what"]
    with transaction(scope) as tx:
        found = memories.get(tx, home.project_id)
        assert audit.latest(tx, 1)[0].detail["staying"] == 1
    [entry] = found.decisions
    assert (entry["what"], entry["who"]) == ("We build it of steel.", "")


@pytest.mark.parametrize("who", ["operator@example.com", "owner@localhost", "nobody@example.com"])
def test_who_can_not_be_erased(scope: Scope, operator: Scope, who: str) -> None:
    with pytest.raises(Forbidden):
        erased(operator, who)
    if who == "operator@example.com":
        return
    with pytest.raises(NotFound if who.startswith("nobody") else Invalid):
        erased(scope, who)


def test_the_last_administrator_stays(scope: Scope, other_scope: Scope) -> None:
    system = Scope(other_scope.workspace_id, None, "admin", "cli")
    with pytest.raises(Invalid, match="only administrator"):
        erased(system, "other@example.com")


def test_the_command_asks_first_and_erases_everywhere_or_in_one_workspace(
    scope: Scope, gone: Scope, other_scope: Scope, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"{CANARY}@example.com"
    third = Scope(new_workspace("third"), None, "system")
    for place in (Scope(other_scope.workspace_id, None, "system"), third):
        with transaction(place) as tx:
            people.join(tx, gone.user_id or UUID(int=0), "admin" if place is third else "operator")
        begin(Scope(place.workspace_id, gone.user_id, "operator"), Place(), "Elsewhere", "Words.")
    talk = begin(gone, Place(project(scope, "Bridge")), "Ours", "We build it of steel.")
    keeping.keep(scope, messages_of(scope, talk)[0].id, "risks")

    def run(*more: str) -> tuple[int, str]:
        code = __main__.main(["erase", address, *more])
        said = capsys.readouterr()
        return code, said.out + said.err

    code, told = run()
    assert code == 1 and "--yes" in told
    code, told = run("--yes")  # the only administrator of the third: nothing happens anywhere
    assert code == 1 and "third: This is the only administrator" in told
    with transaction(scope) as tx:
        assert people.by_email(tx, address)
    assert run("--yes", "--workspace", "nowhere")[0] == 1
    code, told = run("--yes", "--workspace", "other")
    assert code == 0 and "conversations: 1" in told and "another workspace still has" in told
    with transaction(third) as tx:
        people.create(tx, "third@example.com", "Third", "admin", password_hash="x")
    code, told = run("--yes")
    assert code == 0 and "memberships: 2" in told and "Workspaces: default, third" in told and "Erased." in told
    assert "stays in default, memory of Bridge: We build it of steel." in told
    assert run("--yes")[0] == 1
    left = "INSERT INTO people (id, email, name) VALUES (gen_random_uuid(), :email, 'Ada')"
    do(Scope.system(), left, email=address)  # is a member of nothing any more
    code, told = run("--yes")
    assert code == 0 and "people: 1" in told and "Erased." in told


def new_workspace(slug: str) -> UUID:
    with transaction(Scope.system()) as tx:
        return workspaces.create(tx, slug, slug).id


def test_answers_that_quote_by_name_go_and_others_stay(scope: Scope, gone: Scope, colleague: Scope) -> None:
    theirs = begin(colleague, Place(project(scope, "Bridge")), "Theirs", "How long?")
    with transaction(colleague) as tx:
        for said in (f"> Very long.\n>\n> — Ada {CANARY}, 2026-12-01", "> Long.\n>\n> — Carlos, 2026-12-01"):
            messages.append(tx, theirs, "assistant", [parts.text(said)], model="builtin/recall")
    erased(scope)
    assert [one.body for one in messages_of(colleague, theirs)] == ["How long?", "> Long.\n>\n> — Carlos, 2026-12-01"]


def test_what_ends_in_the_background_meanwhile_waits_for_its_turn(scope: Scope, gone: Scope) -> None:
    """Proposals lock the memory and then their run; one that ends beside the erasure must not deadlock with it."""
    home = project(scope, "Bridge")
    for number in range(8):
        talk = begin(gone, Place(home), f"Talk {number}", f"We decided on bridge {number}.")
        keeping.keep(gone, messages_of(gone, talk)[0].id, "decisions")
    assert erased(scope).whole


def test_a_summary_of_words_that_were_erased_meanwhile_is_not_kept(scope: Scope, gone: Scope, colleague: Scope) -> None:
    theirs = begin(colleague, Place(project(scope, "Bridge")), "Theirs", "One")
    say(gone, theirs, "Two")
    say(colleague, theirs, "Three")
    erased(scope)
    with transaction(colleague) as tx:
        assert not summaries.store(tx, theirs, [1, 2, 3], "One, two, three", "model", former=None, run_id=None)
        assert summaries.store(tx, theirs, [1, 3], "One, three", "model", former=None, run_id=None)


def test_a_proposal_that_rests_on_words_that_were_erased_meanwhile_is_not_kept(
    scope: Scope, gone: Scope, colleague: Scope
) -> None:
    home = project(scope, "Bridge")
    theirs = begin(colleague, Place(home), "Theirs", "One")
    say(gone, theirs, f"We paint it {CANARY}.")
    say(colleague, theirs, "Three")
    suggested = {"action": "add", "part": "risks", "text": f"{CANARY} paint", "messages": [1]}

    def script(_body: dict[str, Any], _number: int) -> Iterator[str]:
        erased(scope)
        yield json.dumps({"suggestions": [suggested]})

    with ModelServer(script) as server:
        connect(scope, server.base)
        run_id = proposing.propose(colleague, home, conversation_id=theirs)
        until(lambda: run_of(colleague, run_id).status != "running")
    run = run_of(colleague, run_id)
    assert (run.status, run.response_summary, run.input_tokens) == ("failed", None, 11)
    with transaction(colleague) as tx:
        assert proposals.list_(tx, home) == []
