"""The tables. Those that the source documents give have the names and columns given there.

Rows that follow from the log hold the whole record as `document`; the other columns are for people and for queries,
and are never read back by the engine.
"""

from typing import Literal

import msgspec

from headgate.fleet.model import kinds

Kind = Literal["text", "int", "bool", "json", "time", "uuid"]


class TableColumn(msgspec.Struct, frozen=True):
    name: str
    kind: Kind
    required: bool = True


class Table(msgspec.Struct, frozen=True):
    name: str
    columns: tuple[TableColumn, ...]
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...] = ()

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def _columns(text: str) -> tuple[TableColumn, ...]:
    """`name kind` each; a `?` behind the kind says that it may be empty."""
    columns = []
    for part in text.split(","):
        name, kind = part.split()
        optional = kind.endswith("?")
        columns.append(TableColumn(name, kind.rstrip("?"), not optional))  # type: ignore[arg-type]  # checked by the tests that create every table
    return tuple(columns)


def _table(name: str, columns: str, key: str, *indexes: str) -> Table:
    return Table(name, _columns(columns), tuple(key.split()), tuple(tuple(one.split()) for one in indexes))


_OBJECT = "workspace text, name text, id uuid, created_at time, updated_at time?, document json"

_OWN_TABLES = {
    "Freeze": _table("freeze_order", _OBJECT, "workspace name"),
    "Resource": _table("resource", f"{_OBJECT}, identifier text, kind text, version text", "workspace name"),
    "Version": _table(
        "deployment_version",
        "workspace text, deployment text, tag text, id uuid, status text, target_selector text?, created_at time, "
        "document json",
        "workspace deployment tag",
    ),
    "Policy": _table("policy", f"{_OBJECT}, selector text?, priority int, enabled bool", "workspace name"),
}
"""Of kinds that have columns for queries, or whose name is a word of SQL."""

OBJECT_TABLES: dict[str, Table] = {
    kind.name: _OWN_TABLES.get(kind.name)
    or _table(kind.singular.replace(" ", "_"), _OBJECT, "workspace name")
    for kind in kinds.ALL
}


def object_table(kind: kinds.Kind) -> str:
    """The table that has the objects of the kind, for whoever writes rows of them."""
    return OBJECT_TABLES[kind.name].name


ENGINE_TABLES: tuple[Table, ...] = (
    *OBJECT_TABLES.values(),
    _table(
        "policy_rule",
        "id uuid, workspace text, policy_id uuid, position int, kind text, name text?, document json",
        "workspace id",
        "workspace policy_id",
    ),
    _table(
        "policy_rule_deployment_bracket",
        "id uuid, workspace text, policy_id uuid, deployment_selector text, readiness_mode text, "
        "readiness_window_seconds int?, unchanged_member_strategy text, overlap_strategy text, created_at time",
        "workspace id",
        "workspace policy_id",
    ),
    _table(
        "policy_rule_resource_concurrency",
        "id uuid, workspace text, policy_id uuid, group_selector text, limit_type text, limit_value int, created_at time",
        "workspace id",
        "workspace policy_id",
    ),
    _table(
        "policy_rule_deployment_dependency",
        "id uuid, workspace text, policy_id uuid, depends_on text, applies_to text?, created_at time",
        "workspace id",
        "workspace policy_id",
    ),
    _table("policy_retired", "workspace text, rule_id uuid, document json", "workspace rule_id"),
    _table(
        "user_approval_record",
        "workspace text, version_id uuid, environment text, user_id text, status text, reason text?, created_at time, "
        "document json",
        "workspace version_id environment user_id",
    ),
    _table(
        "policy_skip",
        "workspace text, id text, rule_id uuid, version_id uuid?, environment text?, resource text?, reason text, "
        "created_by text, created_at time, expires_at time?, document json",
        "workspace id",
    ),
    _table(
        "release_target",
        "workspace text, name text, deployed_version_id uuid?, deployed_at time?, job_id uuid?, document json",
        "workspace name",
    ),
    _table(
        "bracket_place",
        "workspace text, rule_id uuid, environment text, resource text, document json",
        "workspace rule_id environment resource",
    ),
    _table(
        "bracket_version_group",
        "id uuid, workspace text, bracket_rule_id uuid, resource_id uuid?, environment_id uuid?, "
        "collection_started_at time, collection_ends_at time, status text, created_at time, policy text, "
        "environment text, resource text, is_current bool, document json",
        "workspace id",
        "workspace created_at id",
    ),
    _table(
        "bracket_version_group_member",
        "workspace text, group_id uuid, deployment_id uuid, version_id uuid?, locked_at time?, deployment text, role text, "
        "state text",
        "workspace group_id deployment_id",
    ),
    _table(
        "job",
        "workspace text, id uuid, deployment text, environment text, resource text, version_id uuid, tag text, "
        "status text, attempt int, kind text, agent text?, group_id uuid?, created_at time, started_at time?, "
        "completed_at time?, is_current bool, document json",
        "workspace id",
        "workspace created_at id",
        "workspace deployment created_at",
    ),
    _table(
        "version_progress",
        "workspace text, version_id uuid, target text, environment text, succeeded_at int?, is_verified int?, "
        "verified_at int?",
        "workspace version_id target",
    ),
    _table(
        "failure_latch", "workspace text, rule_id uuid, scope text, document json", "workspace rule_id scope"
    ),
    _table("scope_warning", "workspace text, target text, version_id uuid", "workspace target version_id"),
)
"""Written by the engine alone, in the transaction of the decisions they follow from."""

SERVICE_TABLES: tuple[Table, ...] = (
    _table(
        "workspace",
        "name text, id uuid, description text, created_at time, log_head int, event_head int, audit_head int, "
        "consumed int, sequence int",
        "name",
    ),
    _table(
        "log_entry",
        "workspace text, seq int, at int, kind text, user_name text, trace_parent text?, payload json",
        "workspace seq",
    ),
    _table(
        "event",
        "workspace text, seq int, at int, type text, kind text, name text, message text, data json",
        "workspace seq",
    ),
    _table(
        "audit",
        "workspace text, seq int, at int, user_name text, action text, kind text, name text, before_document json?, "
        "after_document json?, request_id text",
        "workspace seq",
        "workspace kind name seq",
    ),
    _table(
        "idempotency_key",
        "workspace text, key text, fingerprint text, status int, body json, at int",
        "workspace key",
        "at",
    ),
    _table(
        "job_dispatch",
        "workspace text, job text, agent text, type text, document json, created_at int, not_before int, "
        "deadline_at int?, claims int, claimed_by text?, claimed_until int?, token int, cancelled bool, state json",
        "workspace job",
        "type not_before",
        "deadline_at",
    ),
    _table(
        "job_log",
        "workspace text, job text, first int, at int, count int, bytes int, lines json",
        "workspace job first",
    ),
    _table(
        "history_piece",
        "workspace text, segment int, piece int, at int, until int, until_at int, document json",
        "workspace segment piece",
    ),
    _table("lease", "name text, holder text, token int, ends_at int", "name"),
    _table(
        "api_token",
        "id text, name text, hash text, workspace text?, role text?, permissions json, agents json, created_at int, "
        "created_by text, expires_at int?",
        "id",
        "hash",
    ),
    _table("service_document", "workspace text, kind text, name text, document json", "workspace kind name"),
)

TABLES: dict[str, Table] = {table.name: table for table in (*SERVICE_TABLES, *ENGINE_TABLES)}
