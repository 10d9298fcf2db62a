"""What answers look like. Times are written in RFC 3339."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from headgate.api.documents import rollout_views
from headgate.fleet.engine import differences
from headgate.fleet.model import objects as model
from headgate.kernel.documents import Moment

Json = dict[str, Any]


class WorkspaceView(msgspec.Struct, rename="camel"):
    id: str
    name: str
    description: str
    created_at: Moment


class ClockRepair(msgspec.Struct, rename="camel"):
    """From when to when the workspace's time was taken back."""

    was: Moment
    now: Moment


class FoundProblem(msgspec.Struct, rename="camel"):
    """`workspace` is null for what concerns all of them."""

    workspace: str | None
    message: str
    since: Moment


class CheckResult(msgspec.Struct, rename="camel"):
    name: Literal["database", "disk", "divergence", "clock", "queue", "units"]
    description: str
    status: Literal["ok", "problem"]
    problems: list[FoundProblem]
    advice: str
    count: int


class Checks(msgspec.Struct, rename="camel"):
    checks: list[CheckResult]


class SystemView(msgspec.Struct, rename="camel"):
    """Deployments and environments name systems; one that nobody has described has no times."""

    id: str
    name: str
    description: str
    metadata: model.StringMap
    created_at: Moment | None
    updated_at: Moment | None


class ResourceSetResult(msgspec.Struct, rename="camel"):
    """`adopted` are release targets, the others are resources."""

    created: list[str]
    updated: list[str]
    deleted: list[str]
    unchanged: list[str]
    adopted: list[str]


class VariableView(msgspec.Struct, rename="camel"):
    key: str
    value: object


class EventView(msgspec.Struct, rename="camel"):
    seq: int
    at: Moment
    type: str
    kind: str
    name: str
    message: str
    data: Json


class EventPage(msgspec.Struct, rename="camel"):
    """`next` is the `after` of the next page, null where there is nothing more yet."""

    items: list[EventView]
    next: str | None


class AuditEntryView(msgspec.Struct, rename="camel"):
    """`before` and `after` are documents, null where there was nothing. `reason` is why it was done, as `after` says it of an
    order."""

    seq: int
    at: Moment
    user: str
    action: str
    kind: str
    name: str
    before: Json | None
    after: Json | None
    reason: str | None
    request_id: str


class TokenView(msgspec.Struct, rename="camel"):
    """Without a workspace it is good for all of them. `lastUsedAt` is right to about a minute, and null if nobody has used
    it yet."""

    id: str
    name: str
    workspace: str | None
    role: str | None
    permissions: list[str]
    agents: list[str]
    created_at: Moment
    created_by: str
    expires_at: Moment | None
    last_used_at: Moment | None


class NewToken(TokenView, rename="camel"):
    """`secret` is shown this once and never stored."""

    secret: str


class WhoAmI(msgspec.Struct, rename="camel"):
    """Permissions by workspace, `*` for all of them."""

    user: str
    workspaces: dict[str, list[str]]


class ConsoleSession(WhoAmI, rename="camel"):
    """`csrf` is what a page sends with every change as the header Headgate-Csrf."""

    csrf: str | None
    expires_at: Moment | None


class OidcWay(msgspec.Struct, rename="camel"):
    """`title` is what people call the provider."""

    title: str


class LoginWays(msgspec.Struct, rename="camel"):
    oidc: OidcWay | None


class OidcLoginBegun(msgspec.Struct, rename="camel"):
    address: str


class LoginCode(msgspec.Struct, rename="camel"):
    """`link` opens the console and logs in, once."""

    code: str
    link: str
    expires_at: Moment


class Deletion(msgspec.Struct, rename="camel"):
    """What a deletion would end: the targets that the object has or is for. `neededBy` is why it is refused."""

    kind: str
    name: str
    concerns: rollout_views.Concerns
    needs_confirm: bool
    needed_by: str | None


class Applied(msgspec.Struct, rename="camel"):
    kind: str
    name: str
    action: differences.ObjectAction
    note: str | None
    concerns: rollout_views.Concerns | None


class ApplyResult(msgspec.Struct, rename="camel"):
    results: list[Applied]


class Differences(msgspec.Struct, rename="camel"):
    differences: list[differences.Difference]


class PlanResult(msgspec.Struct, rename="camel"):
    """What would change, and the output document of a scenario for what would follow."""

    differences: list[differences.Difference]
    scenario: str
    seed: int
    start: Moment
    end: Moment
    converged: bool
    jobs: list[Json]
    groups: list[Json]
    budgets: list[Json]
    pods: list[Json]
    objects: list[Json]
    conditions: list[Json]
    explanations: list[Json]
    snapshots: list[Json]
    rejected: list[Json]
    warnings: list[Json]
    violations: list[Json]
    expectations: list[Json]
    finish: Json
    assumed: list[str]


class SimulationResult(msgspec.Struct, rename="camel"):
    """How it went, and the page that shows it."""

    scenario: str
    seed: int
    converged: bool
    was_cut: bool
    violations: list[str]
    failed_expectations: list[str]
    page: str


class Manifests(msgspec.Struct, rename="camel"):
    manifests: list[Json]
