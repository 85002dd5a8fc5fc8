"""The other groups' names for the same rows, used as they use them: plain SQL."""

from uuid import UUID

import pytest
from sqlalchemy.exc import DBAPIError

from nexus_core import conversations, messages, recall
from nexus_core.database import Scope, transaction
from nexus_core.errors import Invalid, NotFound
from tests.store import Corner, ask, do, fill

PROJECT_COLUMNS = "workspace_id, project_id, task_id, title, kind, status, summary_md, metadata"
PROJECT_MESSAGE_COLUMNS = "workspace_id, conversation_id, role, body, model, runtime, metadata"


@pytest.fixture
def corner(operator: Scope) -> Corner:
    return fill(operator)


def texts(scope: Scope, conversation: object) -> list[tuple[object, ...]]:
    query = "SELECT seq, parent_seq, role, body, parts FROM messages WHERE conversation_id = :id ORDER BY seq"
    return [tuple(row) for row in ask(scope, query, id=conversation)]


def recalled(scope: Scope, project: UUID | None) -> set[UUID]:
    """The conversations that recall finds engines in."""
    recall.index_pending()
    with transaction(scope) as tx:
        return {passage.conversation_id for passage in recall.passages(tx, "Which engine?", project)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_a_projects_conversations(operator: Scope, colleague: Scope, corner: Corner) -> None:
    shown = ask(colleague, f"SELECT id, {PROJECT_COLUMNS} FROM project_conversations")
    assert [row.id for row in shown] == [corner.open]
    insert = "INSERT INTO project_conversations (project_id, title, kind) VALUES (:project, 'By SQL', 'decision')"
    made = ask(operator, f"{insert} RETURNING id, workspace_id, status, metadata", project=corner.project)[0]
    assert (made.workspace_id, made.status, made.metadata) == (operator.workspace_id, "open", {})
    with transaction(colleague) as tx:
        found = conversations.get(tx, made.id)
    assert (found.title, found.title_source, found.user_id) == ("By SQL", "person", operator.user_id)
    change = "UPDATE project_conversations SET status = 'summarized', summary_md = 'Short.' WHERE id = :id"
    assert do(colleague, change, id=made.id) == 1
    with transaction(operator) as tx:
        assert conversations.get(tx, made.id).summary_md == "Short."
    with pytest.raises(DBAPIError, match="check option"):
        do(operator, "UPDATE project_conversations SET project_id = NULL, task_id = NULL WHERE id = :id", id=made.id)
    with pytest.raises(Invalid):
        do(operator, "UPDATE project_conversations SET status = 'closed' WHERE id = :id", id=made.id)
    with pytest.raises(NotFound):
        do(operator, "INSERT INTO project_conversations (project_id) VALUES (gen_random_uuid())")
    assert do(operator, "DELETE FROM project_conversations WHERE id = :id", id=corner.open) == 1
    assert texts(operator, corner.open) == []


def test_an_answers_calls_are_role_tool_rows(colleague: Scope, corner: Corner) -> None:
    query = f"SELECT {PROJECT_MESSAGE_COLUMNS} FROM project_conversation_messages ORDER BY seq, part"
    shown = [(row.role, row.body, row.metadata.get("tool_call_id")) for row in ask(colleague, query)]
    assert shown == [
        ("user", "Which engine?", None),
        ("assistant", "The big engine.", None),
        ("tool", '{"found": "one"}', "call-1"),
        ("tool", "no such thing", "call-2"),  # and none for call-3, which has no result yet
    ]
    ids = ask(colleague, "SELECT count(*), count(DISTINCT id) FROM project_conversation_messages")
    assert tuple(ids[0]) == (4, 4)


def test_a_message_by_sql_takes_the_next_number_and_the_privacy(
    operator: Scope, colleague: Scope, corner: Corner
) -> None:
    insert = "INSERT INTO project_conversation_messages (conversation_id, role, body, model, metadata) VALUES "
    values = "(:id, 'user', 'And now?', NULL, NULL), (:id, 'assistant', 'Now.', 'm-1', '{\"a\": 1}')"
    assert do(colleague, insert + values, id=corner.open) == 2
    assert texts(operator, corner.open)[2:] == [
        (3, 2, "user", "And now?", [text("And now?")]),
        (4, 3, "assistant", "Now.", [text("Now.")]),
    ]
    insert = "INSERT INTO system.ai_messages (chat_id, role, parts) VALUES (:id, 'user', :parts)"
    parts = '[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]'
    assert do(operator, insert, id=corner.private, parts=parts) == 1
    assert texts(operator, corner.private)[2] == (3, 2, "user", "a\n\nb", [text("a"), text("b")])
    private = "SELECT DISTINCT private_to FROM messages WHERE conversation_id = :id"
    assert [row[0] for row in ask(operator, private, id=corner.private)] == [operator.user_id]
    assert [row[0] for row in ask(operator, private, id=corner.open)] == [None]
    with transaction(operator) as tx:
        page = messages.page(tx, corner.open)
        assert conversations.get(tx, corner.open).next_seq == 5
    assert [(m.seq, m.role, m.user_id) for m in page[2:]] == [(3, "user", colleague.user_id), (4, "assistant", None)]


def test_writing_to_a_projects_messages(operator: Scope, corner: Corner) -> None:
    view = "project_conversation_messages"
    assert (
        do(operator, f"UPDATE {view} SET body = 'The small engine.', model = 'm-2' WHERE id = :answer", **vars(corner))
        == 1
    )
    (_question, answer) = texts(operator, corner.open)
    assert answer[3] == "The small engine."
    assert [part["type"] for part in answer[4]] == ["tool-look", "tool-look", "tool-look", "text"]
    assert answer[4][-1] == text("The small engine.")
    tools = f"{view} WHERE conversation_id = :open AND role = 'tool'"
    assert do(operator, f"DELETE FROM {tools}", **vars(corner)) == 0  # they are part of the answer
    assert ask(operator, f"SELECT count(*) FROM {tools}", **vars(corner))[0][0] == 2
    assert do(operator, f"DELETE FROM {view} WHERE id = :answer", **vars(corner)) == 1
    assert ask(operator, f"SELECT count(*) FROM {tools}", **vars(corner))[0][0] == 0
    with pytest.raises(Invalid):
        do(operator, f"INSERT INTO {view} (conversation_id, role, body) VALUES (:open, 'robot', 'x')", **vars(corner))


def test_chats(operator: Scope, colleague: Scope, corner: Corner) -> None:
    query = "SELECT id, user_id, endpoint_id, metadata FROM system.ai_chats ORDER BY created_at"
    assert [(row.id, row.user_id, row.endpoint_id) for row in ask(operator, query)] == [
        (corner.open, operator.user_id, corner.agent),
        (corner.private, operator.user_id, corner.agent),
    ]
    insert = "INSERT INTO system.ai_chats (endpoint_id, metadata, session_id) VALUES (:agent, '{}', 's-1')"
    made = ask(operator, f"{insert} RETURNING id, user_id", agent=corner.agent)[0]
    assert made.user_id == operator.user_id
    with transaction(operator) as tx:
        place = conversations.Place(None, corner.agent)
        assert conversations.create(tx, place, session_id="s-1").id == made.id
    assert do(operator, "UPDATE system.ai_chats SET metadata = '{\"b\": 2}' WHERE id = :id", id=made.id) == 1
    assert ask(operator, "SELECT metadata FROM conversations WHERE id = :id", id=made.id)[0][0] == {"b": 2}
    assert ask(colleague, "SELECT FROM system.ai_chats WHERE id = :id", id=made.id) == []


def test_deleting_a_chat_deletes_its_messages(operator: Scope, colleague: Scope, corner: Corner) -> None:
    assert do(operator, "DELETE FROM system.ai_chats WHERE id = :open", **vars(corner)) == 1
    hung = (
        "messages",
        "summaries",
        "receipts",
        "shares",
        "conversation_tags",
        "conversation_reads",
        "system.ai_messages",
    )
    for name in hung:
        column = "chat_id" if name == "system.ai_messages" else "conversation_id"
        assert {row[0] for row in ask(operator, f"SELECT DISTINCT {column} FROM {name}")} == {corner.private}, name
    assert recalled(operator, corner.project) == set()
    run = ask(operator, "SELECT * FROM assistant_runs WHERE id = :run", **vars(corner))[0]
    assert (run.conversation_id, run.prompt_summary, run.cost_estimate is None) == (None, None, False)
    assert do(operator, "DELETE FROM system.ai_chats WHERE user_id = :user", user=operator.user_id) == 1
    assert ask(operator, "SELECT FROM messages") == []


def test_a_lone_tool_row_is_an_assistants_part_to_ai_messages(operator: Scope, corner: Corner) -> None:
    insert = "INSERT INTO project_conversation_messages (conversation_id, role, body, metadata) VALUES "
    do(
        operator,
        insert + "(:open, 'tool', '42', :m)",
        m='{"tool_name": "sum", "tool_call_id": "call-9"}',
        **vars(corner),
    )
    query = "SELECT role, parts, seq FROM system.ai_messages WHERE chat_id = :open ORDER BY seq"
    shown = ask(operator, query, **vars(corner))
    assert [row.role for row in shown] == ["user", "assistant", "assistant"]
    assert len(shown[1].parts) == 4
    assert shown[2].parts == [
        {"type": "dynamic-tool", "toolName": "sum", "toolCallId": "call-9", "state": "output-available", "input": {},
         "output": "42"},
    ]  # fmt: skip
    kept = ask(operator, "SELECT role, body FROM project_conversation_messages WHERE seq = 3")
    assert [tuple(row) for row in kept] == [("tool", "42")]


def test_writing_to_chats_messages(operator: Scope, corner: Corner) -> None:
    parts = '[{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Other."}]'
    change = "UPDATE system.ai_messages SET parts = :parts WHERE id = :answer"
    assert do(operator, change, parts=parts, **vars(corner)) == 1
    stored = ask(operator, "SELECT body, parts, tokens FROM messages WHERE id = :answer", **vars(corner))[0]
    assert (stored.body, len(stored.parts), stored.tokens) == ("Other.", 2, None)
    assert do(operator, "DELETE FROM system.ai_messages WHERE id = :answer", **vars(corner)) == 1
    assert len(texts(operator, corner.open)) == 1
    with pytest.raises(NotFound):
        do(operator, "INSERT INTO system.ai_messages (chat_id, role, parts) VALUES (gen_random_uuid(), 'user', '[]')")
    with pytest.raises(Invalid):
        do(
            operator,
            "INSERT INTO system.ai_messages (chat_id, role, parts) VALUES (:open, 'user', '{}')",
            **vars(corner),
        )


def test_whatever_the_search_path(operator: Scope, corner: Corner) -> None:
    with transaction(operator) as tx:
        tx.connection.exec_driver_sql("SET LOCAL search_path = system")
        tx.connection.exec_driver_sql(
            f"INSERT INTO ai_messages (chat_id, role, parts) VALUES ('{corner.open}', 'user', '[]')"
        )
        tx.connection.exec_driver_sql(f"DELETE FROM ai_chats WHERE id = '{corner.private}'")
    assert [row[0] for row in texts(operator, corner.open)] == [1, 2, 3]


HUNG = ("messages", "summaries", "receipts", "shares")


def test_moving_a_conversation_moves_its_privacy(operator: Scope, colleague: Scope, corner: Corner) -> None:
    def seen(who: Scope) -> list[int]:
        return [
            ask(who, f"SELECT count(*) FROM {name} WHERE conversation_id = :open", **vars(corner))[0][0]
            for name in HUNG
        ]

    assert seen(colleague) == seen(operator) == [2, 1, 1, 1]
    assert (recalled(colleague, corner.project), recalled(operator, None)) == ({corner.open}, {corner.private})

    do(operator, "UPDATE conversations SET project_id = NULL, task_id = NULL WHERE id = :open", **vars(corner))
    assert (seen(operator), seen(colleague)) == ([2, 1, 1, 1], [0, 0, 0, 0])
    assert recalled(operator, None) == {corner.open, corner.private}
    assert recalled(colleague, None) == recalled(colleague, corner.project) == set()
    assert ask(colleague, "SELECT prompt_summary FROM assistant_runs WHERE id = :run", **vars(corner))[0][0] is None

    do(operator, "UPDATE conversations SET project_id = :project WHERE id = :open", **vars(corner))
    assert seen(colleague) == seen(operator) == [2, 1, 1, 1]
    assert (recalled(colleague, corner.project), recalled(operator, None)) == ({corner.open}, {corner.private})


def test_moving_a_conversation_moves_what_is_remembered(operator: Scope, corner: Corner) -> None:
    window = {"project_id": None, "agent_id": corner.agent, "upto": 1, "max_messages": 10, "max_tokens": None}

    def remembered() -> list[object]:
        with transaction(operator) as tx:
            return [item.conversation_id for item in messages.user_window(tx, corner.private, **window)]

    assert remembered() == [corner.private]
    do(operator, "UPDATE conversations SET project_id = NULL, task_id = NULL WHERE id = :open", **vars(corner))
    assert remembered() == [corner.open, corner.open, corner.private]
    do(operator, "UPDATE conversations SET agent_id = NULL WHERE id = :open", **vars(corner))
    assert remembered() == [corner.private]


def test_nobody_gives_a_conversation_away(operator: Scope, colleague: Scope, corner: Corner) -> None:
    with pytest.raises(DBAPIError, match="row-level security"):
        do(colleague, "UPDATE conversations SET project_id = NULL, task_id = NULL WHERE id = :open", **vars(corner))
    with pytest.raises(DBAPIError, match="row-level security"):
        do(operator, "UPDATE system.ai_chats SET user_id = :u WHERE id = :private", u=colleague.user_id, **vars(corner))
