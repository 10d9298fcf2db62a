"""A pod's hostname is how its neighbours find it: two holders at a time would be one too many."""

from headgate.cluster.port import ClusterPort, ObjectChange
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.promises.base import Broken, WorkloadPromise


class UniqueHostname(WorkloadPromise):
    name = "UniqueHostname"
    sentence = "an index is used again only when its previous holder is gone"

    def __init__(self, cluster: ClusterPort, broken: Broken) -> None:
        super().__init__(cluster, broken)
        self._holders: dict[tuple[str, str], dict[str, str]] = {}

    def changed(self, change: ObjectChange) -> None:
        item = change.object
        if item.kind != "Pod":
            return
        if change.kind == "added":
            self._take(item, change.at)
        elif change.kind == "deleted":
            self._holders.get(_hostname(item), {}).pop(item.uid, None)

    def _take(self, item: Object, now: Instant) -> None:
        holders = self._holders.setdefault(_hostname(item), {})
        if holders and item.spec.get("hostname"):
            others = ", ".join(holders.values())
            self.broken(now, f"{item.name} is created as {item.spec['hostname']} beside {others}")
        holders[item.uid] = item.name


def _hostname(item: Object) -> tuple[str, str]:
    return item.namespace, str(item.spec.get("hostname", ""))
