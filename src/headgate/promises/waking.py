"""Tries an engine instead of believing it: a fresh look must find nothing, and what is to wake a unit must have it on its
list."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.cycles import targets
from headgate.fleet.engine import convergence, target_states
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import objects as model
from headgate.fleet.state.slots import SlotTable
from headgate.fleet.state.units import Site, Target
from headgate.kernel.instants import Instant


def copy_of(engine: Engine) -> Engine:
    return type(engine).load(engine.dump(), engine.state.ids)


def found_afresh(fresh: Engine, now: Instant) -> list[str]:
    """What a copy does at once that was just loaded, and so looks at everything: the engine has missed it."""
    made = fresh.decide(now)
    differences = [f"{job.kind} {job.tag} on {job.target} starts" for job in made.created]
    differences += [f"{job.target} {job.tag} is cancelled" for job in made.cancelled]
    differences += [f"group {group.id} on {group.resource} is {group.status}" for group in made.groups]
    return differences


class Waker:
    """Asks the engine's own lists, and not its words, whether a unit would be looked at again."""

    def __init__(self, engine: Engine) -> None:
        self._state = engine.state

    def wakes(self, name: str) -> bool:
        """Whether a job, a measurement, a person or anything that the target's unit waits for gets it looked at."""
        target = self._state.target_named(name)
        if target is None:
            return False
        return self._needs_a_person(target) or self._is_at_work(target) or self._is_on_a_list(target)

    def _needs_a_person(self, target: Target) -> bool:
        record = target.record
        group = target.site.executing if target.site is not None else None
        has_failed = record.failed_at is not None or bool(record.failures)
        has_failed = has_failed or (group is not None and group.status == "failed")
        is_denied = target.site is None and targets.denied_by_two_brackets(target) is not None
        is_stranded = target_states.is_stranded(self._state, target)
        return (
            has_failed
            or is_denied
            or is_stranded
            or bool(record.given_up)
            or record.given_up_values is not None
            or record.given_up_rollback is not None
            or convergence.is_passed_over(self._state, target)
        )

    def _is_at_work(self, target: Target) -> bool:
        """A job that lives is reported on; a verification that is measured ends, as long as a measurement is ahead."""
        job = self._state.jobs.get(target.record.job or "")
        if job is not None:
            return job.status in model.JOB_LIVE
        return target.record.verification == "running" and any(
            one.due_at is not None
            for job_id in target.record.attempts[-1:]
            for one in self._state.jobs[job_id].metrics
        )

    def _is_on_a_list(self, target: Target) -> bool:
        """Every event that it names has it on its list, and so has the clock; a place that was dropped is on none."""
        unit = self._state.unit_of(target)
        if isinstance(unit, Site) and self._state.sites.get(unit.key) is not unit:
            return False
        waiting = self._state.waiting
        events = [unit in waiting.waiters(reason) for reason in unit.waits]
        if unit.requeue_at is not None:
            events.append(waiting.is_timed(unit))
        if unit.start_key is not None:
            events.append(any(unit is other for table in self._lines() for _, other in table.in_line()))
        return bool(events) and all(events)

    def _lines(self) -> Iterator[SlotTable]:
        return self._state.slot_tables()
