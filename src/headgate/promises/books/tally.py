"""How many units of each kind there are and how many of them are available, counted from the objects alone.

The planner has its own count; this one is what the promises and the result go by.
"""

from typing import NamedTuple

from headgate.kernel.objects import Object
from headgate.workload import labels, names
from headgate.workload.model import PodCliqueSet
from headgate.workload.plan import observed

NamespacedName = tuple[str, str]
"""Of a PodClique, a PodCliqueScalingGroup or a set."""


class PodState(NamedTuple):
    owner: str
    number: int
    template_hash: str
    is_available: bool
    has_ended: bool
    """Nothing of it runs any more: it is no unit, it only stands in its index's way until it is deleted."""


class PodTally:
    """Only what is not on its way out is counted. What stood under an owner that is gone is on its way out even if
    another owner of the same name has come, and whoever then deletes it takes nothing."""

    def __init__(self) -> None:
        self.cliques: dict[NamespacedName, Object] = {}
        self.groups: dict[NamespacedName, Object] = {}
        self.pods: dict[NamespacedName, dict[str, PodState]] = {}
        """By PodClique and pod name."""
        self._available: dict[tuple[NamespacedName, str], int] = {}
        """By PodClique and the owner of the pods."""
        self._cliques_of_group: dict[tuple[NamespacedName, str], dict[int, int]] = {}
        """By scaling group and the owner of the cliques."""
        self._objects_of_replica: dict[NamespacedName, dict[int, int]] = {}

    def changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None and old.deleted_at is None:
            self._add(old, -1)
        if new is not None and new.deleted_at is None:
            self._add(new, +1)

    def _add(self, item: Object, sign: int) -> None:
        if item.kind == "Pod":
            self._add_pod(item, sign)
        elif item.kind in ("PodClique", "PodCliqueScalingGroup"):
            name = (item.namespace, item.name)
            held = self.cliques if item.kind == "PodClique" else self.groups
            if sign > 0:
                held[name] = item
            else:
                held.pop(name, None)
            own = item.labels
            index = _number(own.get(labels.PCS_REPLICA_INDEX))
            if index is not None:
                pcs = (item.namespace, own.get(labels.PART_OF, ""))
                _count(self._objects_of_replica.setdefault(pcs, {}), index, sign)
            group = own.get(labels.SCALING_GROUP)
            replica = _number(own.get(labels.SCALING_GROUP_REPLICA_INDEX))
            if group is not None and replica is not None:
                owned = (item.namespace, group), _owner(item)
                _count(self._cliques_of_group.setdefault(owned, {}), replica, sign)

    def _add_pod(self, item: Object, sign: int) -> None:
        name = (item.namespace, item.labels.get(labels.POD_CLIQUE, ""))
        pods = self.pods.setdefault(name, {})
        has_ended = item.status.get("phase") in observed.ENDED
        is_available = bool(item.status.get("scheduled") and item.status.get("ready")) and not has_ended
        owner = _owner(item)
        if sign > 0:
            pods[item.name] = PodState(
                owner,
                _number(item.labels.get(labels.POD_INDEX)) or 0,
                item.labels.get(labels.POD_TEMPLATE_HASH, ""),
                is_available,
                has_ended,
            )
        else:
            pods.pop(item.name, None)
        key = (name, owner)
        self._available[key] = self._available.get(key, 0) + sign * is_available

    def own_pods(self, clique: NamespacedName) -> list[PodState]:
        """Of the clique that stands there now."""
        item = self.cliques.get(clique)
        owners = _owners(item)
        return [pod for pod in self.pods.get(clique, {}).values() if pod.owner in owners]

    def living_pods(self, clique: NamespacedName) -> int:
        return sum(not pod.has_ended for pod in self.own_pods(clique))

    def available_pods(self, clique: NamespacedName) -> int:
        owners = _owners(self.cliques.get(clique))
        return sum(self._available.get((clique, owner), 0) for owner in owners)

    def is_clique_up(self, clique: NamespacedName, owner: str) -> bool:
        item = self.cliques.get(clique)
        return (
            item is not None
            and _owner(item) in (owner, _NOBODY)
            and self.available_pods(clique) >= int(item.spec.get("minAvailable", 1))
        )

    def group_replicas(self, group: NamespacedName) -> set[int]:
        return {
            index
            for owner in _owners(self.groups.get(group))
            for index, count in self._cliques_of_group.get((group, owner), {}).items()
            if count
        }

    def is_group_replica_up(self, group: NamespacedName, index: int) -> bool:
        item = self.groups.get(group)
        if item is None:
            return False
        namespace, name = group
        return all(
            self.is_clique_up((namespace, f"{name}-{index}-{clique}"), item.uid)
            for clique in item.spec["cliqueNames"]
        )

    def available_group_replicas(self, group: NamespacedName) -> int:
        return sum(self.is_group_replica_up(group, index) for index in self.group_replicas(group))

    def set_replicas(self, pcs: NamespacedName) -> set[int]:
        return {index for index, count in self._objects_of_replica.get(pcs, {}).items() if count}

    def is_set_replica_up(self, pcs: PodCliqueSet, index: int) -> bool:
        for clique in pcs.template.standalone_cliques:
            name = (pcs.namespace, names.standalone_clique(pcs.name, index, clique.name))
            if not self.is_clique_up(name, pcs.uid):
                return False
        for group in pcs.template.scaling_groups:
            name = (pcs.namespace, names.scaling_group(pcs.name, index, group.name))
            item = self.groups.get(name)
            if item is None or _owner(item) not in (pcs.uid, _NOBODY):
                return False
            if self.available_group_replicas(name) < int(item.spec.get("minAvailable", 1)):
                return False
        return True

    def available_set_replicas(self, pcs: PodCliqueSet) -> int:
        indices = self.set_replicas((pcs.namespace, pcs.name))
        return sum(self.is_set_replica_up(pcs, index) for index in indices)


_NOBODY = ""
"""Owns what has no owner references, which whoever stands there may count as its own."""


def _owner(item: Object) -> str:
    return item.owners[0].uid if item.owners else _NOBODY


def _owners(item: Object | None) -> tuple[str, ...]:
    """Whose dependents count while the object stands."""
    return () if item is None else (item.uid, _NOBODY)


def _number(text: str | None) -> int | None:
    """Labels are what anybody wrote."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _count(counts: dict[int, int], index: int, sign: int) -> None:
    counts[index] = counts.get(index, 0) + sign
