"""What the engine remembers of its own decisions: one record a row, written by the engine alone.

Records are plain data that can be written out and read back at any step; everything else in the engine
(indexes, timers, waiting lists, slots) is derived from them and from the objects. They hold no cycles, so the garbage
collector need not walk them: there are hundreds of thousands.
"""

from typing import Literal

import msgspec

from headgate.kernel.instants import Instant

JobKind = Literal["deploy", "hook", "redeploy", "rollback", "variable"]
VerificationStatus = Literal["none", "running", "passed", "failed", "abandoned"]
"""`abandoned`: a newer release began, or the target went, before it had ended."""
GroupStatus = Literal[
    "collecting",
    "ready",
    "queued",
    "executing",
    "completed",
    "failed",
    "rolledBack",
    "aborted",
    "superseded",
    "merged",
]
MemberRole = Literal["member", "preHook", "postHook"]
MemberState = Literal[
    "waiting",
    "running",
    "retrying",
    "succeeded",
    "failed",
    "unchanged",
    "dropped",
    "skipped",
    "rollingBack",
    "rolledBack",
]

GROUP_ENDED: frozenset[str] = frozenset({"completed", "rolledBack", "aborted", "superseded", "merged"})
MEMBER_SETTLED: frozenset[str] = frozenset({"succeeded", "unchanged", "dropped", "skipped", "rolledBack"})
MEMBER_UNDER_WAY: frozenset[str] = frozenset({"waiting", "retrying", "running", "rollingBack"})

Variables = tuple[tuple[str, object], ...]


class Measurement(msgspec.Struct, omit_defaults=True, gc=False):
    """One measurement as it was taken; `answer` is what the provider said, or why it said nothing."""

    at: Instant
    verdict: Literal["passed", "failed", "inconclusive"]
    value: str | None = None
    condition: str = ""
    message: str = ""
    answer: str = ""


class MetricProgress(msgspec.Struct, omit_defaults=True, gc=False):
    """One verification metric of one job: the measurements so far, and when the next is due.

    Of many measurements the first and the last are kept; `dropped` says how many were in between.
    """

    rule: str
    metric: str
    state: dict[str, object] = {}
    status: Literal["running", "passed", "failed"] = "running"
    due_at: Instant | None = None
    measurements: list[Measurement] = []
    dropped: int = 0


class Job(msgspec.Struct, omit_defaults=True, eq=False, gc=False):
    """One run of a release on a target by a job agent."""

    id: str
    deployment: str
    environment: str
    resource: str
    version: str
    """The version's id; `tag` is what people read."""
    tag: str
    variables: Variables
    attempt: int
    kind: JobKind
    created_at: Instant
    status: str = "pending"
    reason: str = ""
    agent: str | None = None
    group: str | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None
    external_id: str | None = None
    message: str | None = None
    links: dict[str, str] = {}
    verification: VerificationStatus = "none"
    verified_at: Instant | None = None
    metrics: list[MetricProgress] = []
    offered: bool = False
    """Who had it was lost, and nobody has it now."""

    @property
    def target(self) -> str:
        return f"{self.deployment}/{self.environment}/{self.resource}"

    @property
    def is_unclaimed(self) -> bool:
        """No agent has it, so that it can be taken back."""
        return self.status == "pending" or (self.offered and self.status == "queued")


class Fault(msgspec.Struct, omit_defaults=True, gc=False):
    """The job with which a release failed for good, as far as people have to know it after it is history."""

    job: str
    version: str
    tag: str
    status: str
    attempt: int
    cause: str
    at: Instant
    agent: str | None = None
    message: str | None = None
    links: dict[str, str] = {}
    metrics: list[MetricProgress] = []


class GivenUp(msgspec.Struct, omit_defaults=True, eq=False, gc=False):
    """A version that a group had locked for a target and that does not run there: what ended it, and when.

    It is not spent: the next group that something else opens locks it again, and so does an operator's retry.
    """

    group: str
    how: Literal["aborted", "skipped", "rolledBack", "left"]
    reason: str
    at: Instant


class GivenUpValues(GivenUp, omit_defaults=True, eq=False, gc=False):
    """The same of changed values of the version that runs: these are not tried again by themselves, other ones are."""

    variables: Variables = ()


class GivenUpRollback(GivenUp, omit_defaults=True, eq=False, gc=False):
    """The same of a way back that was ordered: only who orders it again goes it."""

    version: str = ""
    """The version's id that it was to go back to."""


class Left(msgspec.Struct, gc=False):
    """When a target ended, and of what it was: ids, because names are given again."""

    at: Instant
    deployment: str
    resource: str


