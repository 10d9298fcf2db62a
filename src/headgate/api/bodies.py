"""What requests bring: read with every problem at once, and described in OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from headgate.fleet import model
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


class ReportInput(msgspec.Struct, rename="camel"):
    status: model.JobStatus
    message: str | None = None
    external_id: str | None = None
    links: model.StringMap = {}


class ClaimedReportInput(msgspec.Struct, rename="camel"):
    status: model.JobStatus
    token: int | None = None
    message: str | None = None
    external_id: str | None = None
    links: model.StringMap = {}


class ClaimInput(msgspec.Struct, rename="camel"):
    """`holder` is who claims, for people to read; `waitSeconds` is how long to wait if there is nothing yet."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    holder: model.Name | None = None
    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0
    lease_seconds: Annotated[int, msgspec.Meta(ge=5, le=3600)] = 60


class HeartbeatInput(msgspec.Struct, rename="camel"):
    token: int


class GroupActionInput(msgspec.Struct, rename="camel"):
    member: str | None = None
    post_hooks: bool = True


class ApprovalInput(msgspec.Struct, rename="camel"):
    deployment: str
    tag: str
    environment: str
    status: model.VoteStatus
    reason: str | None = None


class SkipInput(msgspec.Struct, rename="camel"):
    rule: str
    reason: str
    policy: str | None = None
    deployment: str | None = None
    tag: str | None = None
    environment: str | None = None
    resource: str | None = None
    expires_at: Moment | None = None


class ResumeInput(msgspec.Struct, rename="camel"):
    rule: str
    policy: str | None = None
    environment: str | None = None


class TokenInput(msgspec.Struct, rename="camel"):
    name: model.Name
    role: Literal["viewer", "deployer", "approver", "operator", "admin"] | None = None
    permissions: tuple[str, ...] = ()
    agents: tuple[model.Name, ...] = ()
    expires_at: Moment | None = None
    all_workspaces: bool = False


class ManifestsInput(msgspec.Struct, rename="camel"):
    manifests: tuple[Any, ...]
    dry_run: bool = False


class DiffInput(msgspec.Struct, rename="camel"):
    manifests: tuple[Any, ...]


class PlanInput(msgspec.Struct, rename="camel"):
    """`version` is a version to publish, `until` a duration such as 72h."""

    manifests: tuple[Any, ...] = ()
    version: Json | None = None
    until: str | None = None
