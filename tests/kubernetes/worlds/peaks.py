"""How full the budgets of sets and the waves of graphs were, counted from the writes of a history alone, in the same way for both worlds."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.graph.reconcile import conditions, labels
from headgate.kernel.objects import Object
from headgate.promises.books import unavailability
from headgate.promises.books.tally import PodTally
from headgate.promises.books.unavailability import Scope
from headgate.workload import model, names
from headgate.workload.model import PodCliqueSet
from headgate.workload.plan import observed
from headgate.workload.plan.family import is_set

from .history import CONTROLLER, History

Peaks = dict[str, tuple[int, int]]
"""By what is counted: how many of it were missing at most once all were there, and how many there were too many."""


def of(history: History) -> Peaks:
    """As it was when an instant was over: what happens within one is no state that anybody waits in."""
    tally, sets = PodTally(), dict[str, Object]()
    known: dict[str, Object] = {}
    found: Peaks = {}
    was_whole: set[Scope] = set()
    for number, write in enumerate(history.writes):
        item = _counted(write.object)
        is_gone = write.verb == "gone"
        tally.changed(known.get(item.uid), None if is_gone else item)
        known[item.uid] = item
        if is_set(item):
            sets.pop(item.name, None)
            if not is_gone:
                sets[item.name] = item
        is_over = number + 1 == len(history.writes) or history.writes[number + 1].at != write.at
        for each in sets.values() if is_over else ():
            _note(model.read(each), tally, found, was_whole)
    return found


def _note(pcs: PodCliqueSet, tally: PodTally, found: Peaks, was_whole: set[Scope]) -> None:
    for scope in _scopes(pcs):
        limits = unavailability.limits_of(pcs, scope, tally)
        if limits is None:
            continue
        count = unavailability.count(pcs, scope, tally)
        if count.available >= limits.replicas:
            was_whole.add(scope)
        missing = max(0, limits.replicas - count.available) if scope in was_whole else 0
        most = found.get(scope.name, (0, 0))
        found[scope.name] = (max(most[0], missing), max(most[1], count.units - limits.replicas, 0))


def _scopes(pcs: PodCliqueSet) -> Iterator[Scope]:
    yield Scope("set", pcs.namespace, pcs.name)
    for index in range(pcs.replicas):
        for clique in pcs.template.standalone_cliques:
            name = names.standalone_clique(pcs.name, index, clique.name)
            yield Scope("clique", pcs.namespace, name, index)
        for group in pcs.template.scaling_groups:
            yield Scope("group", pcs.namespace, names.scaling_group(pcs.name, index, group.name), index)


def _counted(item: Object) -> Object:
    """A pod of a real cluster, with what the books read of one."""
    if item.kind != "Pod" or "conditions" not in item.status:
        return item
    is_ready = observed.is_ready(item.status)
    status = {"phase": item.status.get("phase"), "scheduled": is_ready, "ready": is_ready}
    return msgspec.structs.replace(item, status=status)


def waves(history: History) -> dict[str, int]:
    """How many objects of each resource of a graph were written and not seen to by anybody yet, at most. One that is an
    instance itself is seen to when it says that it has arrived."""
    waiting: dict[str, set[str]] = {}
    most: dict[str, int] = {}
    generations: dict[str, int] = {}
    for number, write in enumerate(history.writes):
        item = write.object
        if labels.NODE_ID in item.labels and item.labels.get(labels.MANAGED_BY) == labels.MANAGER:
            place = f"{item.labels.get(labels.INSTANCE_NAME)} {item.labels[labels.NODE_ID]}"
            held = waiting.setdefault(place, set())
            is_instance = conditions.OWN in item.status or labels.FINALIZER in item.finalizers
            is_same = is_instance and generations.get(item.uid) == item.generation
            generations[item.uid] = item.generation
            if write.by == CONTROLLER and write.verb in ("create", "update") and not is_same:
                held.add(item.name)
            elif write.verb == "gone" or (write.verb == "status" and (not is_instance or _has_arrived(item))):
                held.discard(item.name)
        if number + 1 == len(history.writes) or history.writes[number + 1].at != write.at:
            for place, held in waiting.items():
                most[place] = max(most.get(place, 0), len(held))
    return most


def _has_arrived(instance: Object) -> bool:
    own = instance.status.get(conditions.OWN) or {}
    return bool(own.get("isReady")) and own.get("observedGeneration") == instance.generation
