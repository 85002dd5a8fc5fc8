"""A turn that comes through OpenAI's door: which conversation it belongs to, and what of the messages sent is new.

docs/decisions/0040 says why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from nexus_core import answerers, chat, continuation, conversations, messages, programs, runs, turns
from nexus_core.answerers import Answerer
from nexus_core.conversations import Place
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.dialogue import Heard
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.messages import Message
from nexus_core.runs import Run
from nexus_core.setups import Wish
from nexus_core.text import title_of
from nexus_core.turns import Turn

SESSION_LIMIT = 200
_REASONS = ("stop", "length", "content_filter")


@dataclass(frozen=True)
class Ask:
    """What a program asks: `model` names an agent or a profile, `user` and `session_id` choose the memory.

    `user` is whom it speaks for. Without either the messages are the history, and the conversation that they are of
    goes on. The same `client_message_id` again gives the same turn.
    """

    model: str
    heard: Heard
    user: str | None = None
    session_id: str | None = None
    project_id: UUID | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] = ()
    client_message_id: str | None = None


@dataclass(frozen=True)
class Begun:
    """An answer that is being written, or was before; the first `skip` parts of it were told already.

    `model` is the id of who gives it.
    """

    conversation_id: UUID
    answer_id: UUID
    model: str
    skip: int = 0


@dataclass(frozen=True)
class Ending:
    """An answer that has ended, its run, and why: stop, length, tool_calls or content_filter."""

    answer: Message
    run: Run | None
    reason: str


class _Known(Exception):
    def __init__(self, answer: Message, skip: int = 0) -> None:
        super().__init__()
        self.answer, self.skip = answer, skip


def begin(scope: Scope, ask: Ask) -> Begun:
    """Store what is new and have it answered; returns before the model is called.

    Raises Forbidden, NotFound (for the model, too), Invalid, Busy, Conflict, StoreUnavailable.
    """
    scope.require("operator")
    with transaction(scope) as tx:
        who = answerers.named(tx, ask.model)
    profile_id = None if who.agent_id else who.profile_id
    wish = Wish(profile_id, ask.heard.instructions, ask.params, tuple(ask.tools), whole=_name(ask) is None)

    only = scope.project_ids or ()
    if ask.project_id is None and len(only) == 1:  # where a token opens one project alone, it speaks there
        ask = replace(ask, project_id=only[0])

    def accept(tx: Transaction) -> Turn:
        return _repeated(tx, ask, wish) or _accept(tx, ask, who, wish)

    try:
        turn = chat.begin(scope, accept, ask.client_message_id)
    except _Known as known:
        return Begun(known.answer.conversation_id, known.answer.id, who.id, known.skip)
    return Begun(turn.conversation_id, turn.answer_id, who.id, len(turn.begun))


def ending(scope: Scope, answer: Message) -> Ending:
    """How an answer ended; `tool_calls` where the program has calls to run."""
    with transaction(scope) as tx:
        run = runs.of(tx, [answer.run_id]).get(answer.run_id) if answer.run_id else None
        receipt = runs.receipt(tx, run.id) if run else None
    steps = (receipt or {}).get("steps") or ()
    last = str(steps[-1].get("reason")) if steps else "stop"
    called = bool(continuation.waiting(answer))
    return Ending(answer, run, "tool_calls" if called else last if last in _REASONS else "stop")


def _repeated(tx: Transaction, ask: Ask, wish: Wish) -> Turn | None:
    """The same request again: what it began, and where that failed, another try."""
    turn = turns.repeated(tx, ask.client_message_id, ask.heard.question) if ask.client_message_id else None
    if turn is None:
        return None
    answer = messages.get(tx, turn.answer_id)
    if answer.status != "failed":
        raise _Known(answer)
    return turns.accept(tx, answer.conversation_id, None, instead_of=answer.id, wish=wish)


def _accept(tx: Transaction, ask: Ask, who: Answerer, wish: Wish) -> Turn:
    place, name = Place(ask.project_id, who.agent_id), _name(ask)
    if name is not None:
        conversation_id = conversations.create(tx, place, session_id=name).id
        programs.hold(tx, conversation_id, end_user=ask.user)
    elif who.memory_mode == "user":
        conversation_id = (conversations.active(tx, place) or conversations.create(tx, place)).id
    else:
        return _of_history(tx, ask, place, wish)
    return _go_on(tx, conversation_id, ask, wish)


def _name(ask: Ask) -> str | None:
    """The session id that stands for a user and a session of theirs; None without either. Raises Invalid."""
    if ask.user is None:
        name = ask.session_id
    else:
        user = ask.user.replace("%", "%25").replace(":", "%3A")
        name = f"user:{user}" if ask.session_id is None else f"user:{user}:{ask.session_id}"
    if name is not None and not 0 < len(name) <= SESSION_LIMIT:
        raise Invalid(_("User and session together have at most 200 characters, and 1 at least."), field="user")
    return name


def _go_on(tx: Transaction, conversation_id: UUID, ask: Ask, wish: Wish) -> Turn:
    """Take what is new into a conversation that Nexus remembers; of the rest of the messages nothing is needed."""
    answer = messages.newest_answer(tx, conversation_id)
    results, question = ask.heard.results, ask.heard.question
    if question is None:
        return _results(tx, answer, results, wish)
    if answer is not None and results and not continuation.repeats(answer, results):
        continuation.fill_in(tx, answer, results)
    if answer is not None and answer.status == "failed" and _asked(tx, answer) == question.strip():
        return turns.accept(tx, conversation_id, None, instead_of=answer.id, wish=wish)
    return turns.accept(tx, conversation_id, question, client_message_id=ask.client_message_id, wish=wish)


def _results(tx: Transaction, answer: Message | None, results: Mapping[str, str], wish: Wish) -> Turn:
    if answer is None:
        raise Invalid(_("No answer here waits for a result."), field="messages")
    if continuation.repeats(answer, results):
        raise _Known(answer, len(continuation.answered(answer, results)) + 1)
    return continuation.go_on(tx, answer, results, wish)


def _asked(tx: Transaction, answer: Message) -> str:
    return messages.question_of(tx, answer).body.strip()


def _of_history(tx: Transaction, ask: Ask, place: Place, wish: Wish) -> Turn:
    """Go on with the conversation that the messages are the history of, or keep them as a new one."""
    heard = ask.heard
    digest, former = heard.digest(), heard.former_digest()
    if heard.question is None:
        turn = _called(tx, place, heard, digest, wish)
    else:
        turn = _followed(tx, place, heard, former, ask, wish) or _once_more(tx, place, heard, digest, wish)
    if turn is None:
        turn = _kept(tx, place, ask, wish)
    first = next((said.text for said in heard.history if said.role == "user"), heard.question or "")
    programs.hold(tx, turn.conversation_id, heard=digest, title=title_of(first))
    return turn


def _candidates(tx: Transaction, place: Place, digest: str | None) -> list[Message]:
    """The newest answers of conversations that had heard this when they were asked last."""
    if digest is None:
        return []
    found = programs.after(tx, digest, project_id=place.project_id, agent_id=place.agent_id)
    return [messages.get(tx, answer_id) for _conversation_id, answer_id in found]


def _called(tx: Transaction, place: Place, heard: Heard, digest: str, wish: Wish) -> Turn | None:
    """The answer whose calls these results are of goes on."""
    for answer in _candidates(tx, place, digest):
        waiting = continuation.waiting(answer)
        if set(heard.results) <= waiting:
            return continuation.go_on(tx, answer, heard.results, wish)
    return None


def _followed(tx: Transaction, place: Place, heard: Heard, former: str | None, ask: Ask, wish: Wish) -> Turn | None:
    """The conversation whose newest answer is the last one of the history goes on with the question."""
    for answer in _candidates(tx, place, former):
        if answer.status != "failed" and heard.goes_on_from(answer.body):
            return _go_on(tx, answer.conversation_id, ask, wish)
    return None


def _once_more(tx: Transaction, place: Place, heard: Heard, digest: str, wish: Wish) -> Turn | None:
    """The same history and question again: an answer in the former one's place, which is kept as a version.

    A first question alone is a new conversation, unless its answer failed: saying the same twice is no repetition.
    """
    for answer in _candidates(tx, place, digest):
        if answer.status == "failed" or heard.history:
            return turns.accept(tx, answer.conversation_id, None, instead_of=answer.id, wish=wish)
    return None


def _kept(tx: Transaction, place: Place, ask: Ask, wish: Wish) -> Turn:
    """A new conversation that begins with the history as it was sent."""
    made = conversations.create(tx, place, metadata={"door": "v1"})
    last: Message | None = None
    for said in ask.heard.history:
        last = messages.append(tx, made.id, said.role, said.parts)
    if ask.heard.question is not None:
        return turns.accept(tx, made.id, ask.heard.question, client_message_id=ask.client_message_id, wish=wish)
    if last is None:
        raise Invalid(_("No answer here waits for a result."), field="messages")
    return continuation.go_on(tx, last, ask.heard.results, wish)
