"""Figures for Prometheus, in a registry of their own so that several services can live in one process."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from headgate.runtime.health import CHECKS, Check

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_REQUEST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_COMMIT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_BATCH_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)


class Metrics:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        by_workspace = ("workspace",)
        self._requests = Counter(
            "headgate_http_requests", "Requests answered.", ("operation", "status"), registry=registry
        )
        self._request_seconds = Histogram(
            "headgate_http_request_seconds",
            "Time until the answer was complete; streams are not counted.",
            ("operation",),
            buckets=_REQUEST_SECONDS,
            registry=registry,
        )
        self._streams = Gauge("headgate_http_streams", "Event streams that are open.", registry=registry)
        self._changes = Counter(
            "headgate_changes_accepted", "Changes accepted.", ("workspace", "kind"), registry=registry
        )
        self._decisions = Counter("headgate_decisions", "Decisions made.", by_workspace, registry=registry)
        self._jobs_created = Counter(
            "headgate_jobs_created", "Jobs created.", ("workspace", "kind"), registry=registry
        )
        self._jobs_ended = Counter(
            "headgate_jobs_ended",
            "Jobs that ended, by how they ended.",
            ("workspace", "status"),
            registry=registry,
        )
        self._jobs = Gauge(
            "headgate_jobs", "Live jobs by status.", ("workspace", "status"), registry=registry
        )
        self._units_waiting = Gauge(
            "headgate_units_waiting",
            "Units that do not change yet, by why.",
            ("workspace", "level", "reason"),
            registry=registry,
        )
        self._commit_seconds = Histogram(
            "headgate_commit_seconds",
            "Time of one transaction.",
            by_workspace,
            buckets=_COMMIT_SECONDS,
            registry=registry,
        )
        self._batch_size = Histogram(
            "headgate_batch_commands",
            "Commands that shared one transaction.",
            by_workspace,
            buckets=_BATCH_SIZES,
            registry=registry,
        )
        self._replica_position = Gauge(
            "headgate_replica_position",
            "Log entry up to which the replica is.",
            by_workspace,
            registry=registry,
        )
        self._lease_held = Gauge(
            "headgate_lease_held", "1 where this process decides.", by_workspace, registry=registry
        )
        self._queue_depth = Gauge(
            "headgate_queue_depth", "Commands that wait for the worker.", by_workspace, registry=registry
        )
        self._problem = Gauge(
            "headgate_problem",
            "1 while the check finds something wrong.",
            ("check", "workspace"),
            registry=registry,
        )
        self._problems = Counter(
            "headgate_problems",
            "How often the check began to find something wrong.",
            ("check", "workspace"),
            registry=registry,
        )
        for check in CHECKS:
            self._problem.labels(check, "").set(0)
        self._oldest_order = Gauge(
            "headgate_oldest_pending_order_seconds",
            "Age of the oldest job that no agent has taken yet.",
            registry=registry,
        )

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

    def change_accepted(self, workspace: str, kind: str, count: int = 1) -> None:
        self._changes.labels(workspace, kind).inc(count)

    def decided(self, workspace: str, count: int = 1) -> None:
        self._decisions.labels(workspace).inc(count)

    def job_created(self, workspace: str, kind: str, count: int = 1) -> None:
        self._jobs_created.labels(workspace, kind).inc(count)

    def job_ended(self, workspace: str, status: str) -> None:
        self._jobs_ended.labels(workspace, status).inc()

    def jobs_live(self, workspace: str, status: str, count: int) -> None:
        self._jobs.labels(workspace, status).set(count)

    def units_waiting(self, workspace: str, level: str, reason: str, count: int) -> None:
        self._units_waiting.labels(workspace, level, reason).set(count)

    def committed(self, workspace: str, seconds: float, batch_size: int) -> None:
        self._commit_seconds.labels(workspace).observe(seconds)
        self._batch_size.labels(workspace).observe(batch_size)

    def replica_at(self, workspace: str, position: int) -> None:
        self._replica_position.labels(workspace).set(position)

    def lease_held(self, workspace: str, is_held: bool) -> None:
        self._lease_held.labels(workspace).set(1 if is_held else 0)

    def queue_depth(self, workspace: str, depth: int) -> None:
        self._queue_depth.labels(workspace).set(depth)

    def oldest_pending_order(self, seconds: float) -> None:
        self._oldest_order.set(seconds)

    def problem(self, check: Check, workspace: str, is_wrong: bool) -> None:
        self._problem.labels(check, workspace).set(1 if is_wrong else 0)
        if is_wrong:
            self._problems.labels(check, workspace).inc()

    def forget_workspace(self, workspace: str) -> None:
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
