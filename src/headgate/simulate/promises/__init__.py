"""The promises of the product that a fleet can break, one file each.

Every promise keeps its own books from what it observes: accepted changes, jobs and groups as they change, and what
the engine says when asked. None of them reads the engine's indexes, slots or timers.
"""

from headgate.simulate.promises.base import Broken, Ending, Promise, Unconverged
from headgate.simulate.promises.budget_never_exceeded import BudgetNeverExceeded
from headgate.simulate.promises.monotone_progress import MonotoneProgress
from headgate.simulate.promises.no_double_effect import NoDoubleEffect
from headgate.simulate.promises.no_gate_skipped import NoGateSkipped
from headgate.simulate.promises.no_lost_event import NoLostEvent
from headgate.simulate.promises.no_silent_downgrade import NoSilentDowngrade
from headgate.simulate.promises.no_stale_write import NoStaleWrite
from headgate.simulate.promises.no_stuck_without_reason import NoStuckWithoutReason
from headgate.simulate.promises.one_job_per_target import OneJobPerTarget
from headgate.simulate.promises.replay_equals_decision import ReplayEqualsDecision
from headgate.simulate.promises.stop_is_absolute import StopIsAbsolute

ALL: tuple[type[Promise], ...] = (
    BudgetNeverExceeded,
    OneJobPerTarget,
    NoGateSkipped,
    NoStaleWrite,
    NoLostEvent,
    NoDoubleEffect,
    StopIsAbsolute,
    MonotoneProgress,
    NoStuckWithoutReason,
    NoSilentDowngrade,
    ReplayEqualsDecision,
)

__all__ = ["ALL", "Broken", "Ending", "Promise", "Unconverged"]
