"""What answers about rollouts look like: jobs, targets, groups, what people decide, budgets, the matrix."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from headgate.fleet.engine import explain, explain_deployment, remedies, views
from headgate.fleet.engine.queries.outlooks import OrderOutlook
from headgate.fleet.model import objects as model
from headgate.fleet.model import records
from headgate.kernel.budgets import BudgetHolder
from headgate.kernel.decisions import Reason
from headgate.kernel.documents import Moment
from headgate.kernel.explanations import ExplanationTree

Json = dict[str, Any]


class JobLineView(msgspec.Struct, rename="camel"):
    id: str
    status: model.JobStatus


class ClaimView(msgspec.Struct, rename="camel"):
    token: int
    until: Moment


class ClaimedJob(msgspec.Struct, rename="camel"):
    """All that an agent needs to know to run the job."""

    claim: ClaimView
    job: Json
    agent: Json
    config: Json
    variables: Json
    version: Json
    resource: Json
    environment: Json
    deployment: Json
    trace_parent: str | None


class Claims(msgspec.Struct, rename="camel"):
    jobs: list[ClaimedJob]


class Heartbeat(msgspec.Struct, rename="camel"):
    """`cancelled`: stop the work, then report."""

    cancelled: bool
    until: Moment


class JobLineAdded(msgspec.Struct, rename="camel"):
    """How many lines the job's log has, and whether it takes no more."""

    next_offset: int
    is_full: bool


class JobLogLine(msgspec.Struct, rename="camel"):
    """`line` is its number, from 0; `at` is when it was handed in."""

    line: int
    at: Moment
    text: str


class JobLog(msgspec.Struct, rename="camel"):
    """`hasEnded`: the job has ended, and these are its last lines."""

    items: list[JobLogLine]
    next_offset: int
    has_ended: bool
    is_full: bool


class Concerns(msgspec.Struct, rename="camel"):
    """How many release targets it concerns, the first of them by name, and what there is to be said of it."""

    targets: int
    sample: list[str]
    note: str | None


class TargetVariable(msgspec.Struct, rename="camel"):
    """`source` says who has set it: the resource, the deployment (for the resources of `selector`, or as its default), or
    the variable set `name`."""

    key: str
    value: object
    source: Literal["resource", "deploymentValue", "variableSet", "default"]
    name: str
    selector: str | None


class TargetVariables(msgspec.Struct, rename="camel"):
    """What a job that began now would be given."""

    items: list[TargetVariable]


class Moved(msgspec.Struct, rename={"from_": "from"}):
    """From which version to which, by tag."""

    name: str
    from_: str | None
    to: str | None


class Unable(msgspec.Struct, rename="camel"):
    name: str
    reason: str


class TargetsOrder(msgspec.Struct, rename="camel"):
    """`targets` and `refused` are the first 500 of each; `count` and `refusedCount` are all."""

    action: Literal["retry", "rollback", "redeploy", "adopt"]
    deployment: str
    environment: str
    dry_run: bool
    count: int
    targets: list[Moved]
    refused_count: int
    refused: list[Unable]


class TargetView(msgspec.Struct, rename="camel"):
    """`current` is the tag of what runs there."""

    name: str
    deployment: str
    environment: str
    resource: str
    state: model.TargetState
    current: str | None
    job: JobLineView | None


class ListedTarget(TargetView, rename="camel"):
    """`current` is the tag of what runs there. The last three are null unless reasons are asked for."""

    desired: str | None
    message: str | None
    next_evaluation_time: Moment | None


class TargetDetail(TargetView, rename="camel"):
    """`message` is the one sentence to read first; `orders` says what can be ordered, and of the rest why it cannot."""

    desired: str | None
    message: str
    deployed_at: Moment | None
    verification: records.VerificationStatus
    group: str | None
    orders: list[OrderOutlook]


class GroupDetail(views.GroupView, rename="camel"):
    """`orders` says what can be ordered for it as a whole, and of the rest why it cannot; nothing for one that has ended."""

    orders: list[OrderOutlook]


