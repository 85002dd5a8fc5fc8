"""/metrics: what Prometheus reads there, of bounded labels, and who may."""

import time

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from nexus_core import chat, config, worker
from nexus_core.database import Scope, engine
from nexus_core.turns import Turn
from tests.api.conftest import Program, door
from tests.nexus_core.conversing import connect, project, settled, until
from tests.nexus_core.faulty_server import FaultyServer
from tests.nexus_core.model_server import ModelServer, Tap

SECRET = "scraper-of-this-test"


def figures(client: TestClient | httpx2.Client) -> dict[str, float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    return {
        sample.name + "".join(f"[{value}]" for _name, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_what_goes_on_is_counted(program: Program, ready: Scope, client: TestClient) -> None:
    admin, before = program(ready), figures(program(ready))

    def more(name: str) -> float:
        return round(now.get(name, 0) - before.get(name, 0), 6)

    tap = Tap()
    with ModelServer(tap) as server:
        connect(ready, server.base)
        turn: Turn = chat.send(ready, "Count")
        tap.flowing.wait(10)
        now = figures(admin)
        assert (now["nexus_answers"], more("nexus_turns_total[page]")) == (1, 1)
        tap.opened.set()
        settled(ready, turn)
        client.post("/api/chat", json={"message": "Hi", "projectId": str(project(ready))})
    with FaultyServer([], status="401 Unauthorized", headers=()) as server:
        connect(ready, server.base, slug="broken")
        settled(ready, chat.send(ready, "Hello?"))
    until(lambda: worker.worker().last("reap") and not worker.worker().queue())
    now = figures(admin)
    assert now["nexus_answers"] == now["nexus_streams"] == now["nexus_worker_queue"] == 0
    assert [more(f"nexus_turns_total[{name}]") for name in ("page", "api")] == [2, 1]
    assert more("nexus_runs_total[answer][local][succeeded]") == 2
    assert more("nexus_runs_total[answer][local][failed]") == 1 == more("nexus_run_failures_total[authentication]")
    assert (more("nexus_tokens_total[input]"), more("nexus_tokens_total[output]")) == (22, 14)
    assert more("nexus_cost_usd_total") == pytest.approx(2 * (11 * 0.15 + 7 * 0.6) / 1e6, abs=1e-6)
    assert more("nexus_run_duration_seconds_count") == 3 and more("nexus_first_token_seconds_count") == 2
    assert 0 < time.time() - now["nexus_job_last_success_timestamp_seconds[reap]"] < 60
    assert now["nexus_database_connections_limit"] == 30 and now["nexus_database_connections[idle]"] >= 1
    assert any(name.startswith("nexus_build_info") for name in now) and "python_gc_collections_total[0]" in now


def test_figures_of_all_workspaces_are_for_administrators_and_the_scraper(
    program: Program, ready: Scope, client: TestClient, reader: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    anyone = TestClient(door, base_url="http://nexus.test:8501")
    scraper = {"authorization": f"Bearer {SECRET}"}
    assert [one.get("/metrics").status_code for one in (anyone, reader, client, program(ready))] == [401, 403, 403, 200]
    assert anyone.get("/metrics", headers=scraper).status_code == 401
    monkeypatch.setenv("NEXUS_METRICS_TOKEN", SECRET)
    config.reset()
    assert anyone.get("/metrics", headers=scraper).status_code == 200
    for wrong in ("Bearer", "Bearer ", f"Basic {SECRET}", f"Bearer {SECRET}x", "Bearer é".encode()):
        assert anyone.get("/metrics", headers={"authorization": wrong}).status_code == 401
    assert anyone.get("/api/agents", headers=scraper).status_code == 401, "it opens nothing else"
    assert engine().pool is not None
