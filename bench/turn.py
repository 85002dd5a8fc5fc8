"""A turn's database work beside hand-written psycopg that does only the same durable writes and the same read."""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb
from uuid6 import uuid7

from bench.store import fresh_database
from nexus_core import context, conversations, parts, signin, tokens, turns
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction
from nexus_core.ledger import Outcome
from nexus_core.stream import Usage

SIZES = (10, 100, 1_000, 10_000)
QUESTION = "Where did we leave the discount for the northern region, and who has to agree to it?"
ANSWER = "We decided on 12 % in May; Ana wanted to hear the northern team first, and they agreed on the 14th. " * 4
WINDOW = 40

# The same rows without row-level security, triggers and foreign keys, for the hand-written side.
BARE = """
CREATE SCHEMA bare;
CREATE TABLE bare.conversations (LIKE public.conversations INCLUDING ALL);
CREATE TABLE bare.messages (LIKE public.messages INCLUDING ALL);
ALTER TABLE bare.messages ALTER place DROP NOT NULL;
CREATE TABLE bare.assistant_runs (LIKE public.assistant_runs INCLUDING ALL);
CREATE TABLE bare.receipts (LIKE public.receipts INCLUDING ALL);
"""
FILL = """
INSERT INTO {schema}.messages
  (workspace_id, id, conversation_id, private_to, seq, parent_seq, role, parts, body, tokens)
SELECT %(workspace)s, gen_random_uuid(), %(conversation)s, %(user)s, n, nullif(n - 1, 0),
       CASE WHEN n %% 2 = 1 THEN 'user' ELSE 'assistant' END,
       jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('some words of a message ', 12))),
       repeat('some words of a message ', 12), 64
FROM generate_series(1, %(size)s) AS n
"""


class Ours:
    """The product's own functions, as chat and worker call them."""

    def __init__(self, scope: Scope, conversation_id: UUID) -> None:
        self.scope = scope
        self.conversation_id = conversation_id

    def turn(self) -> None:
        with transaction(self.scope) as tx:
            turn = turns.accept(tx, self.conversation_id, QUESTION, client_message_id=str(uuid7()))
        with transaction(self.scope) as tx:
            prepared = context.build(tx, turn)
        usage = Usage(input_tokens=900, output_tokens=120, source="estimated")
        outcome = Outcome(
            "succeeded", [parts.text(ANSWER)], usage, 900, 200, "builtin/recall", None, None, None, prepared.receipt
        )
        with transaction(self.scope) as tx:
            assert turns.finish(tx, turn, outcome)


class HandWritten:
    """What a careful person would write by hand: the same rows, one statement each, prepared by psycopg."""

    def __init__(self, url: str, workspace: UUID | None, user: UUID | None, conversation: UUID) -> None:
        self.connection = psycopg.connect(url)
        self.ids = {"workspace": workspace, "user": user, "conversation": conversation}

    def turn(self) -> None:
        run_id, answer_id = uuid7(), uuid7()
        ids = self.ids | {"run": run_id, "request": uuid7(), "answer": answer_id, "question": uuid7()}
        with self.connection.cursor() as cursor:
            cursor.execute(
                "UPDATE bare.conversations SET next_seq = next_seq + 2, last_message_at = clock_timestamp(),"
                " active_run_id = %(run)s WHERE workspace_id = %(workspace)s AND id = %(conversation)s"
                " RETURNING next_seq - 2",
                ids,
            )
            first = cursor.fetchone()
            seq = first[0] if first else 0
            cursor.execute(
                "INSERT INTO bare.messages (workspace_id, id, conversation_id, private_to, seq, parent_seq, role,"
                " parts, body, tokens, user_id, client_message_id) VALUES (%(workspace)s, %(question)s,"
                " %(conversation)s, %(user)s, %(seq)s, nullif(%(seq)s - 1, 0), 'user', %(parts)s, %(body)s, 20,"
                " %(user)s, %(client)s)",
                ids | {"seq": seq, "parts": Jsonb([parts.text(QUESTION)]), "body": QUESTION, "client": str(uuid7())},
            )
            cursor.execute(
                "INSERT INTO bare.assistant_runs (workspace_id, id, request_id, conversation_id, user_id, model,"
                " status, started_at) VALUES (%(workspace)s, %(run)s, %(request)s, %(conversation)s, %(user)s,"
                " 'builtin/recall', 'running', clock_timestamp())",
                ids,
            )
            self.connection.commit()
            cursor.execute(
                "SELECT seq, role, parts, tokens, metadata, status, id, conversation_id FROM bare.messages"
                " WHERE workspace_id = %(workspace)s AND conversation_id = %(conversation)s AND active"
                " ORDER BY seq DESC LIMIT %(window)s",
                ids | {"window": WINDOW},
            )
            rows = cursor.fetchall()
            self.connection.commit()
            receipt = {"messages": [{"seq": row[0], "id": str(row[6]), "tokens": row[3]} for row in rows]}
            cursor.execute(
                "INSERT INTO bare.messages (workspace_id, id, conversation_id, private_to, seq, parent_seq, role,"
                " parts, body, tokens, run_id, model) VALUES (%(workspace)s, %(answer)s, %(conversation)s, %(user)s,"
                " %(seq)s + 1, %(seq)s, 'assistant', %(parts)s, %(body)s, 120, %(run)s, 'builtin/recall')",
                ids | {"seq": seq, "parts": Jsonb([parts.text(ANSWER)]), "body": ANSWER},
            )
            cursor.execute(
                "UPDATE bare.assistant_runs SET status = 'succeeded', input_tokens = 900, output_tokens = 120,"
                " usage_source = 'estimated', duration_ms = 900, first_token_ms = 200, finished_at = clock_timestamp()"
                " WHERE workspace_id = %(workspace)s AND id = %(run)s",
                ids,
            )
            cursor.execute(
                "INSERT INTO bare.receipts (workspace_id, run_id, conversation_id, private_to, receipt)"
                " VALUES (%(workspace)s, %(run)s, %(conversation)s, %(user)s, %(receipt)s)",
                ids | {"receipt": Jsonb(receipt)},
            )
            cursor.execute(
                "UPDATE bare.conversations SET active_run_id = NULL, last_message_at = clock_timestamp()"
                " WHERE workspace_id = %(workspace)s AND id = %(conversation)s",
                ids,
            )
            self.connection.commit()


