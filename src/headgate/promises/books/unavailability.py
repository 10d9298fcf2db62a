"""What maxUnavailable and maxSurge were used for, counted whenever the planner acts, from what the planner could see.

A take is counted when an action leaves fewer units available than before it; then the units that are missing from the
wanted number are the use of the budget. Start-up, scale-out and failures are no actions, and so no takes.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from headgate.kernel.budgets import BudgetPeak
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, DeleteObject, Key, Object
from headgate.promises.books.tally import NamespacedName, PodTally
from headgate.workload import labels, model
from headgate.workload.model import ComponentStrategy, PodCliqueSet

Kind = Literal["maxUnavailable", "maxSurge"]
_DEFAULT = ComponentStrategy()


class Scope(NamedTuple):
    """`name` is the object whose units are counted: pods of a PodClique, replicas of a group or of the set."""

    level: Literal["clique", "group", "set"]
    namespace: str
    name: str
    replica: int | None = None
    """The replica of the set it stands in; None for the set itself."""

    @property
    def namespaced_name(self) -> NamespacedName:
        return self.namespace, self.name


class Count(NamedTuple):
    available: int
    units: int


class BudgetLimits(NamedTuple):
    replicas: int
    max_unavailable: int
    max_surge: int


class BudgetStep(NamedTuple):
    """One scope before and after the planner acted."""

    scope: Scope
    limits: BudgetLimits
    before: Count
    after: Count
    may_add: bool = False
    """No rule of the set limits how many units there are."""

    @property
    def took(self) -> bool:
        return self.after.available < self.before.available

    @property
    def added(self) -> bool:
        return self.after.units > self.before.units and not self.may_add

    @property
    def unavailable(self) -> int:
        return max(0, self.limits.replicas - self.after.available)

    @property
    def surge(self) -> int:
        return max(0, self.after.units - self.limits.replicas)


class Pending(NamedTuple):
    """What is remembered between a decision and its writes."""

    before: dict[Scope, Count]
    torn_down: frozenset[int]
    """Replicas of the set that the decision takes down as a whole: their components have no budgets then."""
    was_up: frozenset[int]


class BudgetLedger:
    def __init__(self) -> None:
        self._peaks: dict[tuple[str, Kind, str], BudgetPeak] = {}

    def peaks(self) -> list[BudgetPeak]:
        return list(self._peaks.values())

    def open(self, pcs: PodCliqueSet, tally: PodTally) -> None:
        """Budgets that nobody uses are part of the result too."""
        for scope in _scopes_of(pcs, tally):
            limits = limits_of(pcs, scope, tally)
            if limits is not None:
                self._peak(scope, "maxUnavailable", limits.max_unavailable)
                self._peak(scope, "maxSurge", limits.max_surge)

    def note(self, pcs: PodCliqueSet, step: BudgetStep, now: Instant) -> None:
        if not _is_shown(pcs, step.scope):
            return
        if step.took:
            limit = step.limits.max_unavailable
            self._peak(step.scope, "maxUnavailable", limit).reach(step.unavailable, limit, now)
        if step.added:
            limit = step.limits.max_surge
            self._peak(step.scope, "maxSurge", limit).reach(step.surge, limit, now)

    def _peak(self, scope: Scope, kind: Kind, limit: int) -> BudgetPeak:
        key = (scope.namespace, kind, scope.name)
        peak = self._peaks.get(key)
        if peak is None:
            peak = self._peaks[key] = BudgetPeak(None, None, kind, scope.name, limit)
        elif peak.peak_at is None:
            peak.limit = limit
        return peak


def _is_shown(pcs: PodCliqueSet, scope: Scope) -> bool:
    """Only one of the two levels has budgets: the set's own, or those of its components."""
    is_recreated = pcs.update_strategy.type == "ReplicaRecreate"
    return is_recreated == (scope.level == "set")


def _scopes_of(pcs: PodCliqueSet, tally: PodTally) -> list[Scope]:
    if pcs.update_strategy.type == "ReplicaRecreate":
        return [Scope("set", pcs.namespace, pcs.name)]
    scopes = []
    for index in sorted(tally.set_replicas((pcs.namespace, pcs.name))):
        prefix = f"{pcs.name}-{index}"
        scopes += [
            Scope("clique", pcs.namespace, f"{prefix}-{clique.name}", index)
            for clique in pcs.template.standalone_cliques
        ]
        scopes += [
            Scope("group", pcs.namespace, f"{prefix}-{group.name}", index)
            for group in pcs.template.scaling_groups
        ]
    return scopes


