"""What requests bring: read with every problem at once, and described in OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from headgate.agents import log_lines
from headgate.fleet.model import changes, kinds
from headgate.fleet.model import objects as model
from headgate.kernel.documents import Moment

Json = dict[str, Any]


class WorkspaceInput(msgspec.Struct, rename="camel"):
    name: model.TargetPart
    description: str = ""


class SystemInput(msgspec.Struct, rename="camel"):
    name: model.Name | None = None
    description: str = ""
    metadata: model.StringMap = {}


class ResourceSetInput(msgspec.Struct, rename="camel"):
    provider: model.Name
    resources: tuple[Any, ...]


class VariableInput(msgspec.Struct, rename="camel"):
    value: object


ExternalId = Annotated[str, msgspec.Meta(max_length=500)]


class ReportInput(msgspec.Struct, rename="camel"):
    status: model.JobStatus
    message: str | None = None
    external_id: ExternalId | None = None
    links: model.Links = {}


class ClaimedReportInput(msgspec.Struct, rename="camel"):
    status: model.JobStatus
    token: int | None = None
    message: str | None = None
    external_id: ExternalId | None = None
    links: model.Links = {}


class ClaimInput(msgspec.Struct, rename="camel"):
    """`holder` is who claims, for people to read; `waitSeconds` is how long to wait if there is nothing yet."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    holder: model.Name | None = None
    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0
    lease_seconds: Annotated[int, msgspec.Meta(ge=5, le=3600)] = 60


class HeartbeatInput(msgspec.Struct, rename="camel"):
    token: int


class JobLinesInput(msgspec.Struct, rename="camel"):
    """`offset` is the number of the first line, for whoever counts them: what was sent before is passed over then."""

    token: int
    lines: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=log_lines.MOST_AT_ONCE)]
    offset: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None


LONGEST_REASON = 2_000
Reason = Annotated[str, msgspec.Meta(max_length=LONGEST_REASON)]
"""Why somebody orders something, for the audit log."""


class GroupActionInput(msgspec.Struct, rename="camel"):
    """`reason` is kept in the audit log."""

    member: str | None = None
    post_hooks: bool = True
    reason: Reason | None = None


class ClusterOrderInput(msgspec.Struct, rename="camel"):
    """`reason` is kept in the audit log."""

    reason: Reason | None = None


class PartitionInput(msgspec.Struct, rename="camel"):
    """Replicas from the index `partition` on are updated; 0 updates all of them."""

    partition: Annotated[int, msgspec.Meta(ge=0, le=10_000)]
    reason: Reason | None = None


class TargetOrderInput(msgspec.Struct, rename="camel"):
    """`to` is a version that ran there, by tag or id; for a retry one that failed there. `reason` is kept in the audit log."""

    to: str | None = None
    reason: Reason | None = None


class TargetsOrderInput(msgspec.Struct, rename="camel"):
    """`selector` is over deployment, environment and resource; absent, all targets in the environment. `reason` is kept in
    the audit log."""

    environment: str
    selector: str | None = None
    to: str | None = None
    dry_run: bool = False
    reason: Reason | None = None


class AdoptInput(msgspec.Struct, rename="camel"):
    """`version` runs there already, by tag or id. `reason` is kept in the audit log."""

    version: str
    reason: Reason | None = None


class AdoptManyInput(msgspec.Struct, rename="camel"):
    environment: str
    version: str
    selector: str | None = None
    dry_run: bool = False
    reason: Reason | None = None


class SkipInput(msgspec.Struct, rename="camel"):
    rule: str
    reason: Reason
    policy: str | None = None
    deployment: str | None = None
    tag: str | None = None
    environment: str | None = None
    resource: str | None = None
    expires_at: Moment | None = None


class RejectInput(msgspec.Struct, rename="camel"):
    """Why a version is bad, and whether it goes back where it runs."""

    reason: Reason
    rollback: bool = False


class ResumeInput(msgspec.Struct, rename="camel"):
    """`value` is one of the rule's groupBy, as the list of budgets shows it under `scope`."""

    rule: str
    policy: str | None = None
    environment: str | None = None
    value: str | None = None