class ActionView(remedies.Action, frozen=True, rename="camel"):
    """What a person can do: the command, what comes of it, the permission it needs and the roles that have it."""

    roles: list[str]


class RuleLineView(explain.RuleLine, frozen=True, rename="camel"):
    """`policy` and `rule` are null for the gates that are always on. `skipRefusal` says why a skip is refused or does not
    help, null if it lets the target pass."""

    skip_refusal: str | None = None


class ExplanationView(explain.Explanation, frozen=True, rename="camel"):
    """`changes` says what can change the state next, `blocked` that nothing but a person can; `tree` is the same and what
    is below, down to the pods of a cluster."""

    rules: tuple[RuleLineView, ...] = ()
    actions: tuple[ActionView, ...] = ()
    tree: ExplanationTree | None = None


class ReasonGroupView(explain_deployment.ReasonGroup, rename="camel"):
    """Targets in one state for one reason; `targets` is a sample, `blocked` how many only a person can change, and the
    sentences and actions are those of the first of them, which is the one that changes first."""

    actions: tuple[ActionView, ...] = ()


class DeploymentExplanation(msgspec.Struct, rename="camel"):
    """`targets` is how many there are; if there is none, `withoutTargets` says why, environment by environment.
    `approvals` are the versions whose votes are asked for, also where something else holds them first, such as a freeze."""

    deployment: str
    targets: int
    reasons: list[ReasonGroupView]
    approvals: list[explain_deployment.AwaitedApproval]
    without_targets: list[str] = []


class ApprovalView(msgspec.Struct, rename="camel"):
    version_id: str
    deployment: str
    tag: str
    environment: str
    user: str
    status: model.VoteStatus
    reason: str | None
    at: Moment
    roles: list[str]


class SkipView(msgspec.Struct, rename="camel"):
    """`rule` is the rule's id, `ruleName` what people call it; what is null is not restricted."""

    id: str
    policy: str
    rule: str
    rule_name: str | None
    version_id: str | None
    deployment: str | None
    tag: str | None
    environment: str | None
    resource: str | None
    reason: str
    user: str
    created_at: Moment
    expires_at: Moment | None


class BudgetView(msgspec.Struct, rename="camel"):
    """`scope` is the selector of the resources it covers, one value of its groupBy, or the version whose rollout failures
    stop; `stoppedAt` is set while the line is stopped."""

    policy: str
    rule: str
    rule_id: str
    kind: Literal["resourceConcurrency", "failureBudget", "gradualRollout"]
    environment: str | None
    scope: str | None
    limit: int
    used: int
    holders: list[BudgetHolder]
    stopped_at: Moment | None


class PastJob(msgspec.Struct, rename="camel"):
    id: str
    status: model.JobStatus
    version: str


class PastTarget(msgspec.Struct, rename="camel"):
    """`reason` is why it did not change, in the word that metrics count by, as of the last decision that was recorded."""

    name: str
    state: model.TargetState
    current: str | None
    reason: Reason | None
    job: PastJob | None


class PastGroup(msgspec.Struct, rename="camel"):
    """A group that had not ended; `members` are states by deployment."""

    id: str
    policy: str
    environment: str
    resource: str
    status: records.GroupStatus
    members: dict[str, records.MemberState]


class PastBudget(msgspec.Struct, rename="camel"):
    """`name` tells it from all others; `holders` are the first few of those that `used` counts, by name."""

    name: str
    policy: str
    rule: str
    kind: Literal["resourceConcurrency", "failureBudget", "gradualRollout"]
    environment: str | None
    scope: str | None
    limit: int
    used: int
    holders: list[str]
    stopped_at: Moment | None


class Past(msgspec.Struct, rename="camel"):
    """All there was at a moment. `earliest` is the first that can be asked for; `position` is how far the log went."""

    at: Moment
    earliest: Moment
    position: int
    targets: list[PastTarget]
    groups: list[PastGroup]
    budgets: list[PastBudget]


class SeenChange(msgspec.Struct, rename="camel"):
    """One thing that anybody can see. `row` is how it is from that moment on, as a PastTarget, PastGroup or PastBudget by its
    table; null when it is gone."""

    at: Moment
    table: Literal["targets", "groups", "budgets"]
    name: str
    row: Json | None


