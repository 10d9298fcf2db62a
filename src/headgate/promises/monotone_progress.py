"""Looked at when nothing more can happen: work that is left must be held back by a fault or by a gate.

And in between, from time to time: an engine that has decided has nothing left to do that a fresh look would find.
"""

from collections.abc import Iterable, Iterator, Sequence

from headgate.fleet.model import objects as model
from headgate.fleet.model import records
from headgate.kernel.instants import Instant
from headgate.promises.base import (
    FleetPromise,
    GraphPromise,
    ObjectPromise,
    Promise,
    RunEnding,
    Unfinished,
    WorkloadPromise,
)
from headgate.promises.books.concurrency import Budgets
from headgate.promises.books.mirror import TargetKey

_UNDER_WAY = frozenset({"waiting", "retrying", "running", "rollingBack"})
_PUT_BACK = frozenset({"rolledBack", "skipped", "dropped"})


class MonotoneProgress(Promise):
    name = "MonotoneProgress"
    sentence = "with faults over and gates open, the remaining work falls to zero"


class FleetMonotoneProgress(MonotoneProgress, FleetPromise):
    def reconciled_afresh(self, differences: Sequence[str], now: Instant) -> None:
        if differences:
            self.broken(now, f"nobody looks again, and a fresh look finds work: {differences[0]}")

    def ended(self, ending: RunEnding) -> None:
        if ending.converged or ending.was_cut or ending.next_wake is not None:
            return
        for unit in ending.unconverged:
            is_open = all(verdict == "allowed" for verdict, _ in unit.verdicts)
            if unit.state == "waiting" and is_open and unit.verdicts:
                self.broken(
                    ending.at, f"{unit.target} waits although every rule says allowed ({unit.reason})"
                )
        if not ending.unconverged:
            self.broken(ending.at, "the fleet has not converged, and no target says that it is the one")
        denied = {unit.target for unit in ending.unconverged if any(v == "denied" for v, _ in unit.verdicts)}
        for group in self.mirror.groups.values():
            if group.status == "executing" and not self._is_held(group, denied, ending.at):
                left = ", ".join(f"{one.deployment} {one.state}" for one in group.members)
                self.broken(ending.at, f"group {group.id} on {group.resource} goes on with nothing: {left}")

    def _is_held(self, group: records.Group, denied: set[str], now: Instant) -> bool:
        """A job of it, or one that a target of it had before, never ends; or what is left is frozen, paused, denied, waits for
        a version or for a slot."""
        if any(job.status in model.JOB_LIVE for job in self._jobs(group)):
            return True
        if group.slot_released and self._lacks_a_slot(group):
            return True
        return any(
            member.version is None
            or target.name in denied
            or self._is_frozen(target, now)
            or self._is_paused(member)
            for member, target in zip(group.members, TargetKey.of_members(group), strict=True)
            if _is_left(group, member)
        )

    def _jobs(self, group: records.Group) -> Iterator[records.Job]:
        left = {
            target
            for member, target in zip(group.members, TargetKey.of_members(group), strict=True)
            if _is_left(group, member)
        }
        return (
            job for job in self.mirror.jobs.values() if job.group == group.id or TargetKey.of_job(job) in left
        )

    def _is_frozen(self, target: TargetKey, now: Instant) -> bool:
        return any(True for _ in self.mirror.freezes_over(*target, now))

    def _is_paused(self, member: records.Member) -> bool:
        tag = self.mirror.tag_of(member.deployment, member.version or "")
        version = self.mirror.version(member.deployment, tag)
        return version is not None and version.status == "paused"

    def _lacks_a_slot(self, group: records.Group) -> bool:
        """A group whose slot was released goes on when it has one again: held is what others leave no room for."""
        books = Budgets(self.mirror)
        for other in self.mirror.groups.values():
            is_started = other.started_at is not None and other.status not in records.GROUP_ENDED
            if is_started and not other.slot_released:
                for target in TargetKey.of_members(other):
                    books.take(other.id, target)
        for job in self.mirror.jobs.values():
            if job.group is None and (job.status in model.JOB_LIVE or job.verification == "running"):
                books.take(job.id, TargetKey.of_job(job))
        return any(
            budget.covers(self.mirror, target)
            and group.resource not in budget.holders
            and len(budget.holders) >= budget.limit
            for target in TargetKey.of_members(group)
            for budget in books.current()
        )


class ObjectMonotoneProgress(MonotoneProgress, ObjectPromise):
    def ended(self, unfinished: Iterable[Unfinished], now: Instant, *, is_over: bool) -> None:
        for item in unfinished:
            if is_over and not item.is_held and not item.is_hindered:
                reasons = "; ".join(item.reasons) or "no reason"
                self.broken(now, f"{item.name} is not done and nothing is in its way ({reasons})")


class GraphMonotoneProgress(ObjectMonotoneProgress, GraphPromise):
    pass


class WorkloadMonotoneProgress(ObjectMonotoneProgress, WorkloadPromise):
    pass


def _is_left(group: records.Group, member: records.Member) -> bool:
    """What has run in a group that goes back is still to be put back, whatever became of it."""
    is_to_go_back = group.phase == "rollingBack" and member.ran and member.state not in _PUT_BACK
    return member.state in _UNDER_WAY or is_to_go_back
