"""The turn as people know it: send, answer again, edit, stop, watch."""

import time
from collections.abc import Callable
from uuid import UUID

from nexus_core import conversations, messages, meters, turns
from nexus_core.conversations import Place
from nexus_core.database import Scope, Transaction, transaction
from nexus_core.draft import Live
from nexus_core.errors import Busy, Conflict
from nexus_core.messages import Message
from nexus_core.turns import Turn
from nexus_core.worker import worker

LOOK_SECONDS = 0.01
LOOKS_PER_SECOND = 50
"""How often this process may be asked, by all pages together, how far an answer has come; each look costs some 3 ms."""
NOWHERE = Place()
"""Just Chat outside any project."""


def send(
    scope: Scope,
    message: str,
    *,
    conversation_id: UUID | None = None,
    place: Place = NOWHERE,
    session_id: str | None = None,
    client_message_id: str | None = None,
) -> Turn:
    """Store a person's message and have it answered; returns once it is stored, before the model is called.

    Without `conversation_id` the message goes to the conversation of `session_id` in `place`, made when it is not
    there, or, without a session, to the one that is active there. The same `client_message_id` again stores and
    starts nothing and gives the same turn. Where a budget is used up the turn is `blocked`: the question is stored,
    its answer says why there is none. Raises Forbidden, NotFound, Invalid, Busy, StoreUnavailable; then nothing was
    stored.
    """
    scope.require("operator")

    def accept(tx: Transaction) -> Turn:
        found = conversation_id
        if found is None:
            active = None if session_id else conversations.active(tx, place)
            found = (active or conversations.create(tx, place, session_id=session_id)).id
        return turns.accept(tx, found, message, client_message_id=client_message_id)

    def before(tx: Transaction, message_id: str) -> Turn | None:
        return turns.repeated(tx, message_id, message, conversation_id=conversation_id, session_id=session_id)

    return begin(scope, accept, client_message_id, before)


def begin(
    scope: Scope,
    accept: Callable[[Transaction], Turn],
    client_message_id: str | None,
    before: Callable[[Transaction, str], Turn | None] = turns.repeated,
) -> Turn:
    """Accept a turn and have it answered; the same send again, or twice at once, gives the turn that it began."""
    try:
        with transaction(scope) as tx:
            turn = accept(tx)
    except (Conflict, Busy):
        with transaction(scope) as tx:
            known = before(tx, client_message_id) if client_message_id else None
        if known is None:
            raise
        return known
    meters.begun(scope.door)
    if turn.blocked:
        meters.ended("answer", "blocked", None, {}, error_type="budget")
    else:
        worker().submit(turn, scope)
    return turn


def answer_again(scope: Scope, message_id: UUID) -> Turn:
    """Have a question answered again, in the place of the answer `message_id`, which is kept as a version.

    Raises Forbidden, NotFound, Busy, StoreUnavailable.
    """
    return _replace(scope, message_id, None, None)


def edit(scope: Scope, message_id: UUID, message: str, *, client_message_id: str | None = None) -> Turn:
    """Send `message` in the place of the person's message `message_id`; the former way on is kept as a version.

    Raises Forbidden, NotFound, Invalid, Busy, StoreUnavailable.
    """
    return _replace(scope, message_id, message, client_message_id)


def _replace(scope: Scope, message_id: UUID, message: str | None, client_message_id: str | None) -> Turn:

    def accept(tx: Transaction) -> Turn:
        former = messages.get(tx, message_id)
        return turns.accept(
            tx, former.conversation_id, message, instead_of=message_id, client_message_id=client_message_id
        )

    return begin(scope, accept, client_message_id)


def stop(scope: Scope, conversation_id: UUID) -> bool:
    """Stop the answer that is being written, by whichever process; what came so far stays. False: there was none.

    Raises Forbidden, and StoreUnavailable where another process would have to be asked.
    """
    if stop_here(scope, conversation_id):
        return True
    with transaction(scope) as tx:
        asked = turns.request_stop(tx, conversation_id)
    if asked:
        worker().stop_answer(conversation_id)
    return asked


def stop_here(scope: Scope, conversation_id: UUID) -> bool:
    """Stop an answer that this person began and this process writes, at once and without the database; else False.

    The answer's own end is stored as soon as the database can be reached. Raises Forbidden.
    """
    scope.require("operator")
    return scope.user_id is not None and worker().stop_answer(conversation_id, begun_by=scope.user_id)


def show_version(scope: Scope, message_id: UUID) -> None:
    """Show another version of an answer or question. Raises Forbidden, NotFound, Busy."""
    scope.require("operator")
    with transaction(scope) as tx:
        conversations.require_idle(tx, messages.get(tx, message_id).conversation_id)
        messages.show_version(tx, message_id)


def live(message: Message, patience: float = 0.0) -> Live:
    """A message's parts as far as they have come: from this process while it writes them, else from its row.

    Waits at most `patience` seconds for the first words of an answer that this process has just begun.
    """
    until = time.monotonic() + patience
    while True:
        found = worker().live(message.id) if message.status == "streaming" else None
        if found is None or found.version or time.monotonic() > until:
            return found or Live(message.parts, 0)
        time.sleep(LOOK_SECONDS)


def pace(shortest: float) -> float:
    """Seconds from one look at an answer to the next: `shortest`, or more where many are being written here."""
    return max(shortest, round(worker().count() / LOOKS_PER_SECOND, 1))


def read(tx: Transaction, conversation_id: UUID, *, before: int | None = None, limit: int = 40) -> list[Message]:
    """A page of a conversation, oldest first, and its newest message marked as read by this person."""
    page = messages.page(tx, conversation_id, before=before, limit=limit)
    if page and before is None and page[-1].status != "streaming":
        conversations.mark_read(tx, conversation_id, page[-1].seq)
    return page
