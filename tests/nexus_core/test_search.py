"""Finding conversations: what matches, what is shown of it, who sees it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import ProgrammingError

from nexus_core import conversations, messages, parts, recall, search, terms
from nexus_core.conversations import Place
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.errors import Invalid
from nexus_core.search import Filter, Page
from tests.nexus_core import ledger
from tests.nexus_core.conversing import agent, project

NOBODY = Place()


def say(scope: Scope, *texts: str, title: str = "", place: Place = NOBODY, kind: str = "project") -> UUID:
    """A conversation with these messages."""
    with transaction(scope) as tx:
        made = conversations.create(tx, place, title=title, kind=kind, session_id=str(uuid4()))
        for number, text in enumerate(texts):
            messages.append(tx, made.id, "assistant" if number % 2 else "user", [parts.text(text)])
    return made.id


def index() -> None:
    while recall.index_pending():
        pass


def find(scope: Scope, text: str = "", filter: Filter = Filter(), **how: object) -> Page:  # noqa: B008
    with transaction(scope) as tx:
        return search.find(tx, text, filter, **how)  # type: ignore[arg-type]


def ids(scope: Scope, text: str = "", filter: Filter = Filter(), **how: object) -> list[UUID]:  # noqa: B008
    return [hit.id for hit in find(scope, text, filter, **how).hits]


def marked(page: Page) -> list[str]:
    passage = page.hits[0].passage
    assert passage
    return [passage.text[start:end] for start, end in passage.marks]


@pytest.mark.parametrize(
    ("said", "asked", "mark"),
    [
        ("ma\u0142a \u0142a\u0328ka", "\u0142\u0105ka", "\u0142a\u0328ka"),  # NFD found by NFC
        ("mała łąka", "la\u0328ka", "łąka"),
        ("Ask Jérôme today", "jero", "Jérôme"),
        ("Λέει ΣΑΣ", "σας", "ΣΑΣ"),
        ("to σας", "ΣΑΣ", "σας"),
        ("the ＡＢＣ list", "abc", "ＡＢＣ"),
        ("the abc list", "ＡＢＣ", "abc"),
        ("我们讨论了这个问题吗", "问题", "问题"),
        ("我们讨论了这个问题吗", "讨论了这个", "讨论了这个"),
        ("猫が好き", "猫", "猫"),
        ("Go to it", "to", "to"),
        ("five ⭐️ rating", "⭐️", "⭐️"),
        ("five ⭐ rating", "⭐️", "⭐"),
        ("save 100% now", "100%", "100%"),
        ("save 100% now", "%", "%"),
        ("call foo_bar here", "foo_bar", "foo_bar"),
        (r"in C:\temp now", r"C:\temp", r"C:\temp"),
        ('he said "no"', '"', '"'),
        ("if a<b then", "<", "<"),
        ("salt AND pepper", "AND", "AND"),
        ("see example.com/path today", "path", "path"),
        ("Decisión tomada", "DECISION", "Decisión"),
        ("Straße", "strasse", "Straße"),
    ],
)
def test_what_is_typed_is_found_literally(scope: Scope, said: str, asked: str, mark: str) -> None:
    wanted = say(scope, said)
    say(scope, "fooXbar 100 percent nothing else 问与题 C: temp sas")
    index()
    page = find(scope, asked)
    assert [hit.id for hit in page.hits] == [wanted] and (page.total, page.exact) == (1, True)
    assert mark in marked(page)


def test_words_in_any_order_the_phrase_first_and_quotes_the_phrase_alone(scope: Scope) -> None:
    phrase = say(scope, "we keep the open question for later")
    words = say(scope, "a question that stays open")
    say(scope, "only open")
    index()
    assert ids(scope, "open question") == [phrase, words]
    assert ids(scope, "question open") == [words, phrase]
    assert ids(scope, '"open question"') == [phrase]
    assert ids(scope, '"open quest') == [phrase]
    assert ids(scope, "open question", sort="newest") == [words, phrase]
    assert ids(scope, "open question", sort="oldest") == [phrase, words]
    assert ids(scope, "open question,") == [phrase, words]


def test_a_conversation_comes_once_with_its_best_message(scope: Scope) -> None:
    where = say(scope, "red paint", "the paint is red", "red and blue paint", title="Colours")
    index()
    page = find(scope, "paint red")
    assert [hit.id for hit in page.hits] == [where]
    assert page.hits[0].passage and page.hits[0].passage.seq == 3
    exact = find(scope, "red paint").hits[0].passage
    assert exact and exact.seq == 1 and exact.text == "red paint" and exact.marks == ((0, 3), (4, 9))


def test_a_long_message_is_cut_around_the_match(scope: Scope) -> None:
    body = "Zażółć gęślą jaźń. " * 200 + "The Needle is here. " + "And more follows. " * 200
    say(scope, body)
    index()
    passage = find(scope, "needle").hits[0].passage
    assert passage and len(passage.text) <= search.SNIPPET and passage.clipped == (True, True)
    assert [passage.text[a:b] for a, b in passage.marks] == ["Needle"] and passage.text in body


def test_titles_are_found_and_followed(scope: Scope) -> None:
    where = say(scope, "nothing of note", title="Łódź budget")
    index()
    hit = find(scope, "lodz").hits[0]
    assert hit.id == where and hit.passage is None and [hit.title[a:b] for a, b in hit.title_marks] == ["Łódź"]
    with transaction(scope) as tx:
        conversations.rename(tx, where, "Warsaw plan")
    index()
    assert ids(scope, "warsaw") == [where] and ids(scope, "lodz") == []


def test_blank_is_the_list_and_reading_never_writes(scope: Scope) -> None:
    made = [say(scope, f"text {number}") for number in range(3)]
    index()
    with transaction(scope) as tx:
        tx.connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        for text in ("", "  \n", "\0", "text", '"text 1"'):
            assert search.find(tx, text).hits
        assert [hit.id for hit in search.find(tx, " ").hits] == made[::-1]
        assert [hit.id for hit in search.find(tx, "", sort="oldest").hits] == made


def test_sixty_at_one_instant_are_sixty_on_three_pages(scope: Scope, database_url: str) -> None:
    for number in range(60):
        say(scope, f"same instant {number}", title=f"Title {number % 7}")
    index()
    with ledger.owner(database_url) as admin:
        admin.execute("UPDATE conversations SET last_message_at = '2026-01-01T00:00:00Z'")
    for text in ("", "instant same"):
        for sort in search.SORTS:
            seen: list[UUID] = []
            after = None
            for _page in range(3):
                page = find(scope, text, sort=sort, after=after)
                seen += [hit.id for hit in page.hits]
                after = page.after
                assert page.total == 60 and page.exact
            assert len(seen) == len(set(seen)) == 60 and after is None


def test_renaming_tagging_and_archiving_move_nothing(scope: Scope) -> None:
    made = [say(scope, "steady order") for _number in range(3)]
    index()
    with transaction(scope) as tx:
        conversations.rename(tx, made[0], "New name")
        conversations.set_archived(tx, made[1], True)
    index()
    assert ids(scope) == ids(scope, "steady order") == made[::-1]


def test_every_filter_narrows_list_and_search_alike(scope: Scope, colleague: Scope, database_url: str) -> None:
    place = Place(project(scope, "Apollo"))
    ada = agent(scope, "Ada")
    theirs = say(colleague, "common word", place=place)
    mine = say(scope, "common word", place=place, kind="decision")
    with_agent = say(scope, "common word", place=Place(None, ada))
    old = say(scope, "common word")
    tag = uuid4()
    with ledger.owner(database_url) as admin:
        keys = {"w": scope.workspace_id, "t": tag, "c": mine, "old": old}
        admin.execute("UPDATE conversations SET last_message_at = '2024-05-05' WHERE id = %(old)s", keys)
        admin.execute("INSERT INTO tags (workspace_id, id, name) VALUES (%(w)s, %(t)s, 'Key')", keys)
        admin.execute("INSERT INTO conversation_tags VALUES (%(w)s, %(c)s, %(t)s)", keys)
    with transaction(scope) as tx:
        conversations.set_archived(tx, with_agent, True)
    index()
    since = datetime(2025, 1, 1, tzinfo=UTC)
    cases: list[tuple[Filter, set[UUID]]] = [
        (Filter(project_id=place.project_id), {mine, theirs}),
        (Filter(outside=True), {with_agent, old}),
        (Filter(agent_id=ada), {with_agent}),
        (Filter(just_chat=True), {mine, theirs, old}),
        (Filter(kind="decision"), {mine}),
        (Filter(status="archived"), {with_agent}),
        (Filter(status="open"), {mine, theirs, old}),
        (Filter(tag_id=tag), {mine}),
        (Filter(person_id=colleague.user_id), {theirs}),
        (Filter(since=since), {mine, theirs, with_agent}),
        (Filter(until=since), {old}),
        (Filter(since=since, until=since + timedelta(days=1)), set()),
        (Filter(project_id=place.project_id, tag_id=tag, kind="decision", status="open"), {mine}),
    ]
    for filter, wanted in cases:
        for text in ("", "common word", "comm"):
            page = find(scope, text, filter)
            assert {hit.id for hit in page.hits} == wanted, (filter, text)
            assert (page.total, page.exact) == (len(wanted), True)
    assert find(scope, "common", Filter(tag_id=tag)).hits[0].tags == ["Key"]


def test_nobody_finds_what_they_may_not_see(scope: Scope, colleague: Scope, other_scope: Scope) -> None:
    place = Place(project(scope, "Apollo"))
    private = say(scope, "the secret plan", title="Secret plan")
    shared = say(scope, "the secret plan", place=place)
    elsewhere = say(other_scope, "the secret plan", title="Secret plan")
    index()
    assert set(ids(scope, "secret plan")) == {private, shared}
    assert ids(colleague, "secret plan") == ids(colleague, "secr") == ids(colleague) == [shared]
    assert ids(other_scope, "secret plan") == [elsewhere]
    assert ids(other_scope, "secret", Filter(project_id=place.project_id)) == []
    assert ids(colleague, "secret", Filter(person_id=scope.user_id, outside=True)) == []
    for scoped in ("#w", "#s"):
        assert scope.workspace_id and ids(colleague, scoped + scope.workspace_id.hex) == []


def _as_the_application(tx: Transaction) -> None:
    if tx.connection.exec_driver_sql("SELECT current_user").scalar() != "nexus_app":
        pytest.skip("no role of its own here: the owner works")


@pytest.mark.parametrize("table", ["message_search", "title_search", "message_meaning", "title_queue", "meaning_queue"])
def test_the_index_itself_can_not_be_read(scope: Scope, table: str) -> None:
    with transaction(scope) as tx:
        _as_the_application(tx)
        with pytest.raises(ProgrammingError, match="permission denied"):
            tx.connection.exec_driver_sql(f"SELECT * FROM {table}")


def test_the_sieve_is_not_the_applications_to_call(scope: Scope) -> None:
    say(scope, "something")
    index()
    with transaction(scope) as tx:
        _as_the_application(tx)
        with pytest.raises(ProgrammingError, match="permission denied"):
            tx.connection.exec_driver_sql("SELECT * FROM nexus.sieve_messages('something', 10)")


def test_a_moved_conversation_is_found_where_it_is(scope: Scope, colleague: Scope, database_url: str) -> None:
    one, two = project(scope, "One"), project(scope, "Two")
    where = say(scope, "moving target", title="Moving", place=Place(one))
    index()
    with ledger.owner(database_url) as admin:
        admin.execute("UPDATE conversations SET project_id = %s WHERE id = %s", (two, where))
    index()
    assert ids(scope, "moving target", Filter(project_id=two)) == [where]
    assert ids(scope, "moving target", Filter(project_id=one)) == []
    with ledger.owner(database_url) as admin:
        admin.execute("UPDATE conversations SET project_id = NULL WHERE id = %s", (where,))
    assert ids(colleague, "moving") == [], "private at once, before it is indexed again"
    index()
    assert ids(scope, "moving target", Filter(outside=True)) == [where]


def test_what_is_gone_or_hidden_is_not_found(scope: Scope, database_url: str) -> None:
    gone, trashed, hidden = (say(scope, f"vanishing act {name}", title=name) for name in ("gone", "trashed", "hidden"))
    index()
    assert set(ids(scope, "vanishing")) == {gone, trashed, hidden}
    with transaction(scope) as tx:
        conversations.delete(tx, gone)
    with ledger.owner(database_url) as admin:
        admin.execute("UPDATE conversations SET deleted_at = now() WHERE id = %s", (trashed,))
        admin.execute("UPDATE messages SET active = false WHERE conversation_id = %s", (hidden,))
    assert ids(scope, "vanishing") == []
    with ledger.owner(database_url) as admin:
        admin.execute("UPDATE messages SET active = true WHERE conversation_id = %s", (hidden,))
    assert ids(scope, "vanishing") == [hidden]


def test_counts_are_exact_up_to_a_bound(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        say(scope, f"countable {number}")
    index()
    monkeypatch.setattr(search, "COUNTED", 4)
    for text in ("", "countable"):
        page = find(scope, text, limit=2)
        assert (len(page.hits), page.total, page.exact) == (2, 4, False)


def test_what_can_not_be_asked_is_refused(scope: Scope) -> None:
    for how in ({"sort": "worst"}, {"after": "???"}, {"after": "bm90IGpzb24"}, {"filter": Filter(kind="x")},
                {"filter": Filter(status="x")}):  # fmt: skip
        for text in ("", "word"):
            with pytest.raises(Invalid):
                find(scope, text, **how)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        find(scope, "word", after="WyJhIiwgImIiXQ")


WEIRD = st.text(
    st.one_of(st.characters(), st.sampled_from("\"'\\%_<>&|!():*@#~\0\ud800 aé问か\u0301\u200d\ufe0f⭐")), max_size=40
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(said=WEIRD, asked=WEIRD)
def test_nothing_that_is_typed_breaks_it(scope: Scope, said: str, asked: str) -> None:
    with transaction(scope) as tx:
        made = conversations.create(tx, NOBODY, session_id=str(uuid4()))
        messages.append(tx, made.id, "user", [parts.text(said + " anchor")])
    index()
    assert find(scope, asked).total >= 0
    for word in said.split()[:2]:
        quoted = terms.search(word)
        if quoted is None or len(word) > 30:
            continue
        page = find(scope, word, replace(Filter(), since=datetime(2020, 1, 1, tzinfo=UTC)), sort="newest")
        assert made.id in [hit.id for hit in page.hits], word
        for hit in page.hits:
            assert all(0 <= a < b <= len(hit.passage.text) for a, b in (hit.passage.marks if hit.passage else ()))


@given(st.text(st.sampled_from("aéñßÀ½²ªʰ_1 \t\n.,-¿“—…€‘’†")))
def test_latin_is_read_as_every_other_script_is(text: str) -> None:
    assert terms._LATIN.fullmatch(text)
    assert terms._LATIN_TOKEN.findall(text) == terms._TOKEN.findall(text)


def test_marks_stand_where_the_words_do() -> None:
    def marked(text: str, words: str) -> list[str]:
        asked = terms.search(words)
        assert asked
        return [text[start:end] for start, end in terms.marks(text, asked)]

    assert marked("El Descuento, los descuentos: ½ descuento!", "descuento") == ["Descuento", "descuentos", "descuento"]
    assert marked("a price list, the price; list price list", '"price list"') == ["price list"] * 2
    assert marked("in ½ of 1/2 cases", "1/2") == ["1/2"]
    assert marked("naïve Straße 折扣 off", "strasse 折扣") == ["Straße", "折扣"]
    assert marked("nothing here", "elsewhere") == []