def measure(turns_per_size: int) -> dict[str, Any]:
    """Median milliseconds of a turn on both sides at each size, interleaved, and their ratio."""
    with fresh_database() as url:
        scope = signin.scope_for(signin.local_owner(), None, "cli")
        pairs: dict[int, tuple[Ours, HandWritten]] = {}
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(BARE)
            for size in SIZES:
                with transaction(scope) as tx:
                    conversation = conversations.create(tx, Place(), title=f"{size} messages")
                ids = {"workspace": scope.workspace_id, "user": scope.user_id, "conversation": conversation.id}
                admin.execute(FILL.format(schema="public"), ids | {"size": size})
                admin.execute("UPDATE conversations SET next_seq = %s WHERE id = %s", (size + 1, conversation.id))
                admin.execute("DELETE FROM search_queue")
                admin.execute(
                    "INSERT INTO bare.conversations (workspace_id, id, user_id, title, next_seq)"
                    " VALUES (%(workspace)s, %(conversation)s, %(user)s, 'bare', %(size)s + 1)",
                    ids | {"size": size},
                )
                admin.execute(FILL.format(schema="bare"), ids | {"size": size})
                pairs[size] = (Ours(scope, conversation.id), HandWritten(url, *ids.values()))
            admin.execute("VACUUM ANALYZE")
        times = _interleaved(pairs, turns_per_size)
        for _ours, by_hand in pairs.values():
            by_hand.connection.close()
    medians = {
        side: {size: statistics.median(values) for size, values in sizes.items()} for side, sizes in times.items()
    }
    ratio = {str(size): round(medians["ours"][size] / medians["hand"][size], 3) for size in SIZES}
    return {"ours_ms": medians["ours"], "hand_ms": medians["hand"], "ratio": ratio,
            "growth": round(medians["ours"][10_000] / medians["ours"][100], 3)}  # fmt: skip


def _interleaved(pairs: dict[int, tuple[Ours, HandWritten]], rounds: int) -> dict[str, dict[int, list[float]]]:
    times: dict[str, dict[int, list[float]]] = {"ours": {s: [] for s in pairs}, "hand": {s: [] for s in pairs}}
    tokens.count("warm")
    for number in range(rounds + 10):
        for size, (ours, by_hand) in pairs.items():
            sides: list[tuple[str, Callable[[], None]]] = [("ours", ours.turn), ("hand", by_hand.turn)]
            for side, turn in sides if number % 2 else reversed(sides):
                began = time.perf_counter()
                turn()
                if number >= 10:  # the first rounds warm plans and caches
                    times[side][size].append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    """Print a table, or with --json {"ratio": {"10": …}, "growth": …}."""
    parser = argparse.ArgumentParser(prog="python -m bench.turn", description=__doc__)
    parser.add_argument("--turns", type=int, default=150, help="turns measured at each size")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    found = measure(arguments.turns)
    if arguments.json:
        print(json.dumps({"ratio": found["ratio"], "growth": found["growth"]}))
        return
    print(f"{'messages':>10} {'Nexus ms':>10} {'by hand ms':>11} {'ratio':>7}")
    for size in SIZES:
        ratio = found["ratio"][str(size)]
        print(f"{size:>10,} {found['ours_ms'][size]:>10.2f} {found['hand_ms'][size]:>11.2f} {ratio:>7.2f}")
    print(f"growth from 100 to 10,000 messages: {found['growth']:.2f}")


if __name__ == "__main__":
    main()
