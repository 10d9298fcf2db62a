"""What `get` and `delete` know: collections of the API, by their names, with their tables."""

from collections.abc import Callable
from typing import Any

import msgspec

from headgate.cli import failures, kind_columns
from headgate.cli.cells import text_of
from headgate.cli.columns import Row, ShownColumn
from headgate.fleet.model import kinds
from headgate.fleet.model.kinds import Kind


def _named(row: Row) -> str:
    return text_of(row.get("name"))


def _by_id(row: Row) -> str:
    return text_of(row.get("id"))


class Collection(msgspec.Struct, frozen=True):
    """What a path of the API lists, and how a table shows it."""

    collection: str
    singular: str
    columns: tuple[ShownColumn, ...]
    short: tuple[str, ...] = ()
    kind: Kind | None = None
    """None for what is not written as manifests."""
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
    def names(self) -> tuple[str, ...]:
        return (self.collection, self.singular, *self.short)


def _objects(kind: Kind, columns: tuple[ShownColumn, ...], *short: str, **more: Any) -> Collection:
    singular = kind.singular.replace(" ", "-") if kind is not kinds.VARIABLE_SET else "variable"
    return Collection(kind.collection, singular, columns, short, kind, is_deletable=True, **more)


def _tag_name(row: Row) -> str:
    return f"{row.get('deployment')}/{row.get('tag')}"


def _vote(row: Row) -> str:
    return f"{kind_columns.about(row)} {row.get('environment')} {row.get('user')}"


def _sequence(row: Row) -> str:
    return text_of(row.get("seq"))


def _budget(row: Row) -> str:
    return f"{row.get('policy')}/{row.get('rule')}"


_JOB_FILTERS = ("deployment", "environment", "resource", "status", "agent", "group")
_TARGET_FILTERS = ("deployment", "environment", "resource", "state", "version")

ALL: tuple[Collection, ...] = (
    Collection("workspaces", "workspace", kind_columns.WORKSPACES, ("ws",), is_scoped=False),
    Collection("systems", "system", kind_columns.SYSTEMS, ("sys",), is_deletable=True),
    _objects(kinds.RESOURCE, kind_columns.RESOURCES, "res"),
    _objects(kinds.ENVIRONMENT, kind_columns.ENVIRONMENTS, "env", "envs"),
    _objects(kinds.DEPLOYMENT, kind_columns.DEPLOYMENTS, "dep", "deploy"),
    _objects(kinds.VERSION, kind_columns.VERSIONS, "ver", identity=_tag_name, filters=("deployment",)),
    _objects(kinds.POLICY, kind_columns.POLICIES, "pol"),
    _objects(kinds.JOB_AGENT, kind_columns.JOB_AGENTS, "agents", "agent", "ja", "jobagents", "jobagent"),
    Collection("jobs", "job", kind_columns.JOBS, identity=_by_id, filters=_JOB_FILTERS),
    Collection(
        "release-targets",
        "release-target",
        kind_columns.RELEASE_TARGETS,
        ("targets", "target", "rt"),
        filters=_TARGET_FILTERS,
        wide_query={"reasons": "true"},
    ),
    Collection(
        "groups",
        "group",
        kind_columns.GROUPS,
        ("grp",),
        identity=_by_id,
        filters=("status", "environment", "resource", "policy"),
    ),
    Collection(
        "approvals",
        "approval",
        kind_columns.APPROVALS,
        ("votes",),
        identity=_vote,
        filters=("deployment", "tag", "environment"),
        has_one=False,
    ),
    Collection("skips", "skip", kind_columns.SKIPS, identity=_by_id, is_deletable=True),
    _objects(kinds.FREEZE, kind_columns.FREEZES),
    _objects(kinds.SIGNAL, kind_columns.SIGNALS, "sig"),
    _objects(kinds.VARIABLE_SET, kind_columns.VARIABLES, "var", "vars", "variable-sets", "variable-set"),
    Collection("budgets", "budget", kind_columns.BUDGETS, identity=_budget, has_one=False),
    Collection("clusters", "cluster", kind_columns.CLUSTERS, has_one=False),
    Collection("workloads", "workload", kind_columns.WORKLOADS, identity=_by_id, filters=("cluster",)),
    Collection("graphs", "graph", kind_columns.GRAPHS, identity=_by_id, filters=("cluster",)),
    Collection(
        "events", "event", kind_columns.EVENTS, identity=_sequence, has_one=False, cursor_name="after"
    ),
    Collection(
        "audit",
        "audit",
        kind_columns.AUDIT,
        identity=_sequence,
        filters=("kind", "name", "user"),
        has_one=False,
    ),
    Collection("tokens", "token", kind_columns.TOKENS, is_deletable=True, has_one=False),
)

_BY_NAME = {name: one for one in ALL for name in one.names}
_BY_MANIFEST = {one.kind.name: one for one in ALL if one.kind is not None}


def find(name: str) -> Collection:
    """Plural, singular or short, and as manifests write it."""
    text = name.lower()
    collection = _BY_NAME.get(text) or next(
        (one for kind, one in _BY_MANIFEST.items() if kind.lower() == text), None
    )
    if collection is None:
        known = ", ".join(one.collection for one in ALL)
        raise failures.misused(f'KIND: is "{name}"; allowed are {known}')
    return collection


def of_manifest(name: Any) -> Collection | None:
    return _BY_MANIFEST.get(name)
