"""The worker's figures, as metrics."""

from __future__ import annotations

from headgate.api.metrics import Metrics
from headgate.fleet.model import JOB_LIVE
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.runtime.keeper import Keeper, Outcome
from headgate.runtime.worker import wall_clock


class MetricsMeter:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def batch(self, workspace: str, outcome: Outcome, seconds: float, size: int) -> None:
        metrics = self._metrics
        metrics.committed(workspace, seconds, size)
        if outcome.has_written:
            metrics.decided(workspace)
        for kind, count in outcome.kinds.items():
            metrics.change_accepted(workspace, kind, count)
        for kind, count in outcome.created.items():
            metrics.job_created(workspace, kind, count)
        for job in outcome.ended:
            metrics.job_ended(workspace, job.status)

    def kept(self, keeper: Keeper, queue_depth: int, oldest_order: Instant | None) -> None:
        metrics, workspace = self._metrics, keeper.workspace.name
        metrics.replica_at(workspace, keeper.position)
        metrics.lease_held(workspace, keeper.is_leader)
        metrics.queue_depth(workspace, queue_depth)
        live = keeper.live_jobs()
        for status in sorted(JOB_LIVE):
            metrics.jobs_live(workspace, status, live.get(status, 0))
        for reason, count in keeper.waiting_counts().items():
            metrics.units_waiting(workspace, "fleet", reason.value, count)
        age = 0 if oldest_order is None else max(0, wall_clock() - oldest_order)
        metrics.oldest_pending_order(age / instants.MICROSECONDS_PER_SECOND)

    def forgotten(self, workspace: str) -> None:
        self._metrics.forget_workspace(workspace)
