"""A crash may lose nothing: the engine that comes back decides as the one that went on would have decided."""

from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.kernel.instants import Instant
from headgate.promises.base import Broken, FleetPromise, canonical, first_difference
from headgate.promises.books.mirror import Mirror


class NoLostEvent(FleetPromise):
    name = "NoLostEvent"
    sentence = "every accepted change is reflected in a decision or is still queued after a crash"

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._reported: dict[str, str] = {}
        self._ended: set[str] = set()

    def reported(self, report: changes.JobReported, now: Instant) -> None:
        if report.status in model.JOB_TERMINAL and report.job not in self._ended:
            self._reported[report.job] = report.status

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.status in model.JOB_TERMINAL:
            self._ended.add(job.id)
            self._reported.pop(job.id, None)

    def decided(self, now: Instant) -> None:
        for job, status in self._reported.items():
            self.broken(now, f"the report {status} for job {job} was accepted and changed nothing")
        self._reported.clear()

    def compared(self, survivor: bytes, reloaded: bytes, now: Instant) -> None:
        if survivor != reloaded and (survivor := canonical(survivor)) != (reloaded := canonical(reloaded)):
            self.broken(now, f"after the crash the decisions differ: {first_difference(survivor, reloaded)}")
