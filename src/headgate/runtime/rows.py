"""The engine's records as rows, and rows as the state of an engine.

Which rows a decision touched the engine says itself; everything is written as it is after the decision, so rows that
were touched twice are written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from headgate.fleet.engine import snapshot
from headgate.fleet.engine.engine import Decisions, Engine
from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.kinds import Kind
from headgate.fleet.state.state import State
from headgate.kernel.identifiers import IdSource
from headgate.runtime import policy_rows
from headgate.store import object_table
from headgate.store.port import Transaction
from headgate.store.rows import EngineRows, Row

_encode = msgspec.json.Encoder().encode
Key = tuple[str, ...]


class Changes(msgspec.Struct):
    """Rows to write and keys to delete, table by table."""

    puts: dict[str, list[Sequence[object]]] = {}
    deletes: dict[tuple[str, tuple[str, ...] | None], list[Sequence[object]]] = {}

    def put(self, table: str, row: Sequence[object]) -> None:
        self.puts.setdefault(table, []).append(row)

    def delete(self, table: str, *key: object, columns: tuple[str, ...] | None = None) -> None:
        self.deletes.setdefault((table, columns), []).append(key)

    def write(self, transaction: Transaction) -> None:
        for (table, columns), keys in self.deletes.items():
            transaction.delete(table, keys, columns)
        for table, rows in self.puts.items():
            transaction.put(table, rows)


def of_decisions(engine: Engine, decisions: Iterable[Decisions]) -> Changes:
    """Of several decisions one after another, of which only the end is written."""
    state = engine.state
    changes = Changes()
    keys: dict[Key, None] = {}
    history: dict[str, records.Job] = {}
    groups: dict[str, records.Group] = {}
    for decision in decisions:
        keys |= dict.fromkeys(decision.rows)
        history |= {job.id: job for job in decision.forgotten}
        groups |= {group.id: group for group in decision.groups}
    for key in keys:
        table = key[0]
        if table == "job":
            _job(state, changes, history, key[1])
        elif table == "group":
            _group(state, changes, groups, key[1])
        else:
            _WRITERS[table](state, changes, key)
    if any(key[0] == "Policy" for key in keys):
        policy_rows.retired(state, changes)
    return changes


def _job(state: State, changes: Changes, history: dict[str, records.Job], job_id: str) -> None:
    live = state.jobs.get(job_id)
    job = live if live is not None else history.get(job_id)
    if job is None:
        return
    changes.put(
        "job",
        (
            state.workspace,
            job.id,
            job.deployment,
            job.environment,
            job.resource,
            job.version,
            job.tag,
            job.status,
            job.attempt,
            job.kind,
            job.agent,
            job.group,
            job.created_at,
            job.started_at,
            job.completed_at,
            live is not None,
            _encode(job),
        ),
    )


def _group(state: State, changes: Changes, groups: dict[str, records.Group], group_id: str) -> None:
    live = state.groups.get(group_id)
    group = live if live is not None else groups.get(group_id)
    if group is None:
        return
    resource = state.resources.get(group.resource)
    environment = state.environments.get(group.environment)
    changes.put(
        "bracket_version_group",
        (
            group.id,
            state.workspace,
            group.rule,
            resource.object.id if resource is not None else None,
            environment.object.id if environment is not None else None,
            group.collection_started_at,
            group.collection_ends_at,
            group.status,
            group.created_at,
            group.policy,
            group.environment,
            group.resource,
            live is not None,
            _encode(group),
        ),
    )
    for member in group.members:
        deployment = state.deployments.get(member.deployment)
        if deployment is not None:
            changes.put(
                "bracket_version_group_member",
                (
                    state.workspace,
                    group.id,
                    deployment.object.id,
                    member.version,
                    member.locked_at,
                    member.deployment,
                    member.role,
                    member.state,
                ),
            )


def _target(state: State, changes: Changes, key: Key) -> None:
    target = state.targets.get(key[1])
    record = target.record if target is not None else state.departed.get(key[1])
    if record is None:
        changes.delete("release_target", state.workspace, key[1])
        return
    changes.put(
        "release_target",
        (state.workspace, key[1], record.deployed, record.deployed_at, record.job, _encode(record)),
    )


def _site(state: State, changes: Changes, key: Key) -> None:
    site = state.sites.get((key[1], key[2], key[3]))
    if site is None:
        changes.delete("bracket_place", state.workspace, *key[1:])
    else:
        changes.put("bracket_place", (state.workspace, *key[1:], _encode(site.record)))


def _progress(state: State, changes: Changes, key: Key) -> None:
    _, version, target = key
    environment = target.split("/")[1]
    succeeded_at = state.progress.get(version, {}).get(environment, {}).get(target)
    verified = state.verified.get(version, {})
    changes.put(
        "version_progress",
        (
            state.workspace,
            version,
            target,
            environment,
            succeeded_at,
            1 if target in verified else None,
            verified.get(target),
        ),
    )


def _gone(state: State, changes: Changes, key: Key) -> None:
    """Whatever was written of a version that is no more."""
    if key[1] not in state.versions:
        changes.delete("version_progress", state.workspace, key[1], columns=("workspace", "version_id"))


def _breaker(state: State, changes: Changes, key: Key) -> None:
    breaker = state.breakers.get((key[1], key[2]))
    if breaker is None:
        changes.delete("failure_latch", state.workspace, key[1], key[2])
    else:
        changes.put("failure_latch", (state.workspace, key[1], key[2], _encode(breaker)))


def _warned(state: State, changes: Changes, key: Key) -> None:
    if (key[1], key[2]) in state.warned:
        changes.put("scope_warning", (state.workspace, key[1], key[2]))
    else:
        changes.delete("scope_warning", state.workspace, key[1], key[2])


def _skip(state: State, changes: Changes, key: Key) -> None:
    skip = state.skips.get(key[1])
    if skip is None:
        changes.delete("policy_skip", state.workspace, key[1])
        return
    changes.put(
        "policy_skip",
        (
            state.workspace,
            skip.id,
            skip.rule,
            skip.version_id,
            skip.environment,
            skip.resource,
            skip.reason,
            skip.user,
            skip.created_at,
            skip.expires_at,
            _encode(skip),
        ),
    )


def _approval(state: State, changes: Changes, key: Key) -> None:
    _, version, environment, user = key
    vote = state.approvals.get((version, environment), {}).get(user)
    if vote is None:
        changes.delete("user_approval_record", state.workspace, version, environment, user)
        return
    changes.put(
        "user_approval_record",
        (state.workspace, version, environment, user, vote.status, vote.reason, vote.at, _encode(vote)),
    )


def _object_row(workspace: str, item: Any) -> tuple[object, ...]:
    return (workspace, item.name, item.id, item.created_at, item.updated_at, _encode(item))


def _resource(state: State, changes: Changes, key: Key) -> None:
    node = state.resources.get(key[1])
    if node is None:
        changes.delete("resource", state.workspace, key[1])
        return
    resource = node.object
    row = _object_row(state.workspace, resource)
    changes.put("resource", (*row, resource.identifier or resource.name, resource.kind, resource.version))


def _version(state: State, changes: Changes, key: Key) -> None:
    owner, _, tag = key[1].partition("/")
    deployment = state.deployments.get(owner)
    node = deployment.tags.get(tag) if deployment is not None else None
    if node is None:
        changes.delete("deployment_version", state.workspace, owner, tag)
        return
    published = node.object
    changes.put(
        "deployment_version",
        (
            state.workspace,
            owner,
            tag,
            published.id,
            published.status,
            published.target_selector,
            published.created_at,
            _encode(published),
        ),
    )


def _policy(state: State, changes: Changes, key: Key) -> None:
    policy_rows.policy(state, changes, key[1])


def _gone_policy(state: State, changes: Changes, key: Key) -> None:
    policy_rows.gone(state, changes, key[1])


def _object(kind: Kind) -> Callable[[State, Changes, Key], None]:
    table = object_table(kind)

    def write(state: State, changes: Changes, key: Key) -> None:
        item = state.get(kind, key[1])
        if item is None:
            changes.delete(table, state.workspace, key[1])
        else:
            changes.put(table, _object_row(state.workspace, item))

    return write


_WRITERS: dict[str, Callable[[State, Changes, Key], None]] = {
    "target": _target,
    "place": _site,
    "progress": _progress,
    "gone": _gone,
    "breaker": _breaker,
    "warned": _warned,
    "skip": _skip,
    "approval": _approval,
    "gonePolicy": _gone_policy,
    **{kind.name: _object(kind) for kind in kinds.ALL},
    "Resource": _resource,
    "Version": _version,
    "Policy": _policy,
}

Record = TypeVar("Record")


def restore(workspace: str, rows: EngineRows, ids: IdSource) -> Engine:
    """The engine whose decisions these rows are."""
    tables = rows.tables
    progress: dict[str, dict[str, dict[str, int]]] = {}
    verified: dict[str, dict[str, int | None]] = {}
    for row in tables["version_progress"]:
        version, target = str(row["version_id"]), str(row["target"])
        succeeded_at: Any = row["succeeded_at"]
        verified_at: Any = row["verified_at"]
        if succeeded_at is not None:
            progress.setdefault(version, {}).setdefault(str(row["environment"]), {})[target] = succeeded_at
        if row["is_verified"]:
            verified.setdefault(version, {})[target] = verified_at
    sites = [
        (str(row["rule_id"]), str(row["environment"]), str(row["resource"]), _read(row, records.SiteRecord))
        for row in tables["bracket_place"]
    ]
    document = snapshot.Snapshot(
        workspace=workspace,
        sequence=rows.sequence,
        **{kind.table: _objects(tables, kind) for kind in kinds.ALL},
        retired=_all(tables["policy_retired"], model.Policy),
        approvals=sorted(_all(tables["user_approval_record"], model.CastVote), key=lambda vote: vote.at),
        skips=sorted(_all(tables["policy_skip"], model.Skip), key=lambda skip: (skip.created_at, skip.id)),
        targets={str(row["name"]): _read(row, records.TargetRecord) for row in tables["release_target"]},
        sites=sites,
        jobs=sorted(_all(tables["job"], records.Job), key=lambda job: (job.created_at, job.id)),
        groups=sorted(
            _all(tables["bracket_version_group"], records.Group),
            key=lambda group: (group.created_at, group.id),
        ),
        progress=progress,
        verified=verified,
        breakers=[
            (str(row["rule_id"]), str(row["scope"]), _read(row, records.Breaker))
            for row in tables["failure_latch"]
        ],
        warned=[(str(row["target"]), str(row["version_id"])) for row in tables["scope_warning"]],
    )
    return Engine.restored(document, ids)


def _objects(tables: Mapping[str, Iterable[Row]], kind: Kind) -> Any:
    return [snapshot.object_from(kind, str(row["document"])) for row in tables[object_table(kind)]]


def _all(rows: Iterable[Row], kind: type[Record]) -> list[Record]:
    return [_read(row, kind) for row in rows]


def _read(row: Row, kind: type[Record]) -> Record:
    document: Any = row["document"]
    return msgspec.json.decode(document, type=kind)