class TokenInput(msgspec.Struct, rename="camel"):
    name: model.Name
    role: Literal["viewer", "deployer", "approver", "operator", "admin"] | None = None
    permissions: tuple[str, ...] = ()
    agents: tuple[model.Name, ...] = ()
    expires_at: Moment | None = None
    all_workspaces: bool = False


class SessionInput(msgspec.Struct, rename="camel"):
    """An API token, or the code of a link that `headgate up` or `headgate console` has printed."""

    token: Annotated[str, msgspec.Meta(min_length=1, max_length=16_384)] | None = None
    code: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None


class OidcLoginInput(msgspec.Struct, rename="camel"):
    """`returnTo` is the page of the console to go on with; what is no path of this server counts as `/`."""

    return_to: Annotated[str, msgspec.Meta(max_length=2_000)] = "/"


class DeletionInput(msgspec.Struct, rename="camel"):
    """`name` of a Version is `deployment/tag`."""

    kind: kinds.KindName
    name: str


class ManifestsInput(msgspec.Struct, rename="camel"):
    """`set` names what is applied together; with `prune`, what the set had and no longer has is deleted, which needs
    `confirm` where there are release targets. `force` takes selectors that match no release target all the same."""

    manifests: tuple[Any, ...]
    dry_run: bool = False
    force: bool = False
    set: model.Name | None = None
    prune: bool = False
    confirm: bool = False

    @property
    def deletions(self) -> tuple[DeletionInput, ...]:
        return ()


class DiffInput(msgspec.Struct, rename="camel"):
    """`deletions` are looked at beside what `prune` of the `set` would delete."""

    manifests: tuple[Any, ...] = ()
    set: model.Name | None = None
    prune: bool = False
    deletions: tuple[DeletionInput, ...] = ()


class PlannedOrderInput(msgspec.Struct, rename="camel"):
    """An order for targets, in a plan; `resources` names them one by one."""

    action: changes.TargetOrder
    deployment: str
    environment: str
    selector: str | None = None
    resources: tuple[str, ...] = ()
    to: str | None = None


class PlannedGroupInput(msgspec.Struct, rename="camel"):
    """An order for a group that has not ended, in a plan."""

    action: changes.GroupOrder
    group: str


class PlannedStatusInput(msgspec.Struct, rename="camel"):
    """A version that is withdrawn, offered again or marked as bad, in a plan; `rollback` is for one that is rejected."""

    deployment: str
    tag: str
    status: Literal["ready", "paused", "rejected"]
    rollback: bool = False


class PlannedVoteInput(msgspec.Struct, rename="camel"):
    """A vote on a version in an environment, or the caller's own taken back, in a plan."""

    deployment: str
    tag: str
    environment: str
    status: changes.VoteChange
    reason: Reason | None = None


class ApprovalInput(PlannedVoteInput, rename="camel"):
    status: model.VoteStatus


class PlanInput(msgspec.Struct, rename="camel"):
    """`version` is a version to publish, `until` a duration such as 72h. `assume` approvals plays the future as if
    everybody who is asked had approved. `orders`, `groups`, `statuses`, `approvals` and `skips` are what people do with what
    there is; `endedSkips` are ids of skips that hold no longer."""

    manifests: tuple[Any, ...] = ()
    version: Json | None = None
    until: str | None = None
    set: model.Name | None = None
    prune: bool = False
    deletions: tuple[DeletionInput, ...] = ()
    assume: tuple[Literal["approvals"], ...] = ()
    force: bool = False
    orders: tuple[PlannedOrderInput, ...] = ()
    groups: tuple[PlannedGroupInput, ...] = ()
    statuses: tuple[PlannedStatusInput, ...] = ()
    approvals: tuple[PlannedVoteInput, ...] = ()
    skips: tuple[SkipInput, ...] = ()
    ended_skips: tuple[str, ...] = ()


class SimulationInput(msgspec.Struct, rename="camel"):
    """`scenario` is the text of a file of `headgate simulate`, `files` are the texts of those that it names, by name or by the last
    part of it; `until` is a time, or one such as +72h from the start."""

    scenario: Annotated[str, msgspec.Meta(min_length=1)]
    files: Annotated[dict[str, str], msgspec.Meta(max_length=100)] = {}
    until: str | None = None
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None = None


Wish = ManifestsInput | DiffInput | PlanInput
"""What is asked of a workspace beside the manifests themselves."""
