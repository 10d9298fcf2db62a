"""The kinds that `get` and `delete` know: their names, their place in the API, and their tables."""

from collections.abc import Callable
from typing import Any

import msgspec

from headgate.cli import failures, kind_columns
from headgate.cli.cells import text_of
from headgate.cli.tables import Column, Row


def _named(row: Row) -> str:
    return text_of(row.get("name"))


def _by_id(row: Row) -> str:
    return text_of(row.get("id"))


class Kind(msgspec.Struct, frozen=True):
    collection: str
    singular: str
    columns: tuple[Column, ...]
    short: tuple[str, ...] = ()
    manifest: str | None = None
    """The `kind` of its manifests; None for what is not written as one."""
    identity: Callable[[Row], str] = _named
    filters: tuple[str, ...] = ()
    has_one: bool = True
    is_deletable: bool = False
    """Workspaces are not: `workspace delete` asks first."""
    is_scoped: bool = True
    """False for what is above workspaces."""
    cursor_name: str = "cursor"
    """The query parameter by which the next page is asked for."""
    wide_query: dict[str, object] = {}
    """Asked in addition for tables that show all columns."""

    @property
    def is_confirmed(self) -> bool:
        """Not deleted by the way while it has release targets."""
        return self.manifest in ("Environment", "Deployment", "Policy")

    @property
    def has_deletion_preview(self) -> bool:
        return self.manifest is not None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.collection, self.singular, *self.short)


def _tag_name(row: Row) -> str:
    return f"{row.get('deployment')}/{row.get('tag')}"


def _vote(row: Row) -> str:
    return f"{kind_columns.about(row)} {row.get('environment')} {row.get('user')}"


ALL: tuple[Kind, ...] = (
    Kind(
        "workspaces",
        "workspace",
        kind_columns.WORKSPACES,
        short=("ws",),
        is_scoped=False,
    ),
    Kind(
        "systems",
        "system",
        kind_columns.SYSTEMS,
        short=("sys",),
        is_deletable=True,
    ),
    Kind(
        "resources",
        "resource",
        kind_columns.RESOURCES,
        short=("res",),
        manifest="Resource",
        is_deletable=True,
    ),
    Kind(
        "environments",
        "environment",
        kind_columns.ENVIRONMENTS,
        short=("env", "envs"),
        manifest="Environment",
        is_deletable=True,
    ),
    Kind(
        "deployments",
        "deployment",
        kind_columns.DEPLOYMENTS,
        short=("dep", "deploy"),
        manifest="Deployment",
        is_deletable=True,
    ),
    Kind(
        "versions",
        "version",
        kind_columns.VERSIONS,
        short=("ver",),
        manifest="Version",
        identity=_tag_name,
        filters=("deployment",),
        is_deletable=True,
    ),
    Kind(
        "policies",
        "policy",
        kind_columns.POLICIES,
        short=("pol",),
        manifest="Policy",
        is_deletable=True,
    ),
    Kind(
        "job-agents",
        "job-agent",
        kind_columns.JOB_AGENTS,
        short=("agents", "agent", "ja", "jobagents", "jobagent"),
        manifest="JobAgent",
        is_deletable=True,
    ),
    Kind(
        "jobs",
        "job",
        kind_columns.JOBS,
        identity=_by_id,
        filters=("deployment", "environment", "resource", "status", "agent", "group"),
    ),
    Kind(
        "release-targets",
        "release-target",
        kind_columns.RELEASE_TARGETS,
        short=("targets", "target", "rt"),
        filters=("deployment", "environment", "resource", "state"),
        wide_query={"reasons": "true"},
    ),
    Kind(
        "groups",
        "group",
        kind_columns.GROUPS,
        short=("grp",),
        identity=_by_id,
        filters=("status", "environment", "resource", "policy"),
    ),
    Kind(
        "approvals",
        "approval",
        kind_columns.APPROVALS,
        short=("votes",),
        identity=_vote,
        filters=("deployment", "tag", "environment"),
        has_one=False,
    ),
    Kind(
        "skips",
        "skip",
        kind_columns.SKIPS,
        identity=_by_id,
        is_deletable=True,
    ),
    Kind(
        "freezes",
        "freeze",
        kind_columns.FREEZES,
        manifest="Freeze",
        is_deletable=True,
    ),
    Kind(
        "signals",
        "signal",
        kind_columns.SIGNALS,
        short=("sig",),
        manifest="Signal",
        is_deletable=True,
    ),
    Kind(
        "variables",
        "variable",
        kind_columns.VARIABLES,
        short=("var", "vars", "variable-sets", "variable-set"),
        manifest="VariableSet",
        is_deletable=True,
    ),
    Kind(
        "budgets",
        "budget",
        kind_columns.BUDGETS,
        identity=lambda row: f"{row.get('policy')}/{row.get('rule')}",
        has_one=False,
    ),
    Kind("workloads", "workload", kind_columns.WORKLOADS),
    Kind("graphs", "graph", kind_columns.GRAPHS),
    Kind(
        "events",
        "event",
        kind_columns.EVENTS,
        identity=lambda row: text_of(row.get("seq")),
        has_one=False,
        cursor_name="after",
    ),
    Kind(
        "audit",
        "audit",
        kind_columns.AUDIT,
        identity=lambda row: text_of(row.get("seq")),
        filters=("kind", "name", "user"),
        has_one=False,
    ),
    Kind(
        "tokens",
        "token",
        kind_columns.TOKENS,
        is_deletable=True,
        has_one=False,
    ),
)

_BY_NAME = {name: kind for kind in ALL for name in kind.names}
_BY_MANIFEST = {kind.manifest: kind for kind in ALL if kind.manifest is not None}


def find(name: str) -> Kind:
    """Plural, singular or short, and as manifests write it."""
    text = name.lower()
    found = _BY_NAME.get(text) or next((k for m, k in _BY_MANIFEST.items() if m.lower() == text), None)
    if found is None:
        known = ", ".join(kind.collection for kind in ALL)
        raise failures.misused(f'KIND: is "{name}"; allowed are {known}')
    return found


def of_manifest(name: Any) -> Kind | None:
    return _BY_MANIFEST.get(name)
