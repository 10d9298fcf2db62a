"""Pods of a replica that is recreated as a whole are all of one revision; contents count, not names."""

from headgate.cluster.port import ClusterPort, ObjectChange
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.promises.base import Broken, WorkloadPromise
from headgate.workload import labels
from headgate.workload.expand import revisions
from headgate.workload.model import PodCliqueSet

_Content = tuple[str, str]
"""The clique of a pod and the hash of its template."""


class NoVersionMix(WorkloadPromise):
    name = "NoVersionMix"
    sentence = "under ReplicaRecreate a replica never holds two revisions, terminating pods included"

    def __init__(self, cluster: ClusterPort, broken: Broken) -> None:
        super().__init__(cluster, broken)
        self._sets: dict[tuple[str, str], PodCliqueSet] = {}
        """As the planner last saw them."""
        self._contents: dict[tuple[str, str, str], dict[_Content, int]] = {}
        """How many pods of each content there are, by replica of a set."""
        self._known_revisions: dict[tuple[str, str], dict[str, str]] = {}
        """The contents of the cliques, by namespace and name of the stored revision."""

    def decides_on(self, pcs: PodCliqueSet) -> None:
        self._sets[pcs.namespace, pcs.name] = pcs

    def changed(self, change: ObjectChange) -> None:
        item = change.object
        if item.kind == revisions.KIND and change.kind == "added":
            hashes = item.other.get("data", {}).get("cliqueHashes", {})
            self._known_revisions[item.namespace, item.name] = hashes
        if item.kind != "Pod":
            return
        if change.kind == "added":
            self._add(item, change.at)
        elif change.kind == "deleted":
            held = self._contents.get(_replica(item), {})
            content = _content(item)
            held[content] = held.get(content, 0) - 1
            if held[content] <= 0:
                del held[content]

    def _add(self, item: Object, now: Instant) -> None:
        """A replica that was mixed before, when another strategy held, is not this strategy's doing."""
        held = self._contents.setdefault(_replica(item), {})
        content = _content(item)
        was_mixed = self._is_mixed(held)
        held[content] = held.get(content, 0) + 1
        pcs = self._sets.get((item.namespace, item.labels.get(labels.PART_OF, "")))
        if pcs is None or pcs.update_strategy.type != "ReplicaRecreate" or was_mixed:
            return
        if self._is_mixed(held):
            index = item.labels.get(labels.PCS_REPLICA_INDEX)
            self.broken(
                now,
                f"{item.name} is created in replica {index} of {pcs.name} beside pods of another revision",
            )

    def _is_mixed(self, held: dict[_Content, int]) -> bool:
        """A clique that did not change belongs to several revisions."""
        if len(held) < 2:
            return False
        return not any(
            all(hashes.get(clique) == held_hash for clique, held_hash in held)
            for hashes in self._known_revisions.values()
        )


def _content(item: Object) -> _Content:
    own = item.labels
    group = own.get(labels.SCALING_GROUP)
    before = (
        f"{group}-{own.get(labels.SCALING_GROUP_REPLICA_INDEX)}-"
        if group
        else f"{own.get(labels.PART_OF)}-{own.get(labels.PCS_REPLICA_INDEX)}-"
    )
    return own.get(labels.POD_CLIQUE, "").removeprefix(before), own.get(labels.POD_TEMPLATE_HASH, "")


def _replica(item: Object) -> tuple[str, str, str]:
    return (
        item.namespace,
        item.labels.get(labels.PART_OF, ""),
        item.labels.get(labels.PCS_REPLICA_INDEX, ""),
    )
