"""An update as a whole: when it began, how far it is, when it is done, and what happens if it gets no further."""

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.workload.expand.revisions import Revision
from headgate.workload.plan import observed
from headgate.workload.plan.persisted_state import RolledBack, UpdateProgress
from headgate.workload.plan.situation import Situation


def judge(situation: Situation) -> None:
    """Brings what is persisted up to date with what is seen, before anything is decided. May turn the target back."""
    _begin(situation)
    _measure(situation)
    if is_overdue(situation) and _roll_back(situation):
        _begin(situation)
        _measure(situation)
    situation.persisted.was_paused = situation.is_paused
    _drop_finished(situation)
    _end(situation)


def _begin(situation: Situation) -> None:
    persisted = situation.persisted
    progress = persisted.progress
    target = situation.target.hash
    if progress is None:
        if not persisted.records or not _has_outdated(situation):
            return
    elif progress.revision == target:
        is_over = progress.ended_at is not None
        if not is_over or not situation.is_willing or not _has_outdated(situation):
            return
    carried = {} if progress is None else progress.updating
    surge = {} if progress is None else progress.surge
    goes_on = progress if progress is not None and progress.revision == target else None
    persisted.progress = UpdateProgress(
        target,
        situation.now,
        previous=persisted.done_revision if goes_on is None else goes_on.previous,
        updating=dict(carried),
        surge=dict(surge),
        last_progress_at=situation.now,
    )


def _has_outdated(situation: Situation) -> bool:
    return any(
        not situation.is_new(index)
        for index in range(situation.pcs.update_strategy.partition, situation.pcs.replicas)
    )


def _measure(situation: Situation) -> None:
    """Progress is one unit more that is new and available than ever in this update: one that comes and goes is none.
    A change in how many there are starts the count anew."""
    progress = situation.persisted.progress
    if progress is None or progress.ended_at is not None:
        return
    count, total = _units(situation)
    if total != progress.units:
        progress.most_updated_units, progress.units = count, total
    elif count > progress.most_updated_units:
        progress.most_updated_units = count
        progress.last_progress_at = situation.now
    if situation.persisted.was_paused and not situation.is_paused:
        progress.last_progress_at = situation.now


def _units(situation: Situation) -> tuple[int, int]:
    if situation.strategy == "ReplicaRecreate":
        indices = range(situation.pcs.replicas)
        good = sum(situation.is_new(index) and situation.is_available(index) for index in indices)
        surge = sum(
            situation.is_available(index)
            for index in situation.tree.replicas
            if index >= situation.pcs.replicas and situation.is_new(index)
        )
        return good + surge, situation.pcs.replicas
    count = total = 0
    for index, replica in situation.tree.replicas.items():
        if index < situation.pcs.replicas:
            new, wanted = _component_units(situation, replica)
            count, total = count + new, total + wanted
    return count, total


def _component_units(situation: Situation, replica: observed.ObservedReplica) -> tuple[int, int]:
    count = total = 0
    hashes = situation.target.clique_hashes
    for name, clique in replica.cliques.items():
        wanted = hashes.get(name, "")
        item = clique.live_object
        total += int(item.spec.get("replicas", 0)) if item is not None else 0
        if clique.hashes == {wanted}:
            count += clique.available
        elif wanted in clique.hashes:
            count += sum(pod.is_available and pod.template_hash == wanted for pod in clique.pods)
    for group in replica.groups.values():
        item = group.live_object
        total += int(item.spec.get("replicas", 0)) if item is not None else 0
        count += sum(
            member.is_available and member.is_at(situation.target) for member in group.replicas.values()
        )
    return count, total


def deadline(situation: Situation) -> Instant | None:
    """When it is overdue if nothing more becomes new and available."""
    progress = situation.persisted.progress
    seconds = situation.pcs.update_strategy.progress_deadline_seconds
    if progress is None or progress.ended_at is not None or seconds is None:
        return None
    if situation.is_paused or situation.is_aborted or situation.strategy == "OnDelete":
        return None
    return progress.last_progress_at + instants.seconds(seconds)


def is_overdue(situation: Situation) -> bool:
    moment = deadline(situation)
    return moment is not None and moment <= situation.now


