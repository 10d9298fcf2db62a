"""The columns of each kind's table."""

from collections.abc import Callable

from headgate.cli.cells import column, inner, state, text_of, time
from headgate.cli.columns import Row, ShownColumn
from headgate.screens.words import NOTHING


def _rule_kinds(row: Row) -> str:
    rules = row.get("rules") or []
    return text_of([next((key for key in rule if key not in ("id", "name")), "?") for rule in rules])


def _keys(name: str) -> Callable[[Row], str]:
    return lambda row: text_of(list(row.get(name) or {}))


def _members(row: Row) -> str:
    members = row.get("members") or []
    return text_of([f"{member.get('deployment')} {member.get('state')}" for member in members])


def _measured(row: Row) -> str:
    """The last measurement of each metric."""
    return "; ".join(
        f"{metric['metric']} {last['verdict']}"
        + (f" ({last['value']})" if last.get("value") is not None else "")
        for metric in row.get("metrics") or []
        if (last := next(iter(metric["measurements"][-1:]), None)) is not None
    )


def _job_of(row: Row) -> str:
    return text_of(inner(row, "job.status"))


def _rule_name(row: Row) -> str:
    return text_of(row.get("ruleName") or row.get("rule"))


def about(row: Row) -> str:
    if row.get("deployment") is None and row.get("tag") is None:
        return text_of(row.get("versionId"))
    return f"{row.get('deployment') or NOTHING}/{row.get('tag') or NOTHING}"


_CREATED = time("CREATED", "createdAt")
_ID = column("ID", "id", wide=True)
_METADATA = column("METADATA", "metadata", wide=True)

WORKSPACES = (column("NAME", "name"), column("DESCRIPTION", "description"), _CREATED)

SYSTEMS = (column("NAME", "name"), column("DESCRIPTION", "description"))

RESOURCES = (
    column("NAME", "name"),
    column("KIND", "kind"),
    column("VERSION", "version"),
    _CREATED,
    column("IDENTIFIER", "identifier", wide=True),
    _ID,
    _METADATA,
)

ENVIRONMENTS = (
    column("NAME", "name"),
    column("SYSTEMS", "systems"),
    _CREATED,
    column("RESOURCES", "resourceSelector"),
    _ID,
)

DEPLOYMENTS = (
    column("NAME", "name"),
    column("AGENT", "jobAgent"),
    column("SYSTEMS", "systems"),
    _CREATED,
    column("RESOURCES", "resourceSelector"),
    _ID,
    _METADATA,
)

VERSIONS = (
    column("DEPLOYMENT", "deployment"),
    column("TAG", "tag"),
    state("STATUS", "status"),
    _CREATED,
    column("TARGETS", "targetSelector"),
    column("MESSAGE", "message", wide=True),
    _ID,
    _METADATA,
)

POLICIES = (
    column("NAME", "name"),
    column("ENABLED", "enabled"),
    column("PRIORITY", "priority"),
    _CREATED,
    ShownColumn("RULES", _rule_kinds),
    column("SELECTOR", "selector", wide=True),
    _ID,
)

JOB_AGENTS = (column("NAME", "name"), column("TYPE", "type"), _CREATED, _ID, _METADATA)

JOBS = (
    column("ID", "id"),
    column("DEPLOYMENT", "deployment"),
    column("VERSION", "version"),
    column("ENVIRONMENT", "environment"),
    column("RESOURCE", "resource"),
    state("STATUS", "status"),
    _CREATED,
    column("ATTEMPT", "attempt", wide=True),
    column("KIND", "kind", wide=True),
    column("AGENT", "agent", wide=True),
    column("STARTED", "startedAt", wide=True),
    column("COMPLETED", "completedAt", wide=True),
    column("GROUP", "group", wide=True),
    state("VERIFICATION", "verification", wide=True),
    ShownColumn("MEASURED", _measured, True),
    column("REASON", "reason", wide=True),
    column("MESSAGE", "message", wide=True),
)

