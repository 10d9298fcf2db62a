"""What was decided about a unit, on every level: go, wait or no, why in one word, and in a sentence for who waits.

The word is one of a closed list, because conditions, events, metrics and explain have to mean the same by it; the
sentence is made when somebody reads it, because most are never read.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Literal

import msgspec

from headgate.kernel.instants import Instant

Outcome = Literal["allowed", "pending", "denied", "error"]


class Reason(StrEnum):
    """Why a unit does not change, and why a condition is what it is. Closed: explain, conditions, events and metrics of all
    levels share these words."""

    ALLOWED = "Allowed"
    # Somebody or something has stopped it.
    FROZEN = "Frozen"
    PAUSED = "Paused"
    REJECTED = "Rejected"
    LINE_STOPPED = "LineStopped"
    MISCONFIGURED = "Misconfigured"
    NAME_TAKEN = "NameTaken"
    # Its time has not come.
    WINDOW_CLOSED = "WindowClosed"
    AWAITING_TURN = "AwaitingTurn"
    COOLING_DOWN = "CoolingDown"
    SOAKING = "Soaking"
    COLLECTING = "Collecting"
    AWAITING_RETRY = "AwaitingRetry"
    # It waits for others.
    AWAITING_APPROVAL = "AwaitingApproval"
    AWAITING_DEPENDENCY = "AwaitingDependency"
    AWAITING_ENVIRONMENT = "AwaitingEnvironment"
    AWAITING_VERIFICATION = "AwaitingVerification"
    AWAITING_CYCLE = "AwaitingCycle"
    SLOTS_TAKEN = "SlotsTaken"
    WAVE_FULL = "WaveFull"
    BUDGET_SPENT = "BudgetSpent"
    # A condition does not hold, or could not be asked.
    GATE_FALSE = "GateFalse"
    EVALUATION_FAILED = "EvaluationFailed"
    NOT_SELECTED = "NotSelected"
    TOO_OLD = "TooOld"
    # It was tried and did not work.
    FAILED = "Failed"
    CYCLE_FAILED = "CycleFailed"
    VERIFICATION_FAILED = "VerificationFailed"
    ROLLED_BACK = "RolledBack"
    # Pods and objects.
    SURGE_UNSCHEDULED = "SurgeUnscheduled"
    SURGE_BREACHED = "SurgeBreached"
    UNIT_UNSCHEDULED = "UnitUnscheduled"
    UNIT_BREACHED = "UnitBreached"
    NO_CAPACITY = "NoCapacity"
    TERMINATING = "Terminating"
    NODE_GONE = "NodeGone"
    # Objects that are not as they should be, as their conditions and events say it.
    NOT_READY = "NotReady"
    RESOURCE_DELETING = "ResourceDeleting"
    RESOLUTION_FAILED = "ResolutionFailed"
    PROPAGATION_BLOCKED = "PropagationBlocked"
    RECONCILIATION_SUSPENDED = "ReconciliationSuspended"
    UNDER_DELETION = "UnderDeletion"
    INVALID_RESOURCE_GRAPH = "InvalidResourceGraph"
    FAILED_TO_START = "FailedToStart"
    INSTANCES_GOING = "InstancesGoing"
    INSTANCES_LEFT = "InstancesLeft"
    TAKEN_OVER = "TakenOver"
    KIND_NOT_HEARD = "KindNotHeard"
    REPLICAS_UNAVAILABLE = "ReplicasUnavailable"
    INSUFFICIENT_READY_PODS = "InsufficientReadyPods"
    INSUFFICIENT_SCHEDULED_PODS = "InsufficientScheduledPods"
    SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE = "ScheduledReplicasBelowMinAvailable"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    ABORTED = "Aborted"
    PUT_BACK = "PutBack"
    WRITE_REFUSED = "WriteRefused"
    # Objects on their way.
    STARTED = "Started"
    UPDATING = "Updating"
    UPDATE_IN_PROGRESS = "UpdateInProgress"
    PROPAGATING = "Propagating"
    ON_DELETE = "OnDelete"
    # Objects as they should be.
    READY = "Ready"
    RUNNING = "Running"
    MANAGED = "Managed"
    VALID = "Valid"
    RESOLVED = "Resolved"
    ALL_RESOURCES_READY = "AllResourcesReady"
    PROPAGATED = "Propagated"
    ALL_REPLICAS_AVAILABLE = "AllReplicasAvailable"
    UPDATE_COMPLETE = "UpdateComplete"
    SUFFICIENT = "Sufficient"
    SUFFICIENT_SCHEDULED_PODS = "SufficientScheduledPods"


class Sentence(msgspec.Struct, frozen=True):
    """What is said of some facts, put into words when it is read: most verdicts are never shown to anyone."""

    say: Callable[..., str]
    facts: tuple[Any, ...]

    def __str__(self) -> str:
        return self.say(*self.facts)


class Verdict(msgspec.Struct, frozen=True):
    """`pending` waits for a time, an event or a person; `denied` will not become allowed by waiting; `error` says that
    a condition could not be asked.

    `requeue_at` is set only when time alone can change the outcome.
    """

    outcome: Outcome
    reason: Reason
    words: str | Sentence = ""
    details: dict[str, object] = {}
    satisfied_at: Instant | None = None
    requeue_at: Instant | None = None

    @property
    def message(self) -> str:
        return str(self.words)

    @property
    def is_allowed(self) -> bool:
        return self.outcome == "allowed"


def allowed(
    words: str | Sentence,
    *,
    satisfied_at: Instant | None = None,
    requeue_at: Instant | None = None,
    **details: object,
) -> Verdict:
    return Verdict("allowed", Reason.ALLOWED, words, details, satisfied_at, requeue_at)


def pending(
    reason: Reason, words: str | Sentence, *, requeue_at: Instant | None = None, **details: object
) -> Verdict:
    return Verdict("pending", reason, words, details, None, requeue_at)


def denied(reason: Reason, words: str | Sentence, **details: object) -> Verdict:
    return Verdict("denied", reason, words, details)


def error(words: str | Sentence, *, requeue_at: Instant | None = None, **details: object) -> Verdict:
    """What cannot be asked is never a pass."""
    return Verdict("error", Reason.EVALUATION_FAILED, words, details, None, requeue_at)
