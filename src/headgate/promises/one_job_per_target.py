"""At most one live job a target: two at once would change the same thing, and neither would know what runs in the end."""

from collections.abc import Sequence
from typing import Any

from headgate.fleet.model import objects as model
from headgate.fleet.model import records
from headgate.kernel.instants import Instant
from headgate.promises.base import Broken, FleetPromise
from headgate.promises.books.mirror import Mirror


class OneJobPerTarget(FleetPromise):
    name = "OneJobPerTarget"
    sentence = "a release target has at most one live job"

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._live: dict[str, str] = {}

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        other = self._live.get(job.target)
        if other is not None and other != job.id:
            self.broken(now, f"{job.target} has the jobs {other} and {job.id}")
        self._live[job.target] = job.id

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.status not in model.JOB_LIVE and self._live.get(job.target) == job.id:
            del self._live[job.target]
