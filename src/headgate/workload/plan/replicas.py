"""The replicas of the set: which are created, torn down, or moved to the target now."""

from headgate.kernel import budgets
from headgate.kernel.budgets import Limits
from headgate.kernel.objects import Object
from headgate.kernel.units import Unit
from headgate.workload import labels, model
from headgate.workload.plan import components, observed
from headgate.workload.plan.persisted_state import ReplicaRecord, UpdateProgress
from headgate.workload.plan.situation import Situation


def plan(situation: Situation) -> None:
    """Decides, then lets each replica that stands see to its components."""
    _settle_torn_down(situation)
    if situation.strategy == "RollingUpdate":
        _take_turns(situation)
    elif situation.strategy == "OnDelete":
        _move_all(situation)
    step = budgets.step(
        _units(situation),
        _limits(situation),
        may_update=situation.may_update and situation.strategy == "ReplicaRecreate",
        keeps_surge=situation.strategy == "ReplicaRecreate"
        and situation.is_updating
        and not situation.is_aborted,
    )
    for unit in _replaced_now(step, situation):
        _tear_down(situation, unit.index)
        if situation.persisted.progress is not None:
            situation.persisted.progress.updating.setdefault(unit.index, situation.now)
    for unit in step.removed:
        _tear_down(situation, unit.index)
    for index in step.create:
        _assign_index(situation, index)
    _carry_out(situation, set(step.create))


def _replaced_now(step: budgets.BudgetMove, situation: Situation) -> list[Unit]:
    """Surge is there before what it protects goes. Both are decided at once, but that a replica is torn down is
    written first: a planner that died then would find nothing left to protect, and go on without surge."""
    makes_surge = any(index >= situation.pcs.replicas for index in step.create)
    return [unit for unit in step.replaced if not (makes_surge and unit.is_available)]


def _limits(situation: Situation) -> Limits:
    """Only where replicas are recreated whole does the set itself have a strategy; else one may be down."""
    replicas = situation.pcs.replicas
    if situation.strategy == "ReplicaRecreate":
        budget = situation.pcs.update_strategy.budget
        usual = budgets.limits(replicas, budget.unavailable, budget.surge)
    else:
        usual = Limits(replicas, min(1, replicas), 0)
    return Limits(replicas, 0, usual.max_surge) if situation.is_paused else usual


def _units(situation: Situation) -> list[Unit]:
    progress = situation.persisted.progress
    caught = progress.updating if progress is not None else {}
    return [
        Unit(
            index=index,
            is_available=situation.is_available(index),
            is_outdated=not situation.is_new(index),
            is_going=situation.record(index).is_torn_down,
            may_move=situation.may_move(index),
            age_rank=0 if index in caught else 1,
        )
        for index, replica in situation.tree.replicas.items()
        if replica.is_held
    ]


def _settle_torn_down(situation: Situation) -> None:
    """What is gone at last may be built again, or is forgotten."""
    for index, record in list(situation.persisted.records.items()):
        replica = situation.tree.replicas.get(index)
        if replica is not None and replica.is_held:
            continue
        record.is_torn_down = False
        if index >= situation.pcs.replicas:
            del situation.persisted.records[index]


def _tear_down(situation: Situation, index: int) -> None:
    record = situation.record(index)
    record.is_torn_down = True
    record.revision = situation.target.hash


def _assign_index(situation: Situation, index: int) -> None:
    """A replica that was there before comes back at its revision; one that is whole to be built anyway, and may be
    moved, goes to the target at once."""
    records = situation.persisted.records
    progress = situation.persisted.progress
    if index not in records:
        records[index] = ReplicaRecord(situation.target.hash)
    elif situation.strategy == "ReplicaRecreate" and situation.may_update and situation.may_move(index):
        if records[index].revision != situation.target.hash and progress is not None:
            progress.updating.setdefault(index, situation.now)
        records[index].revision = situation.target.hash
    if index >= situation.pcs.replicas and progress is not None:
        progress.surge[index] = situation.now


