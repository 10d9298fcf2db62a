"""How much of each budget is used: the set's own where replicas are recreated, those of the replica whose turn it is
where they roll."""

from collections.abc import Iterator, Sequence

from headgate.kernel.budgets import BudgetUse, Limits
from headgate.kernel.units import Unit
from headgate.workload.plan import components, replicas
from headgate.workload.plan.situation import Situation


def of(situation: Situation, units: Sequence[Unit]) -> Iterator[BudgetUse]:
    if situation.strategy == "ReplicaRecreate":
        live = [unit for unit in units if not unit.is_going]
        available = sum(unit.is_available for unit in live)
        yield from _both(situation.pcs.name, replicas.limits(situation), available, len(live))
        return
    progress = situation.memory.progress
    for index in progress.updating if progress is not None else ():
        replica = situation.tree.replicas.get(index)
        if replica is None:
            continue
        for name, clique in replica.cliques.items():
            strategy = situation.pcs.template.clique(name).update_strategy
            item = clique.live_object
            if item is not None:
                limits = components.rules(situation, index, strategy, int(item.spec["replicas"])).limits
                yield from _both(clique.name, limits, clique.available, clique.live)
        for name, group in replica.groups.items():
            strategy = situation.pcs.template.group(name).update_strategy
            item = group.live_object
            if item is not None:
                limits = components.rules(situation, index, strategy, int(item.spec["replicas"])).limits
                live_count = sum(not member.is_going for member in group.replicas.values())
                yield from _both(group.name, limits, group.available, live_count)


def _both(scope: str, limits: Limits, available: int, live: int) -> Iterator[BudgetUse]:
    yield BudgetUse("maxUnavailable", scope, limits.max_unavailable, max(0, limits.replicas - available))
    yield BudgetUse("maxSurge", scope, limits.max_surge, max(0, live - limits.replicas))
