"""The promises of the product, one file each: what it means in the fleet, in a graph, in a workload.

Every promise keeps its own books from what it observes. None of them reads the engine's indexes, slots or timers, nor
what a planner counted.
"""

from headgate.promises.base import FleetPromise, GraphPromise, Promise, WorkloadPromise
from headgate.promises.budget_never_exceeded import FleetBudgetNeverExceeded, WorkloadBudgetNeverExceeded
from headgate.promises.monotone_progress import (
    FleetMonotoneProgress,
    GraphMonotoneProgress,
    WorkloadMonotoneProgress,
)
from headgate.promises.no_double_effect import NoDoubleEffect
from headgate.promises.no_gate_skipped import FleetNoGateSkipped, GraphNoGateSkipped
from headgate.promises.no_lost_event import NoLostEvent
from headgate.promises.no_silent_downgrade import NoSilentDowngrade
from headgate.promises.no_stale_write import FleetNoStaleWrite, GraphNoStaleWrite
from headgate.promises.no_stuck_without_reason import (
    FleetNoStuckWithoutReason,
    GraphNoStuckWithoutReason,
    WorkloadNoStuckWithoutReason,
)
from headgate.promises.no_version_mix import NoVersionMix
from headgate.promises.nothing_leaked import NothingLeaked
from headgate.promises.one_job_per_target import OneJobPerTarget
from headgate.promises.one_replica_at_a_time import OneReplicaAtATime
from headgate.promises.replay_equals_decision import FleetReplayEqualsDecision, GraphReplayEqualsDecision
from headgate.promises.stop_is_absolute import (
    FleetStopIsAbsolute,
    GraphStopIsAbsolute,
    WorkloadStopIsAbsolute,
)
from headgate.promises.unique_hostname import UniqueHostname

FLEET: tuple[type[FleetPromise], ...] = (
    FleetBudgetNeverExceeded,
    OneJobPerTarget,
    FleetNoGateSkipped,
    FleetNoStaleWrite,
    NoLostEvent,
    NoDoubleEffect,
    FleetStopIsAbsolute,
    FleetMonotoneProgress,
    FleetNoStuckWithoutReason,
    NoSilentDowngrade,
    FleetReplayEqualsDecision,
)
GRAPH: tuple[type[GraphPromise], ...] = (
    GraphNoStaleWrite,
    GraphNoGateSkipped,
    GraphStopIsAbsolute,
    GraphNoStuckWithoutReason,
    GraphMonotoneProgress,
    GraphReplayEqualsDecision,
)
WORKLOAD: tuple[type[WorkloadPromise], ...] = (
    UniqueHostname,
    NoVersionMix,
    WorkloadBudgetNeverExceeded,
    WorkloadStopIsAbsolute,
    OneReplicaAtATime,
    WorkloadNoStuckWithoutReason,
    WorkloadMonotoneProgress,
    NothingLeaked,
)
ALL: tuple[type[Promise], ...] = (*FLEET, *GRAPH, *WORKLOAD)

__all__ = ["ALL", "FLEET", "GRAPH", "WORKLOAD"]