def _roll_back(situation: Situation) -> bool:
    back = rollback_revision(situation)
    if situation.pcs.update_strategy.on_deadline != "rollback" or back is None:
        return False
    situation.persisted.rolled_back = RolledBack(situation.newest.hash, back.hash, situation.now)
    situation.target = back
    return True


def rollback_revision(situation: Situation) -> Revision | None:
    """The last revision that was done before this update. Of one that goes on where a partition had ended it that is
    the same as before: its own revision was done then, as far as it went. A way back that gets stuck too is held:
    there is nowhere else to go."""
    persisted = situation.persisted
    progress = persisted.progress
    if progress is None or persisted.rolled_back is not None:
        return None
    previous = progress.previous or persisted.done_revision or ""
    return None if previous == situation.target.hash else situation.tree.revisions.get(previous)


def _drop_finished(situation: Situation) -> None:
    progress = situation.persisted.progress
    if progress is None:
        return
    for index in list(progress.updating):
        is_left_behind = not situation.is_willing and not situation.is_new(index)
        if index >= situation.pcs.replicas or is_left_behind or _is_finished(situation, index):
            del progress.updating[index]
    for index in list(progress.surge):
        replica = situation.tree.replicas.get(index)
        if index < situation.pcs.replicas or replica is None or not replica.is_held:
            del progress.surge[index]


def _is_finished(situation: Situation, index: int) -> bool:
    """Below a partition that was raised meanwhile, a replica goes no further than to where it is on its way."""
    has_arrived = situation.is_new(index) if situation.may_move(index) else situation.is_at_own(index)
    if not (has_arrived and situation.is_available(index)):
        return False
    return situation.strategy == "ReplicaRecreate" or is_settled(situation.tree.replicas[index])


def is_settled(replica: observed.ObservedReplica) -> bool:
    """Every pod that is wanted is available, and none is left above them but what is on its way out."""
    return all(_is_clique_settled(clique) for clique in replica.cliques.values()) and all(
        _is_group_settled(group) for group in replica.groups.values()
    )


def _is_clique_settled(clique: observed.ObservedClique) -> bool:
    return clique.object is not None and clique.is_settled(int(clique.object.spec.get("replicas", 0)))


def _is_group_settled(group: observed.ObservedGroup) -> bool:
    item = group.live_object
    if item is None:
        return False
    live = [replica for replica in group.replicas.values() if not replica.is_going]
    wanted = range(int(item.spec.get("replicas", 0)))
    return {replica.index for replica in live} == set(wanted) and all(
        _is_clique_settled(clique) for replica in live for clique in replica.cliques.values()
    )


def _end(situation: Situation) -> None:
    persisted = situation.persisted
    progress = persisted.progress
    is_done = (
        is_everything_new_and_available(situation)
        and not (progress and progress.updating)
        and not any(_has_surge(replica) for replica in situation.tree.replicas.values())
    )
    if is_done and any(map(situation.is_new, range(situation.pcs.replicas))):
        persisted.done_revision = situation.target.hash
    if progress is None or progress.ended_at is not None:
        return
    if is_done or situation.is_aborted or situation.strategy == "OnDelete":
        progress.ended_at = situation.now


def _has_surge(replica: observed.ObservedReplica) -> bool:
    """Also what is on its way out: an update is over when nothing of it is left."""
    for clique in replica.cliques.values():
        wanted = int(clique.object.spec.get("replicas", 0)) if clique.object is not None else 0
        if len(clique.pods) != wanted and any(pod.index >= wanted for pod in clique.pods):
            return True
    for group in replica.groups.values():
        wanted = int(group.object.spec.get("replicas", 0)) if group.object is not None else 0
        if any(index >= wanted for index in group.replicas):
            return True
    return False


def is_everything_new_and_available(situation: Situation) -> bool:
    replicas = situation.pcs.replicas
    return all(
        situation.is_available(index) and (situation.is_new(index) or not situation.may_move(index))
        for index in range(replicas)
    ) and not any(index >= replicas and replica.is_held for index, replica in situation.tree.replicas.items())