class PastChanges(msgspec.Struct, rename="camel"):
    """In order. `wasCut` says that there were more before the first of them."""

    earliest: Moment
    was_cut: bool
    changes: list[SeenChange]


class Future(msgspec.Struct, rename="camel"):
    """What will change if nothing else does and every job takes its usual time, in order from `madeAt` on. `wasCut` says
    that it goes on after the last of them; `waiting` are those who would still wait then."""

    made_at: Moment
    age_seconds: int
    is_current: bool
    was_cut: bool
    finish_at: Moment | None
    changes: list[SeenChange]
    waiting: list[WaitingTarget]


class BudgetsView(msgspec.Struct, rename="camel"):
    budgets: list[BudgetView]


class BracketMember(msgspec.Struct, rename="camel"):
    """`after` are members that have to be done first."""

    deployment: str
    role: records.MemberRole
    after: list[str]


class BracketView(msgspec.Struct, rename="camel"):
    policy: str
    rule: str
    members: list[BracketMember]


class Counts(msgspec.Struct, rename="camel"):
    up_to_date: int
    waiting: int
    verifying: int
    running: int
    rolling_back: int
    rolled_back: int
    failed: int
    frozen: int
    no_version: int


class WaitingTarget(msgspec.Struct, rename="camel"):
    target: str
    message: str


class RolloutCounts(msgspec.Struct, rename="camel"):
    """The newest version by what runs: how many targets should run it, how many run it and are verified, and the rest."""

    version: str | None
    desired: int
    running: int
    verifying: int
    rolled_back: int
    failed: int


class ExpectedRollout(msgspec.Struct, frozen=True, rename="camel"):
    """`finishAt` is null where somebody is waited for, and `message` says for what; `jobs` are those still to end."""

    deployment: str
    environment: str
    version: str | None
    finish_at: Moment | None
    jobs: int
    message: str | None


class ExpectedStart(msgspec.Struct, frozen=True, rename="camel"):
    environment: str
    resource: str
    at: Moment


class ForecastView(msgspec.Struct, rename="camel"):
    """If nothing else changes and every job takes its usual time. `finishAt` is when all is over, null if that is not
    known; `starts` are the first jobs to come on each resource."""

    made_at: Moment
    age_seconds: int
    is_current: bool
    was_cut: bool
    finish_at: Moment | None
    rollouts: list[ExpectedRollout]
    starts: list[ExpectedStart]


class ExpectedFinish(msgspec.Struct, rename="camel"):
    """As the forecast said that was made then; `at` is null where somebody is waited for."""

    at: Moment | None
    made_at: Moment


class StuckTarget(msgspec.Struct, rename="camel"):
    target: str
    state: model.TargetState
    message: str


class EnvironmentStatus(msgspec.Struct, rename="camel"):
    """`newest` is the newest version that is ready and meant for a target here, `newestSuccessful` the newest that runs verified
    somewhere here.

    With `stuck=true`: `canMove` says that a target which does not run what was asked for can still change by itself;
    when none can, `stuck` names some of those that only a person can change and `stuckCount` says how many they are.
    `expectedFinish` is that of the newest forecast, null if none was asked for or nothing is to happen here.
    """

    name: str
    newest: str | None
    newest_successful: str | None
    rollout: RolloutCounts
    expected_finish: ExpectedFinish | None
    counts: Counts
    waiting: list[WaitingTarget]
    can_move: bool | None
    stuck_count: int | None
    stuck: list[StuckTarget]


class DeploymentStatus(msgspec.Struct, rename="camel"):
    name: str
    environments: list[EnvironmentStatus]


class Status(msgspec.Struct, rename="camel"):
    """`atRest`: no job lives, nothing is measured, and no time is waited for in the whole workspace. `warnings` name what
    somebody should know before the next cycle, such as hooks that a bracket no longer has."""

    at_rest: bool
    warnings: list[str]
    deployments: list[DeploymentStatus]
