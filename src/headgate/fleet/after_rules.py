"""What runs already, when rules or the groups of resources change: it is counted from then on, never stopped."""

from __future__ import annotations

from headgate.fleet import holds, outcomes, verifying
from headgate.fleet.brackets import cycle
from headgate.fleet.state import State
from headgate.kernel.instants import Instant


def settle(state: State, now: Instant) -> None:
    for job in verifying.drop_unruled(state, now):
        outcomes.verification_ended(state, job, now)
    _hold_what_runs(state, now)


def _hold_what_runs(state: State, now: Instant) -> None:
    """A rule that arrives while jobs run counts what runs; it takes nothing away."""
    for name in sorted(state.unfinished):
        holds.restore_target(state, state.targets[name], now)
    for place in state.places.values():
        if place.executing is not None and not place.executing.slot_released:
            cycle.hold_again(state, place, place.executing, now)


def hold_what_runs_on(state: State, resource: str, now: Instant) -> None:
    """A resource that changes its group takes its work along: counted there from now on, and no longer here."""
    holds.leave_groups(state, resource)
    for target in state.resources[resource].targets.values():
        holds.restore_target(state, target, now)
        place = target.place
        if place is not None and place.executing is not None and not place.executing.slot_released:
            cycle.hold_again(state, place, place.executing, now)