def _take_turns(situation: Situation) -> None:
    progress = situation.persisted.progress
    if progress is None or progress.ended_at is not None or not situation.may_update:
        return
    _keep_one_caught(situation, progress)
    if not progress.updating:
        chosen = min(
            (index for index in _movable(situation) if not situation.is_new(index)),
            key=lambda index: (not _is_begun(situation, index), *_urgency(situation, index)),
            default=None,
        )
        if chosen is not None:
            progress.updating[chosen] = situation.now
    for index in filter(situation.may_move, progress.updating):
        situation.record(index).revision = situation.target.hash


def _is_begun(situation: Situation, index: int) -> bool:
    """It was moved to the target before and is not there yet: an abort that is over had left it in the middle."""
    return situation.record(index).revision == situation.target.hash


def _keep_one_caught(situation: Situation, progress: UpdateProgress) -> None:
    """Several may be on their way after a change of strategy; of those that a newer revision caught one goes on."""
    caught = sorted(
        (index for index in progress.updating if not situation.is_new(index)),
        key=lambda index: _urgency(situation, index),
    )
    for index in caught[1:]:
        del progress.updating[index]


def _movable(situation: Situation) -> list[int]:
    first = situation.pcs.update_strategy.partition
    return [index for index in range(first, situation.pcs.replicas) if index in situation.persisted.records]


def _urgency(situation: Situation, index: int) -> tuple[bool, bool, int]:
    """Unscheduled first, then breached, then by index."""
    replica = situation.tree.replicas.get(index)
    is_scheduled = replica is not None and not replica.is_unscheduled
    return is_scheduled, situation.is_available(index), index


def _move_all(situation: Situation) -> None:
    if situation.is_aborted or situation.is_paused:
        return
    for index in _movable(situation):
        situation.record(index).revision = situation.target.hash


def _carry_out(situation: Situation, created: set[int]) -> None:
    for index in sorted({*situation.tree.replicas, *created}):
        replica = situation.tree.replicas.get(index)
        record = situation.persisted.records.get(index)
        if record is not None and record.is_torn_down and replica is not None:
            for item in sorted(replica.objects, key=_is_no_part):
                situation.writes.delete(item, "the replica is torn down")
            for clique in replica.all_cliques():
                situation.writes.delete_clique(clique, "the replica is torn down")
        elif record is not None and (index in created or (replica is not None and replica.is_held)):
            components.plan(situation, index)


def _is_no_part(item: Object) -> tuple[bool, bool]:
    """Groups and cliques before all else: with the first of them the replica is not available any more, which tells
    one that has begun to go from one of which that was only written."""
    return item.kind != model.SCALING_GROUP_KIND, item.kind != model.CLIQUE_KIND


def adopt(situation: Situation) -> None:
    """A replica that what is persisted does not know, because the status was lost, is what most of it says."""
    for index, replica in situation.tree.replicas.items():
        if index not in situation.persisted.records and replica.is_held:
            situation.persisted.records[index] = ReplicaRecord(_newest_in(situation, replica))


def reconsider(situation: Situation) -> None:
    """That a replica is torn down was written, and then the planner died before it took anything. What it went by is
    not what is seen now: the replica may have become available, or another one has fallen. One that the update had
    caught on its way is caught still."""
    progress = situation.persisted.progress
    for index, record in situation.persisted.records.items():
        replica = situation.tree.replicas.get(index)
        if record.is_torn_down and replica is not None and replica.is_available:
            record.is_torn_down = False
            record.revision = _newest_in(situation, replica)
            if progress is not None and not _is_caught(progress, index):
                progress.updating.pop(index, None)


def _is_caught(progress: UpdateProgress, index: int) -> bool:
    """Taken by an update before this one, which did not bring it to its end."""
    return index in progress.updating and progress.updating[index] < progress.started_at


def _newest_in(situation: Situation, replica: observed.ObservedReplica) -> str:
    revisions_there = [
        revision
        for clique in replica.all_cliques()
        if clique.object is not None
        and (revision := situation.tree.revisions.get(clique.object.labels.get(labels.REVISION, "")))
        is not None
    ]
    return max(revisions_there, key=lambda revision: revision.number, default=situation.target).hash
