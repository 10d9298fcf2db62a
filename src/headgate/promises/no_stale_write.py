"""A write on a state that has moved.

In the fleet, with one process, it shows as a job for something that is no longer there, or dated in another moment; in a
graph as an object that goes back.
"""

from collections.abc import Sequence
from typing import Any

from headgate.fleet.model import records
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.promises.base import FleetPromise, GraphPromise, Promise
from headgate.promises.books.graph_writes import GraphWrite


class NoStaleWrite(Promise):
    name = "NoStaleWrite"
    sentence = "a decision made on a state that has moved is refused"


class FleetNoStaleWrite(NoStaleWrite, FleetPromise):
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


class GraphNoStaleWrite(NoStaleWrite, GraphPromise):
    sentence = "an object never goes back to an older revision"

    def written(self, write: GraphWrite) -> None:
        before = write.revision_before
        if before is not None and write.revision < before:
            item = write.object
            self.broken(write.at, f"{item.kind} {item.name} goes from revision {before} to {write.revision}")
