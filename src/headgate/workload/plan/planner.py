"""The planner: from a set and all that is seen of it to what is to be written now. It keeps nothing between passes.

Whoever runs it applies the actions in their order, shows it its own writes at once, and calls it again when something
was heard of the set or `requeue_at` has come.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, Object, UpdateStatus
from headgate.kernel.problems import Rejected
from headgate.workload import model
from headgate.workload.checks import collisions
from headgate.workload.expand import revisions, startup
from headgate.workload.plan import (
    children,
    claims,
    history,
    observed,
    persisted_state,
    progress,
    replicas,
    set_status,
    stuck,
    termination,
)
from headgate.workload.plan.persisted_state import PersistedState
from headgate.workload.plan.situation import ABORT, Announcement, Situation, Writes
from headgate.workload.plan.stuck import Stuck

_MOST_SHOWN = 10


class WorkloadPlan(msgspec.Struct, frozen=True):
    actions: tuple[Action, ...]
    status: dict[str, Any]
    requeue_at: Instant | None = None
    stuck: tuple[Stuck, ...] = ()
    events: tuple[Announcement, ...] = ()

    def waiting(self) -> Iterator[Reason]:
        return (each.reason for each in self.stuck)


def plan(
    pcs: Object,
    observed: Sequence[Object],
    now: Instant,
    ids: IdSource,
    sets: Sequence[Object] = (),
    remembered: children.ChildrenCache | None = None,
    *,
    is_bound_pod_by_pod: bool = False,
) -> WorkloadPlan:
    """`observed`: every object that carries the set's label, those on their way out included, and the claim templates
    that it refers to. `sets`: the other sets of its namespace. `remembered` makes a pass quick and changes nothing.
    `is_bound_pod_by_pod`: the cluster's own scheduler knows no gangs."""
    if pcs.deleted_at is not None:
        return _delete_all(pcs, observed)
    try:
        refusal = _refused(pcs, now, sets)
        if refusal is not None:
            return refusal
        situation = observe(pcs, observed, now, ids, remembered)
        situation.gates_startup = is_bound_pod_by_pod and startup.is_gated(situation.pcs)
    except Rejected as rejected:
        return _misconfigured(pcs, rejected, now)
    claims.of_set(situation)
    termination.plan(situation)
    replicas.plan(situation)
    claims.sweep(situation)
    history.prune(situation)
    stuck_parts = stuck.find(situation)
    status = set_status.of(situation, stuck_parts)
    first = [] if status == pcs.status else [UpdateStatus(pcs.key, pcs.uid, status)]
    deadline = progress.deadline(situation)
    if deadline is not None:
        situation.requeue_at(deadline)
    return WorkloadPlan(
        actions=situation.writes.in_order(first),
        status=status,
        requeue_at=min(situation.looks, default=None),
        stuck=stuck_parts,
        events=tuple(situation.events),
    )


def _refused(pcs: Object, now: Instant, sets: Sequence[Object]) -> WorkloadPlan | None:
    """A set that got past the webhook and wants names of an older one builds nothing."""
    older = [other for other in sets if collisions.is_before(other, pcs)]
    taken = collisions.first_taken(model.read(pcs), older) if older else None
    if taken is None:
        return None
    stuck_set = Stuck(
        f"set {pcs.name}",
        Reason.NAME_TAKEN,
        pcs.created_at,
        collisions.sentence(*taken),
        "give the set another name, or delete the other one first",
    )
    return _held(pcs, stuck_set, now, requeue_at=now + instants.seconds(60))


def _misconfigured(pcs: Object, rejected: Rejected, now: Instant) -> WorkloadPlan:
    """A set that was stored while no webhook looked at it. What it has stays as it is until somebody corrects it."""
    problems = "; ".join(str(problem) for problem in rejected.problems[:_MOST_SHOWN])
    stuck_set = Stuck(
        f"set {pcs.name}", Reason.MISCONFIGURED, pcs.created_at, problems, "correct these fields of the set"
    )
    return _held(pcs, stuck_set, now, requeue_at=None)


def _held(pcs: Object, why: Stuck, now: Instant, requeue_at: Instant | None) -> WorkloadPlan:
    status = set_status.refused(pcs, why, now)
    actions = () if status == pcs.status else (UpdateStatus(pcs.key, pcs.uid, status),)
    return WorkloadPlan(actions, status, requeue_at=requeue_at, stuck=(why,))


def observe(
    pcs: Object,
    items: Sequence[Object],
    now: Instant,
    ids: IdSource,
    remembered: children.ChildrenCache | None = None,
) -> Situation:
    """The situation before anything is decided in it."""
    wanted = model.read(pcs)
    tree = observed.read(wanted, items)
    known = persisted_state.read(pcs.status)
    newest = revisions.of(wanted, tree.revisions.values())
    writes = Writes()
    if newest.hash not in tree.revisions:
        writes.revisions.append(Create(revisions.to_object(newest, wanted)))
    situation = Situation(wanted, pcs, tree, known, newest, newest, now, ids, writes)
    _apply_rollback(situation, known)
    _pass_by_abort(situation, known)
    replicas.adopt(situation)
    replicas.reconsider(situation)
    children.restore(situation, remembered or children.ChildrenCache())
    progress.judge(situation)
    return situation


def _apply_rollback(situation: Situation, known: PersistedState) -> None:
    """A set that was rolled back stays so until its template changes."""
    back = known.rolled_back
    if back is None:
        return
    if back.source == situation.newest.hash and back.target in situation.tree.revisions:
        situation.target = situation.tree.revisions[back.target]
    else:
        known.rolled_back = None


def _pass_by_abort(situation: Situation, known: PersistedState) -> None:
    order = situation.source.annotations.get(ABORT)
    if order is None:
        known.spent_abort = None
    elif order.partition("@")[0] != situation.newest.hash:
        known.spent_abort = order


def _delete_all(pcs: Object, items: Sequence[Object]) -> WorkloadPlan:
    """The set is being deleted, and all that carries its label with it."""
    writes = Writes()
    for item in items:
        if item.kind not in (model.KIND, model.CLAIM_TEMPLATE_KIND):
            writes.delete(item, "the set is deleted")
    return WorkloadPlan(writes.in_order(()), pcs.status)