RELEASE_TARGETS = (
    column("TARGET", "name"),
    state("STATE", "state"),
    column("CURRENT", "current"),
    ShownColumn("JOB", _job_of),
    column("NEXT", "desired", wide=True),
    column("JOB ID", "job.id", wide=True),
    time("AGAIN AT", "nextEvaluationTime", wide=True),
    column("REASON", "message", wide=True),
)

GROUPS = (
    column("ID", "id"),
    column("POLICY", "policy"),
    column("ENVIRONMENT", "environment"),
    column("RESOURCE", "resource"),
    state("STATUS", "status"),
    time("CREATED", "createdAt"),
    ShownColumn("MEMBERS", _members),
    column("STARTED", "startedAt", wide=True),
    column("COMPLETED", "completedAt", wide=True),
    column("REASON", "reason", wide=True),
)

APPROVALS = (
    ShownColumn("VERSION", about),
    column("ENVIRONMENT", "environment"),
    column("USER", "user"),
    state("STATUS", "status"),
    time("WHEN", "at"),
    column("REASON", "reason"),
)

SKIPS = (
    column("ID", "id"),
    column("POLICY", "policy"),
    ShownColumn("RULE", _rule_name),
    ShownColumn("VERSION", about),
    column("ENVIRONMENT", "environment"),
    column("RESOURCE", "resource"),
    time("EXPIRES", "expiresAt"),
    column("BY", "user"),
    column("REASON", "reason"),
)

FREEZES = (
    column("NAME", "name"),
    column("BY", "user"),
    _CREATED,
    time("EXPIRES", "expiresAt"),
    column("REASON", "reason"),
    column("SELECTOR", "selector", wide=True),
)

SIGNALS = (
    column("NAME", "name"),
    time("SET", "setAt"),
    time("EXPIRES", "expiresAt"),
    column("VALUE", "value"),
)

VARIABLES = (
    column("NAME", "name"),
    column("PRIORITY", "priority"),
    _CREATED,
    ShownColumn("KEYS", _keys("variables")),
    column("SELECTOR", "selector", wide=True),
)

BUDGETS = (
    column("POLICY", "policy"),
    column("RULE", "rule"),
    column("KIND", "kind"),
    column("USED", "used"),
    column("LIMIT", "limit"),
    column("ENVIRONMENT", "environment"),
    time("STOPPED", "stoppedAt"),
    column("SCOPE", "scope"),
)

CLUSTERS = (column("NAME", "name"), column("AGENTS", "jobAgents"), column("MESSAGE", "message"))

WORKLOADS = (
    column("ID", "id"),
    state("STATE", "state"),
    column("REPLICAS", "replicas"),
    column("UPDATED", "updatedReplicas"),
    column("AVAILABLE", "availableReplicas"),
    column("MESSAGE", "message"),
    column("TARGET", "target", wide=True),
    column("VERSION", "version", wide=True),
    _CREATED,
)

GRAPHS = (
    column("ID", "id"),
    column("STATE", "state"),
    column("REVISION", "revision"),
    column("MESSAGE", "message"),
    column("TARGET", "target", wide=True),
    column("VERSION", "version", wide=True),
    _CREATED,
)

EVENTS = (
    time("WHEN", "at"),
    column("TYPE", "type"),
    column("KIND", "kind"),
    column("NAME", "name"),
    column("MESSAGE", "message"),
)

AUDIT = (
    time("WHEN", "at"),
    column("USER", "user"),
    column("ACTION", "action"),
    column("KIND", "kind"),
    column("NAME", "name"),
    column("REASON", "reason", wide=True),
    column("REQUEST", "requestId", wide=True),
)

TOKENS = (
    column("NAME", "name"),
    column("ROLE", "role"),
    column("PERMISSIONS", "permissions"),
    column("WORKSPACE", "workspace"),
    _CREATED,
    time("EXPIRES", "expiresAt"),
    time("USED", "lastUsedAt"),
    column("AGENTS", "agents", wide=True),
    column("BY", "createdBy", wide=True),
    _ID,
)
