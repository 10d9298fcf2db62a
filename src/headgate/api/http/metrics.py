"""Figures for Prometheus, in a registry of their own so that several services can live in one process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from headgate.fleet.model.objects import JOB_LIVE
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.runtime.health import CHECKS, Check
from headgate.runtime.worker import wall_clock
from headgate.runtime.workspace_engine import AfterCommit, WorkspaceEngine

Figure = TypeVar("Figure")
Make: TypeAlias = Callable[..., Figure]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_WORKSPACE = ("workspace",)
_REQUEST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_COMMIT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_BATCH_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)


class Metrics:
    """The worker's `Meter`, and the API's."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        self._begin_requests(counter, gauge, histogram)
        self._begin_work(counter, gauge, histogram)
        self._problem = gauge(
            "headgate_problem", "1 while the check finds something wrong.", ("check", *_WORKSPACE)
        )
        self._problems = counter(
            "headgate_problems", "How often the check began to find something wrong.", ("check", *_WORKSPACE)
        )
        for check in CHECKS:
            self._problem.labels(check, "").set(0)
        self._oldest_dispatch = gauge(
            "headgate_oldest_pending_order_seconds", "Age of the oldest job that no agent has taken yet."
        )

    def _begin_requests(self, counter: Make[Counter], gauge: Make[Gauge], histogram: Make[Histogram]) -> None:
        self._requests = counter("headgate_http_requests", "Requests answered.", ("operation", "status"))
        self._request_seconds = histogram(
            "headgate_http_request_seconds",
            "Time until the answer was complete; streams are not counted.",
            ("operation",),
            buckets=_REQUEST_SECONDS,
        )
        self._streams = gauge("headgate_http_streams", "Event streams that are open.")

    def _begin_work(self, counter: Make[Counter], gauge: Make[Gauge], histogram: Make[Histogram]) -> None:
        self._changes = counter("headgate_changes_accepted", "Changes accepted.", (*_WORKSPACE, "kind"))
        self._decisions = counter("headgate_decisions", "Decisions made.", _WORKSPACE)
        self._jobs_created = counter("headgate_jobs_created", "Jobs created.", (*_WORKSPACE, "kind"))
        self._jobs_ended = counter(
            "headgate_jobs_ended", "Jobs that ended, by how they ended.", (*_WORKSPACE, "status")
        )
        self._jobs = gauge("headgate_jobs", "Live jobs by status.", (*_WORKSPACE, "status"))
        self._units_waiting = gauge(
            "headgate_units_waiting",
            "Units that do not change yet, by why.",
            (*_WORKSPACE, "level", "reason"),
        )
        self._commit_seconds = histogram(
            "headgate_commit_seconds", "Time of one transaction.", _WORKSPACE, buckets=_COMMIT_SECONDS
        )
        self._batch_size = histogram(
            "headgate_batch_commands",
            "Commands that shared one transaction.",
            _WORKSPACE,
            buckets=_BATCH_SIZES,
        )
        self._replica_position = gauge(
            "headgate_replica_position", "Log entry up to which the replica is.", _WORKSPACE
        )
        self._lease_held = gauge("headgate_lease_held", "1 where this process decides.", _WORKSPACE)
        self._queue_depth = gauge("headgate_queue_depth", "Commands that wait for the worker.", _WORKSPACE)

    def render(self) -> bytes:
        return generate_latest(self.registry)

    def request_answered(self, operation: str, status: int, seconds: float) -> None:
        self._requests.labels(operation, str(status)).inc()
        self._request_seconds.labels(operation).observe(seconds)

    def stream_opened(self, operation: str) -> None:
        self._requests.labels(operation, "200").inc()
        self._streams.inc()

    def stream_closed(self) -> None:
        self._streams.dec()

    def batch(self, workspace: str, outcome: AfterCommit, seconds: float, size: int) -> None:
        self._commit_seconds.labels(workspace).observe(seconds)
        self._batch_size.labels(workspace).observe(size)
        if outcome.has_written:
            self._decisions.labels(workspace).inc()
        for kind, count in outcome.kinds.items():
            self._changes.labels(workspace, kind).inc(count)
        for kind, count in outcome.created.items():
            self._jobs_created.labels(workspace, kind).inc(count)
        for job in outcome.ended:
            self._jobs_ended.labels(workspace, job.status).inc()

    def kept(self, engine: WorkspaceEngine, queue_depth: int, oldest_dispatch: Instant | None) -> None:
        workspace = engine.workspace.name
        self._replica_position.labels(workspace).set(engine.position)
        self._lease_held.labels(workspace).set(1 if engine.is_leader else 0)
        self._queue_depth.labels(workspace).set(queue_depth)
        live = engine.live_jobs()
        for status in sorted(JOB_LIVE):
            self._jobs.labels(workspace, status).set(live.get(status, 0))
        for reason, count in engine.waiting_counts().items():
            self._units_waiting.labels(workspace, "fleet", reason.value).set(count)
        age = 0 if oldest_dispatch is None else max(0, wall_clock() - oldest_dispatch)
        self._oldest_dispatch.set(age / instants.MICROSECONDS_PER_SECOND)

    def problem(self, check: Check, workspace: str, is_wrong: bool) -> None:
        self._problem.labels(check, workspace).set(1 if is_wrong else 0)
        if is_wrong:
            self._problems.labels(check, workspace).inc()

    def forgotten(self, workspace: str) -> None:
        """A removed workspace leaves no figures behind that look as if it were there."""
        for metric in (
            self._decisions,
            self._commit_seconds,
            self._batch_size,
            self._replica_position,
            self._lease_held,
            self._queue_depth,
            self._changes,
            self._jobs_created,
            self._jobs_ended,
            self._jobs,
            self._units_waiting,
            self._problem,
            self._problems,
        ):
            metric.remove_by_labels({"workspace": workspace})
