"""An answer that called a program's own tools, and goes on in its place once the program has run them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from uuid6 import uuid7

from nexus_core import parts as parts_
from nexus_core import turns
from nexus_core.database import Json, Transaction
from nexus_core.errors import Invalid
from nexus_core.i18n import _
from nexus_core.messages import Message
from nexus_core.setups import Wish, load
from nexus_core.turns import Turn

OPEN = "input-available"
DONE = "output-available"


def waiting(answer: Message) -> set[str]:
    """The ids of the calls of an answer that wait for their result, or may get it again, as what followed failed."""
    states = {"complete": (OPEN,), "failed": (OPEN, DONE)}.get(answer.status, ())
    return {str(part["toolCallId"]) for part in answer.parts if part.get("state") in states}


def answered(answer: Message, results: Mapping[str, str]) -> list[dict[str, Any]]:
    """The answer's parts up to the calls that `results` (call id → text) answer, these filled in.

    Raises Invalid where one of them answers no call of it.
    """
    places = {str(part.get("toolCallId")): n for n, part in enumerate(answer.parts) if _is_known(part)}
    if missing := [call_id for call_id in results if call_id not in places]:
        raise Invalid(_("There is no call {id} that waits for a result.").format(id=missing[0]), field="messages")
    upto = max(places[call_id] for call_id in results) + 1
    return [
        part | {"state": DONE, "output": results[str(part["toolCallId"])]}
        if str(part.get("toolCallId")) in results
        else part
        for part in answer.parts[:upto]
    ]


def repeats(answer: Message, results: Mapping[str, str]) -> bool:
    """Whether an answer that has these results already has gone on from them, to its end or still."""
    known = {str(part.get("toolCallId")): part.get("output") for part in answer.parts if part.get("state") == DONE}
    return answer.status != "failed" and all(known.get(call_id) == result for call_id, result in results.items())


def fill_in(tx: Transaction, answer: Message, results: Mapping[str, str]) -> None:
    """Store results with their calls, where the conversation goes on with something else. Raises Invalid."""
    filled = answered(answer, results)
    parts = filled + answer.parts[len(filled) :]
    tx.execute("turns.fill_in", answer_id=answer.id, parts=Json(parts))


def go_on(tx: Transaction, answer: Message, results: Mapping[str, str], wish: Wish) -> Turn:
    """Take the conversation's lease and let the answer go on from its calls' `results`, under a run of its own.

    Raises Forbidden, NotFound, Invalid, Busy.
    """
    tx.scope.require("operator")
    begun = [*answered(answer, results), parts_.step_start()]
    loaded = load(tx, answer.conversation_id, wish)
    turns.free(tx, loaded)
    run_id, request_id = uuid7(), uuid7()
    tx.execute(
        "turns.go_on",
        conversation_id=answer.conversation_id,
        answer_id=answer.id,
        run_id=run_id,
        request_id=request_id,
        parts=Json(begun),
        **turns.entered(loaded, next(iter(results.values()))),
    )
    turn = turns.turn_of(tx, loaded, request_id, run_id, 1, _question_seq(answer), answer.id)
    return turns.admitted(tx, replace(turn, tools=wish.tools, begun=tuple(begun)))


def _question_seq(answer: Message) -> int:
    if answer.parent_seq is None:
        raise Invalid(_("There is no question before this answer."))
    return answer.parent_seq


def _is_known(part: Mapping[str, Any]) -> bool:
    return part.get("state") in (OPEN, DONE) and isinstance(part.get("toolCallId"), str)
