"""What stands in the way, by name: which unit, why, since when, and what would help."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import msgspec

from headgate.kernel import instants
from headgate.kernel.conditions import refusal
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.workload import labels
from headgate.workload.plan import claims, gang_upkeep, observed
from headgate.workload.plan.situation import Situation

MOST_LISTED = 50
DEFAULT_GRACE_SECONDS = 30
PATIENCE_SECONDS = 60
"""How long after its grace a deleted pod is given to go, before its node is taken for gone."""


class Stuck(msgspec.Struct, frozen=True):
    unit: str
    reason: Reason
    since: Instant
    message: str
    help: str

    def __str__(self) -> str:
        return f"{self.unit}: {self.message} since {instants.show(self.since)}; {self.help}"


def find(situation: Situation) -> tuple[Stuck, ...]:
    return tuple(islice(chain(_refused(situation), _lacking_claims(situation), _all(situation)), MOST_LISTED))


def _refused(situation: Situation) -> Iterator[Stuck]:
    """A write that the server does not take keeps everything after it from being written."""
    refused = refusal(situation.source.status)
    if refused is not None:
        yield Stuck(
            f"set {situation.pcs.name}",
            Reason.WRITE_REFUSED,
            refused.since,
            f"the server refuses {refused.message}",
            "make room for it, or correct the set; it is tried again by itself",
        )


def _lacking_claims(situation: Situation) -> Iterator[Stuck]:
    for name, count, wait in claims.waits(situation):
        held = f"; {count} {'pod waits' if count == 1 else 'pods wait'} for it" if count else ""
        yield Stuck(f"claim {name}", wait.reason, wait.since, f"{wait.message}{held}", wait.help)


def _all(situation: Situation) -> Iterator[Stuck]:
    is_whole = situation.strategy == "ReplicaRecreate"
    for index, replica in situation.tree.replicas.items():
        if not replica.is_held:
            continue
        is_surge = index >= situation.pcs.replicas
        if situation.record(index).is_torn_down:
            cliques = replica.all_cliques()
            yield from _going(situation, f"replica {index}", cliques, comes_back=not is_surge)
        elif is_whole and is_surge:
            if not replica.is_available:
                yield _waiting(f"surge replica {index}", list(replica.all_cliques()), situation, True)
        else:
            yield from _in_replica(situation, replica)


def _in_replica(situation: Situation, replica: observed.ObservedReplica) -> Iterator[Stuck]:
    by_name = {clique.name: clique for clique in replica.all_cliques()}
    for clique in replica.cliques.values():
        yield from _in_clique(situation, clique, gang_upkeep.parents_not_up(clique, by_name))
    for group in replica.groups.values():
        item = group.live_object
        if item is None:
            yield from _going(situation, f"group {group.name}", _cliques_of(group))
            continue
        wanted = int(item.spec.get("replicas", 0))
        for member in group.replicas.values():
            name = f"replica {member.index} of group {group.name}"
            if member.is_going:
                cliques = member.cliques.values()
                yield from _going(situation, name, cliques, comes_back=member.index < wanted)
            elif member.is_available:
                for clique in member.cliques.values():
                    yield from _in_clique(situation, clique)
            else:
                yield from _in_member(situation, name, member, member.index >= wanted, by_name)


def _in_member(
    situation: Situation,
    name: str,
    member: observed.GroupReplica,
    is_surge: bool,
    by_name: Mapping[str, observed.ObservedClique],
) -> Iterator[Stuck]:
    """Of a replica of a group that is not available. It waits for others where all that it lacks does."""
    cliques = list(member.cliques.values())
    pods = [pod for clique in cliques for pod in clique.pods]
    late = [stuck for pod in pods if (stuck := _overdue(situation, pod)) is not None]
    yield from late
    parents = [gang_upkeep.parents_not_up(clique, by_name) for clique in cliques if not clique.is_available]
    has_started = any(_has_started(pod) and not pod.is_available for pod in pods if not pod.is_going)
    is_waiting = situation.gates_startup or (all(parents) and not has_started)
    waited = list(dict.fromkeys(chain.from_iterable(parents))) if is_waiting else []
    part = f"surge {name}" if is_surge else name
    waiting = _waiting(part, cliques, situation, is_surge, waited)
    if waiting not in late:
        yield waiting


def _in_clique(
    situation: Situation, clique: observed.ObservedClique, waited: Sequence[str] = ()
) -> Iterator[Stuck]:
    item = clique.live_object
    if item is None:
        yield from _going(situation, f"clique {clique.name}", [clique])
        return
    wanted = int(item.spec.get("replicas", 0))
    if clique.available == len(clique.pods) == wanted:
        return
    for pod in clique.pods:
        if pod.is_going:
            yield from _going_pods(situation, f"pod {pod.object.name}", [pod], comes_back=pod.index < wanted)
        elif not pod.is_available:
            yield _pod(situation, pod, pod.index >= wanted, waited)
    if len(clique.pods) < wanted or clique.live > wanted:
        yield Stuck(
            f"clique {clique.name}",
            Reason.BUDGET_SPENT,
            max((pod.object.created_at for pod in clique.pods), default=item.created_at),
            f"has {clique.live} of {wanted} pods",
            "the others come or go as the budget allows",
        )


def _cliques_of(group: observed.ObservedGroup) -> Iterator[observed.ObservedClique]:
    for replica in group.replicas.values():
        yield from replica.cliques.values()


def _pod(situation: Situation, pod: observed.Pod, is_surge: bool, waited: Sequence[str]) -> Stuck:
    part = f"{'surge ' if is_surge else ''}pod {pod.object.name}"
    gates = pod.object.spec.get("schedulingGates") or ()
    is_gated = any(gate.get("name") == labels.SCHEDULING_GATE for gate in gates)
    held_by = () if _has_started(pod) else waited
    return _stuck_pod(situation, part, pod.is_bound, is_gated, is_surge, pod.object.created_at, held_by)


def _has_started(pod: observed.Pod) -> bool:
    """Where no gates hold the order of starts, a bound pod is held on its node, and only before its first start."""
    return pod.object.status.get("phase") == "Running"


def _waiting(
    part: str,
    cliques: list[observed.ObservedClique],
    situation: Situation,
    is_surge: bool,
    waited: Sequence[str] = (),
) -> Stuck:
    pods = [pod for clique in cliques for pod in clique.pods if not pod.is_going]
    lacking = [pod for pod in pods if not pod.is_available]
    if not lacking:
        return _incomplete(part, cliques, situation)
    unbound = [pod for pod in lacking if not pod.is_bound]
    since = min(pod.object.created_at for pod in lacking)
    is_gated = bool(unbound) and all(pod.object.spec.get("schedulingGates") for pod in unbound)
    return _stuck_pod(situation, part, not unbound, is_gated, is_surge, since, waited)


def _stuck_pod(
    situation: Situation,
    part: str,
    is_bound: bool,
    is_gated: bool,
    is_surge: bool,
    since: Instant,
    waited: Sequence[str] = (),
) -> Stuck:
    if is_bound and waited and not situation.gates_startup:
        return Stuck(
            part,
            Reason.SURGE_BREACHED if is_surge else Reason.UNIT_BREACHED,
            since,
            f"starts after {', '.join(waited)}",
            "it starts when all of these have minAvailable ready pods",
        )
    if is_bound:
        return Stuck(
            part,
            Reason.SURGE_BREACHED if is_surge else Reason.UNIT_BREACHED,
            since,
            "scheduled and not ready",
            "look at its containers; a corrected template replaces it at once, abort leaves the rest as it is",
        )
    if is_gated and waited and situation.gates_startup:
        return Stuck(
            part,
            Reason.SURGE_UNSCHEDULED if is_surge else Reason.UNIT_UNSCHEDULED,
            since,
            f"starts after {', '.join(waited)}",
            "it is released when all of these have minAvailable ready pods",
        )
    if is_gated:
        return Stuck(
            part,
            Reason.SURGE_UNSCHEDULED if is_surge else Reason.UNIT_UNSCHEDULED,
            since,
            "waits for its gang",
            "it is released when its gang is complete and the base gang has been scheduled once",
        )
    if is_surge:
        return Stuck(
            part,
            Reason.SURGE_UNSCHEDULED,
            since,
            "not scheduled",
            "add capacity, or lower maxSurge and raise maxUnavailable in the same edit, or abort",
        )
    return Stuck(
        part, Reason.NO_CAPACITY, since, "not scheduled", "add capacity or uncordon nodes, or scale in"
    )


def _incomplete(part: str, cliques: Iterable[observed.ObservedClique], situation: Situation) -> Stuck:
    """All pods that it has are available; others are on their way out, or not made yet."""
    pods = [pod for clique in cliques for pod in clique.pods]
    going = [pod for pod in pods if pod.is_going]
    if going:
        return next(_going_pods(situation, f"pod {going[0].object.name}", going))
    return Stuck(
        part,
        Reason.UNIT_BREACHED,
        situation.now,
        "some of its pods are not there yet",
        "they are made when nothing of their index is left, and what they need is there",
    )


def _going(
    situation: Situation, part: str, cliques: Iterable[observed.ObservedClique], *, comes_back: bool = True
) -> Iterator[Stuck]:
    pods = [pod for clique in cliques for pod in clique.pods]
    return _going_pods(situation, part, pods, comes_back=comes_back)


def _going_pods(
    situation: Situation, part: str, pods: Sequence[observed.Pod], *, comes_back: bool = True
) -> Iterator[Stuck]:
    """What is late is named pod by pod; the rest is on its way out as one."""
    late = [stuck for pod in pods if (stuck := _overdue(situation, pod, comes_back)) is not None]
    yield from late or [_terminating(situation, part, pods, comes_back)]


def _terminating(situation: Situation, part: str, pods: Iterable[observed.Pod], comes_back: bool) -> Stuck:
    since = min((pod.object.deleted_at or situation.now for pod in pods), default=situation.now)
    follows = "its index is used again when it is gone"
    too_many = "it is one too many, and nothing takes its place"
    return Stuck(part, Reason.TERMINATING, since, "on its way out", follows if comes_back else too_many)


def _overdue(situation: Situation, pod: observed.Pod, comes_back: bool = True) -> Stuck | None:
    """A pod that was deleted and is still there long after its grace: nobody on its node ends it."""
    item = pod.object
    if item.deleted_at is None or not pod.is_bound:
        return None
    grace = item.spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS)
    seconds = (grace if isinstance(grace, int) else DEFAULT_GRACE_SECONDS) + PATIENCE_SECONDS
    due = item.deleted_at + instants.seconds(seconds)
    if situation.now < due:
        situation.requeue_at(due)
        return None
    node = item.spec.get("nodeName", "its node")
    follows = "; its index is used again then" if comes_back else ""
    return Stuck(
        f"pod {item.name}",
        Reason.NODE_GONE,
        item.deleted_at,
        f"deleted and not ended by {node}, which seems to be gone",
        f"bring {node} back, or remove it from the cluster, or delete the pod by force{follows}",
    )
