"""The beginning and the end of freezes, told to whoever follows; one with an end is told of when its time is over."""

from __future__ import annotations

from headgate.fleet.model import objects as model
from headgate.fleet.state.state import State
from headgate.kernel import instants
from headgate.kernel.instants import Instant


def begun(state: State, freeze: model.Freeze) -> None:
    until = (
        f" until {instants.show_to_the_second(freeze.expires_at)}" if freeze.expires_at is not None else ""
    )
    who = f" by {freeze.user}" if freeze.user else ""
    message = f"freeze {freeze.name} begun{who}{until}: {freeze.reason}"
    state.notify("freeze.begun", "Freeze", freeze.name, message, reason=freeze.reason, user=freeze.user)


def lifted(state: State, freeze: model.Freeze, now: Instant) -> None:
    """By a person, before its time; one that is over has ended by its time, told of or not."""
    if freeze.is_over(now):
        _tell_of_end(state, freeze)
    else:
        state.notify("freeze.ended", "Freeze", freeze.name, f"freeze {freeze.name} ended by a person")


def tell_of_ends(state: State, now: Instant) -> None:
    for freeze, _ in state.freezes.values():
        if freeze.is_over(now):
            _tell_of_end(state, freeze)


def _tell_of_end(state: State, freeze: model.Freeze) -> None:
    if state.is_first_time(*_end(freeze)):
        message = f"freeze {freeze.name} ended: its time was over"
        state.notify("freeze.ended", "Freeze", freeze.name, message)


def next_end(state: State) -> Instant | None:
    ends = (
        freeze.expires_at
        for freeze, _ in state.freezes.values()
        if freeze.expires_at is not None and _end(freeze) not in state.warned
    )
    return min(ends, default=None)


def _end(freeze: model.Freeze) -> tuple[str, str]:
    """The same freeze with another end is another occasion."""
    return f"freeze {freeze.name} until {freeze.expires_at}", freeze.id
