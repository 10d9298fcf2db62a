"""With one process a stale write shows as a job for something that is no longer there, or dated in another moment."""

from collections.abc import Sequence
from typing import Any

from headgate.fleet import records
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.simulate.promises.base import Promise


class NoStaleWrite(Promise):
    name = "NoStaleWrite"
    sentence = "a decision made on a state that has moved is refused"

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        if job.created_at != now:
            self.broken(now, f"{job.target} {job.tag} is dated {instants.show(job.created_at)}")
        for kind, name in (
            ("Resource", job.resource),
            ("Environment", job.environment),
            ("Deployment", job.deployment),
        ):
            if name not in self.mirror.objects[kind]:
                self.broken(now, f"{job.target} {job.tag} started although {kind} {name} is gone")
