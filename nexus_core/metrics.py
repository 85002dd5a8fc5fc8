"""The figures of this process as Prometheus reads them: what was counted, and what is going on at this moment."""

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.pool import QueuePool

from nexus_core import __version__, database, meters
from nexus_core.errors import NexusError
from nexus_core.worker import JOBS, worker

CONTENT_TYPE = CONTENT_TYPE_LATEST


class _Now(Collector):
    """Looked at when it is asked for; the database is not."""

    def collect(self) -> Iterator[Metric]:
        """The gauges."""
        yield InfoMetricFamily("nexus_build", "The version that runs.", {"version": __version__})
        yield GaugeMetricFamily("nexus_answers", "Answers that are being written here.", worker().count())
        yield GaugeMetricFamily("nexus_worker_queue", "The worker's other calls that have not ended.", worker().queue())
        jobs = GaugeMetricFamily(
            "nexus_job_last_success_timestamp_seconds", "When a job beside the answers last ended well.", labels=["job"]
        )
        for job in JOBS:
            if last := worker().last(job):
                jobs.add_metric([job], last.timestamp())
        yield jobs
        yield from _pool()


def _pool() -> Iterator[Metric]:
    try:
        pool = database.engine().pool
    except NexusError:
        return
    if isinstance(pool, QueuePool):
        found = GaugeMetricFamily("nexus_database_connections", "Connections to PostgreSQL.", labels=["state"])
        found.add_metric(["in_use"], pool.checkedout())
        found.add_metric(["idle"], pool.checkedin())
        yield found
        most = pool.size() + pool._max_overflow  # which has no public name
        yield GaugeMetricFamily("nexus_database_connections_limit", "As many can be in use at once.", most)


meters.REGISTRY.register(_Now())
for _collector in (ProcessCollector, PlatformCollector, GCCollector):
    _collector(registry=meters.REGISTRY)


def exposition() -> bytes:
    """Everything, in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/)."""
    return generate_latest(meters.REGISTRY)
