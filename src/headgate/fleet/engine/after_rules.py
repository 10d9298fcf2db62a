"""What runs already, when rules or the groups of resources change: it is counted from then on, never stopped."""

from __future__ import annotations

from headgate.fleet.cycles import cycle
from headgate.fleet.engine import outcomes
from headgate.fleet.state import holds, verifying
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target
from headgate.kernel.instants import Instant


def settle(state: State, now: Instant) -> None:
    """Of the targets whose rules have changed: what is no longer measured, and which slots are held."""
    rebound, state.rebound = sorted(state.rebound), {}
    for target in rebound:
        if state.target_named(target.name) is not target:
            continue
        job = verifying.drop_unruled(state, target, now)
        if job is not None:
            outcomes.verification_ended(state, job, now)
        _hold_what_runs(state, target, now)


def hold_what_runs_on(state: State, resource: str, now: Instant) -> None:
    """A resource that changes its group takes its work along: counted there from now on, and no longer here."""
    for target in state.resources[resource].targets.values():
        _hold_what_runs(state, target, now)


def _hold_what_runs(state: State, target: Target, now: Instant) -> None:
    holds.hold_what_runs(state, target, now)
    site = target.site
    if site is not None and site.executing is not None and not site.executing.slot_released:
        cycle.hold_again(state, site, site.executing, now)