def limits_of(pcs: PodCliqueSet, scope: Scope, tally: PodTally) -> BudgetLimits | None:
    """None if the object that has the units is not there."""
    if scope.level == "set":
        strategy = pcs.update_strategy.budget
        is_recreated = pcs.update_strategy.type == "ReplicaRecreate"
        return resolved(strategy if is_recreated else _DEFAULT, pcs.replicas)
    held = tally.cliques if scope.level == "clique" else tally.groups
    item = held.get(scope.namespaced_name)
    if item is None:
        return None
    name = scope.name.removeprefix(f"{pcs.name}-{scope.replica}-")
    own: ComponentStrategy | None = None
    if scope.level == "clique" and name in pcs.template.cliques_by_name:
        own = pcs.template.clique(name).update_strategy
    elif scope.level == "group":
        own = next(
            (group.update_strategy for group in pcs.template.scaling_groups if group.name == name), None
        )
    return resolved(own or _DEFAULT, int(item.spec.get("replicas", 0)))


def resolved(strategy: ComponentStrategy, replicas: int) -> BudgetLimits:
    unavailable = strategy.unavailable.resolve(replicas, "down")
    surge = strategy.surge.resolve(replicas, "up")
    if not unavailable and not surge:
        unavailable = 1
    return BudgetLimits(replicas, min(unavailable, replicas), surge)


def count(pcs: PodCliqueSet, scope: Scope, tally: PodTally) -> Count:
    if scope.level == "clique":
        return Count(tally.available_pods(scope.namespaced_name), tally.living_pods(scope.namespaced_name))
    if scope.level == "group":
        replicas = tally.group_replicas(scope.namespaced_name)
        return Count(tally.available_group_replicas(scope.namespaced_name), len(replicas))
    return Count(tally.available_set_replicas(pcs), len(tally.set_replicas(scope.namespaced_name)))


def before(pcs: PodCliqueSet, actions: Sequence[Action], tally: PodTally, seen: dict[Key, Object]) -> Pending:
    """`seen` are the objects that the actions delete, as the planner saw them."""
    touched: dict[Scope, None] = {}
    torn_down: set[int] = set()
    for action in actions:
        item = action.object if isinstance(action, Create) else None
        if isinstance(action, DeleteObject):
            item = seen.get(action.key)
            if item is not None and _is_whole_component(item):
                torn_down.add(int(item.labels[labels.PCS_REPLICA_INDEX]))
        if item is not None:
            touched.update(dict.fromkeys(_scopes_touched(pcs, item)))
    indices = {scope.replica for scope in touched if scope.replica is not None}
    return Pending(
        {scope: count(pcs, scope, tally) for scope in touched},
        frozenset(torn_down),
        frozenset(index for index in indices if tally.is_set_replica_up(pcs, index)),
    )


def steps(pcs: PodCliqueSet, pending: Pending, tally: PodTally) -> Iterable[BudgetStep]:
    """Every scope whose budget covers what was done."""
    for scope, count_before in pending.before.items():
        limits = limits_of(pcs, scope, tally)
        if limits is None or not _is_covered(pcs, scope, pending, tally):
            continue
        is_bare = scope.level != "set" and pcs.update_strategy.type == "ReplicaRecreate"
        yield BudgetStep(scope, limits, count_before, count(pcs, scope, tally), is_bare)


def _is_covered(pcs: PodCliqueSet, scope: Scope, pending: Pending, tally: PodTally) -> bool:
    if scope.replica is None:
        return pcs.update_strategy.type == "ReplicaRecreate"
    if scope.replica >= pcs.replicas or scope.replica in pending.torn_down:
        return False
    is_emptied = not any(
        item.labels.get(labels.PCS_REPLICA_INDEX) == str(scope.replica)
        for item in _cliques_of(pcs, tally, scope.replica)
    )
    return not is_emptied or scope.replica in pending.was_up


def _cliques_of(pcs: PodCliqueSet, tally: PodTally, replica: int) -> Iterable[Object]:
    prefix = f"{pcs.name}-{replica}-"
    for clique in pcs.template.standalone_cliques:
        item = tally.cliques.get((pcs.namespace, prefix + clique.name))
        if item is not None:
            yield item
    for group in pcs.template.scaling_groups:
        for index in tally.group_replicas((pcs.namespace, prefix + group.name)):
            for name in group.clique_names:
                item = tally.cliques.get((pcs.namespace, f"{prefix}{group.name}-{index}-{name}"))
                if item is not None:
                    yield item


def _is_whole_component(item: Object) -> bool:
    if labels.PCS_REPLICA_INDEX not in item.labels:
        return False
    return item.kind == model.SCALING_GROUP_KIND or (
        item.kind == model.CLIQUE_KIND and labels.SCALING_GROUP not in item.labels
    )


def _scopes_touched(pcs: PodCliqueSet, item: Object) -> Iterable[Scope]:
    index = item.labels.get(labels.PCS_REPLICA_INDEX)
    if index is None or item.kind not in ("Pod", model.CLIQUE_KIND, model.SCALING_GROUP_KIND):
        return
    replica = int(index)
    group = item.labels.get(labels.SCALING_GROUP)
    if group is not None:
        yield Scope("group", item.namespace, group, replica)
    elif item.kind == "Pod":
        yield Scope("clique", item.namespace, item.labels.get(labels.POD_CLIQUE, ""), replica)
    if pcs.update_strategy.type == "ReplicaRecreate":
        yield Scope("set", pcs.namespace, pcs.name)
