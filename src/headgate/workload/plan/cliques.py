"""The pods of one PodClique: repaired, scaled, and under a rolling update replaced one by one."""

from collections.abc import Callable, Sequence

import msgspec

from headgate.kernel import budgets
from headgate.kernel.budgets import Limits
from headgate.kernel.objects import Object
from headgate.kernel.units import Unit
from headgate.workload import labels
from headgate.workload.expand import expansion as expand
from headgate.workload.plan import claims, observed
from headgate.workload.plan.situation import Situation

replace = msgspec.structs.replace


Sources = Callable[[int], Object]
"""Which PodClique a new pod at an index is built from; the same one is answered with the same object."""


class Rules(msgspec.Struct, frozen=True):
    """How the units of one clique or group may change in this pass."""

    limits: Limits
    may_update: bool = False
    keeps_surge: bool = False


def plan(
    situation: Situation,
    clique: observed.ObservedClique,
    item: Object,
    rules: Rules,
    sources: Sources | None = None,
) -> list[observed.Pod]:
    """`item` is the PodClique as it will be after the updates of this pass; new pods are built from it unless
    `sources` knows better. Says which pods the update took."""
    wanted = item.labels.get(labels.POD_TEMPLATE_HASH, "")
    _sweep(situation, clique)
    claims.of_clique(situation, clique, item, rules.limits.replicas)
    if clique.is_settled(rules.limits.replicas) and clique.has_only(wanted):
        return []
    units = _units(clique, wanted)
    step = budgets.step(units, rules.limits, may_update=rules.may_update, keeps_surge=rules.keeps_surge)
    pods = {unit.index: pod for unit, pod in zip(units, clique.pods, strict=True) if not unit.is_going}
    replaced = [pods[unit.index] for unit in step.replaced]
    for pod in replaced:
        situation.writes.delete_pod(pod, "update")
    for unit in step.removed:
        is_surge = rules.keeps_surge and unit.index < rules.limits.ceiling
        situation.writes.delete_pod(pods[unit.index], "surge is over" if is_surge else "scale-in")
    if step.create:
        ready = claims.ready_indices(situation, clique, item, step.create)
        _create(situation, clique, ready, sources or (lambda _: item))
    return replaced


def _create(
    situation: Situation, clique: observed.ObservedClique, indices: Sequence[int], sources: Sources
) -> None:
    taken = {pod.object.name for pod in clique.pods}
    by_source: dict[int, tuple[Object, list[int]]] = {}
    for index in indices:
        source = sources(index)
        by_source.setdefault(id(source), (source, []))[1].append(index)
    first = min((*situation.tree.revisions.values(), situation.target), key=lambda revision: revision.number)
    hashes = frozenset(first.clique_hashes.values())
    for source, chosen in by_source.values():
        for pod in expand.pods(situation.pcs, source, chosen, situation.ids, taken, hashes):
            situation.writes.create(pod)
            taken.add(pod.name)
            situation.writes.created_pods.setdefault(clique.name, []).append(pod.name)


def _sweep(situation: Situation, clique: observed.ObservedClique) -> None:
    """What belonged to another incarnation of the clique goes without being asked for, and what has ended."""
    if clique.live != len(clique.pods):
        for pod in clique.pods:
            if pod.is_going:
                situation.writes.delete_pod(pod, _ended(pod) if pod.is_dead else "its owner is gone")


def _ended(pod: observed.Pod) -> str:
    status = pod.object.status
    why = f": {status['reason']}" if status.get("reason") else ""
    return f"it has ended ({status.get('phase')}{why})"


def _units(clique: observed.ObservedClique, wanted: str) -> list[Unit]:
    """In the order of the pods. Of two pods at one index the better one stands there, the other is one too many."""
    holders: dict[int, int] = {}
    for position, pod in enumerate(clique.pods):
        if pod.is_going:
            continue
        other = holders.get(pod.index)
        if other is None or _worth(pod, wanted) > _worth(clique.pods[other], wanted):
            holders[pod.index] = position
    units: list[Unit] = []
    for position, pod in enumerate(clique.pods):
        is_second = not pod.is_going and holders[pod.index] != position
        units.append(
            Unit(
                index=observed.NO_INDEX + 1 + position if is_second else pod.index,
                is_available=pod.is_available,
                is_outdated=pod.template_hash != wanted,
                is_going=pod.is_going,
                age_rank=pod.object.created_at,
            )
        )
    return units


def _worth(pod: observed.Pod, wanted: str) -> tuple[bool, bool, int, str]:
    return pod.is_available, pod.template_hash == wanted, -pod.object.created_at, pod.object.name


def moved(situation: Situation, item: Object, wanted: Object) -> Object:
    """The live object with the content of another revision or other replicas, written if that changes it."""
    changed = replace(
        item,
        labels=wanted.labels,
        annotations=wanted.annotations,
        spec=wanted.spec,
    )
    if changed.labels != item.labels or changed.annotations != item.annotations or changed.spec != item.spec:
        situation.writes.update(changed)
    return changed