class TargetRecord(msgspec.Struct, omit_defaults=True, eq=False, gc=False):
    """What is known of one release target. `deployed` is the newest version whose job succeeded there: what runs."""

    deployed: str | None = None
    deployed_variables: Variables = ()
    deployed_at: Instant | None = None
    previous: str | None = None
    """The version before `deployed` that is known to be good: where a rollback goes."""
    ran: tuple[str, ...] = ()
    """Versions that have succeeded here, the last one last: where an ordered rollback may go. The oldest are forgotten."""
    left: Left | None = None
    """Of the last time that the target ended."""
    adopted_by: str | None = None
    """Who said that `deployed` runs here, if no job of ours has put it there."""
    finished_at: Instant | None = None
    """When the newest job ended, however it ended."""
    job: str | None = None
    """The live job."""
    attempts: list[str] = []
    """Ended jobs of the newest release, oldest first."""
    rolled_back: dict[str, str] = msgspec.field(default_factory=dict, name="spent")
    """Versions that were put back here and shall not be tried again by themselves, each with the cause."""
    retry_at: Instant | None = None
    slots: dict[str, Instant] = {}
    """Concurrency rules whose slots are held for work outside brackets, and since when."""
    ordered: str | None = None
    """What is still to be carried out: an operator's retry or redeploy, or a redeploy of what left unmeasured."""
    tried_again: tuple[str, ...] = ()
    """Versions that a person wants to be tried again, until something runs: they are not new here."""
    rollback_to: str | None = None
    """The version that an automatic or ordered rollback is going back to."""
    rollback_cause: str = ""
    """What made it go back: the measurement, the job or the person."""
    verification: VerificationStatus = "none"
    was_proven: bool = False
    """The version that runs was known to be good before it was deployed again, such as with other values."""
    failed_at: Instant | None = None
    """Set while the newest release has failed for good."""
    failed_version: str | None = None
    given_up: dict[str, GivenUp] = {}
    """Versions newer than what runs that were locked by a group and given up with it, by version id."""
    given_up_values: GivenUpValues | None = None
    """Changed values of what runs that were given up with a group."""
    given_up_rollback: GivenUpRollback | None = None
    """A way back that was given up with a group before its turn."""
    failures: dict[str, Variables] = {}
    """Releases that failed for good here, version id to resolved values; another set of values is another release."""
    fault: Fault | None = None
    """The newest of those failures, until something newer succeeds."""

    @property
    def is_proven(self) -> bool:
        """Success means verified, where a verification applies."""
        return self.verification in ("none", "passed")

    @property
    def is_good(self) -> bool:
        """What runs is known to be good, or was, and has not been found to be bad: enough to go back to it."""
        return self.is_proven or (self.was_proven and self.verification != "failed")

    @property
    def proven(self) -> str | None:
        """The newest version that is known to be good here: where a failed release goes back to."""
        return self.deployed if self.is_good else self.previous or self.deployed


class Member(msgspec.Struct, omit_defaults=True, eq=False, gc=False):
    """One deployment's part in a group."""

    deployment: str
    role: MemberRole = "member"
    version: str | None = None
    """The locked version's id; None for a member that runs nothing in this group."""
    locked_at: Instant | None = None
    state: MemberState = "waiting"
    kind: JobKind = "deploy"
    previous: str | None = None
    """The version that ran here when the group started: where a rollback of this group goes."""
    is_previous_unproven: bool = False
    """It was not known to be good, and nothing before it was."""
    ran: bool = False
    job: str | None = None
    attempts: list[str] = []
    retry_at: Instant | None = None
    watermark_before: str | None = msgspec.field(default=None, name="floor_before")
    """What was the newest lock of this deployment here before this one: restored if this lock is dropped."""
    next_version: str | None = None
    next_locked_at: Instant | None = None
    settled_at: Instant | None = None
    left: bool = False
    """Its target is no longer in the site."""
    left_at: Instant | None = None
    """When its target left although it was still to run, or ran, in the started group."""
    note: str = ""


class Transition(msgspec.Struct, gc=False):
    at: Instant
    status: GroupStatus


class Group(msgspec.Struct, omit_defaults=True, eq=False, gc=False):
    """One cycle of a bracket on one (rule, environment, resource)."""

    id: str
    policy: str
    rule: str
    environment: str
    resource: str
    status: GroupStatus
    collection_started_at: Instant
    collection_ends_at: Instant
    created_at: Instant
    locked_at: Instant | None = None
    ready_at: Instant | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None
    clock_start: Instant | None = None
    """From when rollout offsets count; inherited from the group that this one superseded."""
    merged_into: str | None = None
    members: list[Member] = []
    history: list[Transition] = []
    without_window: bool = False
    """A cycle for changed variables: no window, no rollout position."""
    failed_at: Instant | None = None
    stuck: bool = False
    slots: list[str] = []
    """Concurrency rules whose slots the group has taken."""
    slots_since: dict[str, Instant] = {}
    """Since when it holds each of them, so that a load says the same; where it is not known, since its start."""
    slot_released: bool = False
    phase: Literal["forward", "rollingBack", "finishing"] = "forward"
    """`finishing` runs what is left (post-hooks) and then ends the group as `outcome`."""
    outcome: GroupStatus | None = None
    reason: str = ""
    run_post_hooks: bool = True
    hooks: dict[str, MemberRole] = {}
    """The hooks that were inferred when it opened: it keeps them."""

    def member(self, deployment: str) -> Member | None:
        for member in self.members:
            if member.deployment == deployment:
                return member
        return None


class LostHooks(msgspec.Struct, frozen=True, gc=False):
    """Roles that were inferred for a bracket and that nobody has any more, with who had them, and since when."""

    roles: dict[MemberRole, str]
    at: Instant


class SiteRecord(msgspec.Struct, omit_defaults=True, eq=False, gc=False):
    """What a bracket has locked so far on one (rule, environment, resource), member by member."""

    watermarks: dict[str, str] = msgspec.field(default_factory=dict, name="floors")
    """Newest version ever locked here, by deployment: versions up to it are not new any more."""
    backs: dict[str, tuple[str, str]] = {}
    """The way back from a rejected version that was locked here, by deployment: from which version to which."""
    lost_hooks: LostHooks | None = None
    """The same for all sites of the bracket."""


class Breaker(msgspec.Struct, omit_defaults=True, eq=False, gc=False):
    """A failure budget: who has failed since a person last resumed, and since when the line is stopped."""

    failed: dict[str, Instant] = {}
    stopped_at: Instant | None = None
