"""Gang termination: what was available once and has had too little ready for too long is recreated together.

A replica of a scaling group goes alone while its group has enough others; otherwise the whole replica of the set goes.
What an update took down is not breached, so it is never terminated for it.
"""

from collections.abc import Iterator

from headgate.kernel.conditions import since
from headgate.workload.plan import conditions, groups, observed
from headgate.workload.plan.situation import Situation

REASON = "gang termination"


def plan(situation: Situation) -> None:
    delay = situation.pcs.template.termination_delay.microseconds
    for index, replica in situation.tree.replicas.items():
        record = situation.persisted.records.get(index)
        if record is None or record.is_torn_down:
            continue
        moments = [moment for part in _parts(replica) if (moment := _breached_since(part)) is not None]
        if moments and min(moments) + delay <= situation.now:
            record.is_torn_down = True
            continue
        for group in replica.groups.values():
            if group.is_available:
                _recycle(situation, group, delay)


def _parts(replica: observed.ObservedReplica) -> Iterator[observed.ObservedClique | observed.ObservedGroup]:
    yield from replica.cliques.values()
    yield from replica.groups.values()


def _breached_since(part: observed.ObservedClique | observed.ObservedGroup) -> int | None:
    item = part.live_object
    if item is None or part.is_available or "firstAvailableAt" not in item.status:
        return None
    return since(item.status, conditions.BREACHED, "True")


def _recycle(situation: Situation, group: observed.ObservedGroup, delay: int) -> None:
    for replica in group.replicas.values():
        if replica.is_going or replica.is_available:
            continue
        moment = groups.breached_since(replica)
        if moment is None or moment + delay > situation.now:
            continue
        for clique in replica.cliques.values():
            situation.writes.delete_clique(clique, REASON)
        replica.count_as_gone()
