"""Of what carries the label of a set: nothing beyond its replicas, nothing without it, nothing on its way out."""

from collections.abc import Collection

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.promises.base import WorkloadPromise
from headgate.workload import labels
from headgate.workload.model import PodCliqueSet


class NothingLeaked(WorkloadPromise):
    name = "NothingLeaked"
    sentence = "when all is done nothing is left that no set wants"

    def left_over(self, sets: Collection[PodCliqueSet], now: Instant) -> None:
        wanted = {(pcs.namespace, pcs.name): pcs.replicas for pcs in sets}
        for item in self.cluster:
            pcs = item.labels.get(labels.PART_OF)
            if pcs is None:
                continue
            what = f"{item.kind} {item.name}"
            index = item.labels.get(labels.PCS_REPLICA_INDEX)
            replicas = wanted.get((item.namespace, pcs))
            if replicas is None:
                self.broken(now, f"{what} is left of {pcs}, which is gone")
            elif item.deleted_at is not None:
                self.broken(now, f"{what} is on its way out and never goes")
            elif index is not None and int(index) >= replicas:
                self.broken(now, f"{what} is of replica {index}, and {pcs} has {replicas}")
            elif item.kind == "PodGang":
                self._judge_gang(item, now)

    def _judge_gang(self, gang: Object, now: Instant) -> None:
        for group in gang.spec.get("podgroups") or ():
            key = Key("grove.io", "PodClique", gang.namespace, str(group.get("name", "")))
            if self.cluster.get(key) is None:
                self.broken(now, f"PodGang {gang.name} has a group for {key.name}, which is gone")
