"""The whole state as bytes, and back. What is derived is derived anew on loading, never stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from headgate.fleet.cycles import hooks
from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind
from headgate.fleet.rules import KINDS
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.state import catalog, holds, membership, release_targets, verifying
from headgate.fleet.state.state import Notice, State, Warning
from headgate.fleet.state.units import BoundRule, PolicyNode
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant


class PendingDecisions(msgspec.Struct):
    """Decided, not handed out yet. Measurements are asked for while they are handed out, so there are none."""

    created: list[str] = []
    cancelled: list[records.Job] = []
    groups: list[records.Group] = []
    warnings: list[Warning] = []
    rows: list[tuple[str, ...]] = []
    forgotten: list[records.Job] = []
    notices: list[Notice] = []


if TYPE_CHECKING:
    _Objects = msgspec.Struct
else:
    _Objects = msgspec.defstruct("_Objects", [(kind.table, list[kind.model], []) for kind in kinds.ALL])
"""The objects of each kind are a list under the name of its table."""


class Snapshot(_Objects, kw_only=True):
    workspace: str
    sequence: int
    retired: list[model.Policy] = []
    """Policies that are gone or were replaced while a group of their bracket has not ended."""
    approvals: list[model.CastVote] = []
    skips: list[model.Skip] = []
    targets: dict[str, records.TargetRecord] = {}
    departed: dict[str, records.TargetRecord] = {}
    sites: list[tuple[str, str, str, records.SiteRecord]] = msgspec.field(default_factory=list, name="places")
    jobs: list[records.Job] = []
    groups: list[records.Group] = []
    progress: dict[str, dict[str, dict[str, Instant]]] = {}
    verified: dict[str, dict[str, Instant | None]] = {}
    breakers: list[tuple[str, str, records.Breaker]] = msgspec.field(default_factory=list, name="latches")
    warned: list[tuple[str, str]] = []
    pending: PendingDecisions = msgspec.field(default_factory=PendingDecisions)


def dump(state: State) -> bytes:
    journal = state.journal
    snapshot = Snapshot(
        workspace=state.workspace,
        sequence=state.sequence,
        **{kind.table: list(state.objects(kind)) for kind in kinds.ALL},
        retired=list(retired(state).values()),
        approvals=[vote for votes in state.approvals.values() for vote in votes.values()],
        skips=list(state.skips.values()),
        targets={name: target.record for name, target in sorted(state.targets.items())},
        departed=dict(sorted(state.departed.items())),
        sites=[(*site.key, site.record) for _, site in sorted(state.sites.items()) if not site.is_empty],
        jobs=list(state.jobs.values()),
        groups=list(state.groups.values()),
        progress=state.progress,
        verified=state.verified,
        breakers=[(rule, scope, breaker) for (rule, scope), breaker in state.breakers.items()],
        warned=sorted(state.warned),
        pending=PendingDecisions(
            [job.id for job in journal.created],
            journal.cancelled,
            list(journal.groups.values()),
            journal.warnings,
            list(journal.rows),
            list(journal.forgotten.values()),
            journal.notices,
        ),
    )
    return msgspec.json.encode(snapshot)


def retired(state: State) -> dict[str, model.Policy]:
    """By the id of the bracket rule whose groups have not ended: they go on as it was, also where its policy was switched
    off first and edited then."""
    live = {rule.id: rule.policy for rule in _brackets(state)}
    return {
        site.rule.id: site.rule.policy
        for _, site in sorted(state.sites.items())
        if site.rule.policy is not live.get(site.rule.id) and any(True for _ in site.groups())
    }


def _brackets(state: State) -> list[BoundRule[DeploymentBracket]]:
    return [rule for policy in state.policies.values() for rule in policy.of(DeploymentBracket)]


def load(document: bytes, ids: IdSource) -> State:
    return restore(msgspec.json.decode(document, type=Snapshot), ids)


def restore(snapshot: Snapshot, ids: IdSource) -> State:
    state = State(ids, snapshot.workspace)
    _load_objects(state, snapshot)
    _load_records(state, snapshot)
    _load_groups(state, snapshot)
    _load_sites(state, snapshot)
    _load_slots(state)
    _load_pending(state, snapshot.pending)
    state.sequence = snapshot.sequence
    state.removed.clear()
    hooks.restore(state)
    state.rebound.clear()
    state.waiting.dirty.clear()
    for target in state.targets.values():
        state.touch(target)
    for site in state.sites.values():
        state.waiting.touch(site)
    return state


_BINDING: dict[Kind, Callable[[State, Any], object]] = {
    kinds.POLICY: catalog.put_policy,
    kinds.ENVIRONMENT: catalog.put_environment,
    kinds.DEPLOYMENT: catalog.put_deployment,
    kinds.RESOURCE: catalog.put_resource,
    kinds.VERSION: catalog.put_version,
}
"""What others are bound to, in an order that binds each target once."""


def _load_objects(state: State, snapshot: Snapshot) -> None:
    for kind in (*_BINDING, *(kind for kind in kinds.ALL if kind not in _BINDING)):
        put = _BINDING.get(kind, catalog.put_plain)
        for item in getattr(snapshot, kind.table):
            put(state, _typed(item))
    for vote in snapshot.approvals:
        state.approvals.setdefault((vote.version_id, vote.environment), {})[vote.user] = vote
    for skip in snapshot.skips:
        state.skips[skip.id] = skip
        state.skips_by_rule.setdefault(skip.rule, {})[skip.id] = skip


def object_from(kind: Kind, document: bytes | str) -> Object:
    """From the JSON of its Struct."""
    item: Object = _typed(msgspec.json.decode(document, type=kind.model))
    return item


def _typed(item: Any) -> Any:
    """Rules of a policy are read with the Struct of their kind, which the document names."""
    if not isinstance(item, model.Policy):
        return item
    rules = tuple(
        msgspec.structs.replace(rule, spec=msgspec.convert(rule.spec, KINDS[rule.kind]))
        if isinstance(rule.spec, dict)
        else rule
        for rule in item.rules
    )
    return msgspec.structs.replace(item, rules=rules)


def _load_records(state: State, snapshot: Snapshot) -> None:
    state.jobs = {job.id: job for job in snapshot.jobs}
    state.progress = snapshot.progress
    state.verified = snapshot.verified
    state.departed = snapshot.departed
    state.breakers = {(rule, scope): breaker for rule, scope, breaker in snapshot.breakers}
    state.warned = set(snapshot.warned)
    for name, record in snapshot.targets.items():
        target = state.targets.get(name)
        if target is None:
            state.departed[name] = record
            continue
        target.record = record
        state.target_changed(target)
    for job in state.jobs.values():
        if job.verification == "running":
            state.measuring.add(job.id)
            verifying.schedule(state, job)


def _load_groups(state: State, snapshot: Snapshot) -> None:
    retired = [PolicyNode(_typed(policy)) for policy in snapshot.retired]
    rules = {rule.id: rule for rule in _brackets(state)}
    rules |= {rule.id: rule for node in retired for rule in node.of(DeploymentBracket)}
    for group in snapshot.groups:
        state.groups[group.id] = group
        site = membership.site_of_group(state, group, rules[group.rule])
        if group.started_at is not None:
            site.executing = group
            state.executing_at[site.location] = site
            release_targets.keep_members(state, site, group)
        elif group.locked_at is not None:
            site.waiting = group
        else:
            site.collecting = group


def _load_sites(state: State, snapshot: Snapshot) -> None:
    for rule, environment, resource, site_record in snapshot.sites:
        site = state.sites.get((rule, environment, resource))
        if site is not None:
            site.record = site_record


def _load_slots(state: State) -> None:
    """As recorded. Records of a version that wrote down no slots have work that holds them all the same."""
    for _, target in sorted(state.targets.items()):
        if target.record.slots:
            holds.restore_target(state, target)
        elif target.record.job is not None or target.record.retry_at is not None:
            holds.hold_what_runs(state, target, target.record.finished_at or 0)
    for site in state.sites.values():
        group = site.executing
        if group is not None and not group.slot_released:
            holds.restore_group(state, group)


def _load_pending(state: State, pending: PendingDecisions) -> None:
    journal = state.journal
    journal.rows = dict.fromkeys(pending.rows)
    journal.forgotten = {job.id: job for job in pending.forgotten}
    journal.created = [state.jobs[job_id] for job_id in pending.created if job_id in state.jobs]
    journal.cancelled = pending.cancelled
    journal.groups = {group.id: state.groups.get(group.id, group) for group in pending.groups}
    journal.warnings = pending.warnings
    journal.notices = pending.notices
