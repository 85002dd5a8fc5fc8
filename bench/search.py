"""Search and lists over a million messages, beside the ILIKE scan that others use, on the same rows in the same run."""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg

from bench import corpus
from bench.store import fresh_database
from nexus_core import people, search, signin
from nexus_core.database import Scope, transaction
from nexus_core.search import Filter

QUERIES = (
    "descuento", "the", "de", "contrato norte", "calibration sensor", '"price list"', "migr", "facturas marzo",
    "decided contract", "La directora", '"has not sent"', "Jérôme remise", "jero", "折扣", "数据库", "问题", "ref 10",
    "presupuesto próximo año firma", "Oslo", "bilbao entrega", "no such word anywhere", "tecnicos riesgos", "rui",
    "board", "100%", "foo_bar", "signature missing reason", "precios cuidado", "catalogue autumn Leeds", "contr",
)  # fmt: skip
COMMON = ("contrato", "calibration", "Jérôme", "norte")
ILIKE = """
SELECT c.id, c.title, max(m.created_at) FROM messages m
JOIN conversations c ON c.workspace_id = m.workspace_id AND c.id = m.conversation_id
WHERE m.workspace_id = %s AND m.body ILIKE %s GROUP BY c.id, c.title ORDER BY max(m.created_at) DESC LIMIT 25
"""


def measure(size: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of searches, of list pages, of the scan and of `SELECT 1`, each as the caller waits for it."""
    with fresh_database() as url, psycopg.connect(url, autocommit=True) as admin:
        scope = signin.scope_for(signin.local_owner(), None, "cli")
        with transaction(Scope(scope.workspace_id, scope.user_id, "system")) as tx:
            others = [
                people.create(tx, f"person{number}@example.com", f"Person {number}", "operator").id
                for number in range(5)
            ]
        began = time.perf_counter()
        corpus.fill(admin, scope, size, others)
        loaded = time.perf_counter() - began
        filters = list(_filters(admin, others))
        references = [str(row[0]) for row in admin.execute(
            "SELECT substring(body FROM 'Ref (\\d+)') FROM messages TABLESAMPLE SYSTEM (1) LIMIT 10")]  # fmt: skip
        queries = [*QUERIES, *(f"ref {reference}" for reference in references)]
        some = (Filter(), *filters[:: len(filters) // 3])
        asked = [q for q in queries for _filter in some]
        searches = [lambda q=q, f=f: _find(scope, q, f) for q in queries for f in some]
        lists = [lambda f=f, s=s: _find(scope, "", f, s) for f in (Filter(), *filters) for s in search.SORTS]
        for call in (*searches, *lists):  # plans and caches
            call()
        scans = [lambda q=q: _scan(admin, scope, q) for q in (*COMMON, references[0])]
        found, listed, scanned = [], [], []
        for _round in range(rounds):  # in turns: how fast a machine is may change within a minute
            found += _times(searches, 1)
            listed += _times(lists, 1)
            scanned += _times(scans, 1)
        floor = _times([lambda: admin.execute("SELECT 1").fetchall()], 200)
    return {
        "messages": size,
        "search_p95_ms": _p95(found),
        "list_p95_ms": _p95(listed),
        "ilike_p50_ms": round(statistics.median(scanned), 3),
        "search_p50_ms": round(statistics.median(found), 3),
        "floor_ms": round(statistics.median(floor), 3),
        "list_p50_ms": round(statistics.median(listed), 3),
        "load_seconds": round(loaded, 1),
        "slowest": sorted(zip(found, asked * rounds, strict=True), reverse=True)[:8],
    }  # fmt: skip


def _filters(admin: psycopg.Connection[Any], people_ids: list[UUID]) -> Iterable[Filter]:
    projects = [row[0] for row in admin.execute("SELECT id FROM projects ORDER BY name")]
    tags = [row[0] for row in admin.execute("SELECT id FROM tags ORDER BY name")]
    now = datetime.now(UTC)
    yield from (Filter(project_id=projects[0]), Filter(project_id=projects[-1]), Filter(outside=True))
    yield from (Filter(just_chat=True), Filter(kind="decision"), Filter(status="archived"), Filter(tag_id=tags[0]))
    yield Filter(status="active")
    yield from (Filter(person_id=people_ids[0]), Filter(since=now - timedelta(days=30)))
    yield Filter(since=now - timedelta(days=800), until=now - timedelta(days=700))
    yield Filter(project_id=projects[3], kind="task", status="open", tag_id=tags[1], person_id=people_ids[1])


def _find(scope: Scope, text: str, filter: Filter, sort: search.Sort = "best") -> None:
    with transaction(scope) as tx:
        search.find(tx, text, filter, sort=sort)


def _scan(admin: psycopg.Connection[Any], scope: Scope, text: str) -> None:
    admin.execute(ILIKE, (scope.workspace_id, f"%{text}%")).fetchall()


def _times(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    times = []
    for _round in range(rounds):
        for call in calls:
            began = time.perf_counter()
            call()
            times.append((time.perf_counter() - began) * 1000)
    return times


def _p95(times: list[float]) -> float:
    return round(statistics.quantiles(times, n=20)[18], 3)


def main() -> None:
    """Print the figures, or with --json one object."""
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="times that each search and each page is asked for")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    found = measure(arguments.messages, arguments.rounds)
    slowest = found.pop("slowest")
    if arguments.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:>16} {value:>14,}")
    print(f"{'as fast as ILIKE':>16} × {found['ilike_p50_ms'] / found['search_p50_ms']:,.0f}")
    for took, text in slowest:
        print(f"{took:>10.1f} ms  {text}")


if __name__ == "__main__":
    main()
