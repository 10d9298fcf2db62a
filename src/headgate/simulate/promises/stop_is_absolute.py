from collections.abc import Sequence
from typing import Any

from headgate.fleet import records
from headgate.kernel.instants import Instant
from headgate.simulate.promises.base import Promise


class StopIsAbsolute(Promise):
    name = "StopIsAbsolute"
    sentence = "after a freeze or pause is acknowledged, no new unit starts"

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        for freeze in self.mirror.freezes_over(job.deployment, job.environment, job.resource, now):
            self.broken(now, f"{job.target} {job.tag} started under the freeze {freeze.name}")
        version = self.mirror.version(job.deployment, job.tag)
        is_paused = version is not None and version.status == "paused"
        if is_paused and job.group is None and job.kind == "deploy":
            self.broken(now, f"{job.target} started the paused version {job.tag}")
