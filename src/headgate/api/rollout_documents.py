"""Votes, skips, groups and entries of the audit log as they are answered: by their routes, and by streams that tell of
them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from headgate.api.documents import rollout_views
from headgate.api.documents import views as answers
from headgate.fleet.engine import views
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import outlooks, skips, versions
from headgate.fleet.model import objects as model
from headgate.fleet.model import records
from headgate.kernel import rendering
from headgate.kernel.instants import Instant
from headgate.runtime import recording
from headgate.store.log import AuditEntry


def of_vote(engine: Engine, vote: model.CastVote) -> dict[str, Any]:
    version = versions.by_id(engine, vote.version_id)
    return rendering.built(
        rollout_views.ApprovalView,
        vote,
        deployment=version.deployment if version is not None else "",
        tag=version.tag if version is not None else "",
    )


def of_skip(engine: Engine, skip: model.Skip) -> dict[str, Any]:
    version = versions.by_id(engine, skip.version_id)
    return rendering.built(
        rollout_views.SkipView,
        skip,
        rule_name=skips.rule_label(engine, skip),
        deployment=version.deployment if version is not None else None,
        tag=version.tag if version is not None else None,
    )


def of_group(engine: Engine, group: records.Group, now: Instant) -> dict[str, Any]:
    tags = _tags_of(engine, (group,))
    document = views.of_group(group, (views.of_member(member, tags) for member in group.members))
    return {**document, "orders": [msgspec.to_builtins(one) for one in outlooks.of_group(engine, group, now)]}


def _tags_of(engine: Engine, groups: Iterable[records.Group]) -> views.Tags:
    """Of versions that still exist; of others the id is all that is left."""
    ids = {member.version for group in groups for member in group.members if member.version is not None}
    return versions.tags(engine, ids)


def of_audit_entry(entry: AuditEntry) -> dict[str, Any]:
    before, after = _json(entry.before), _json(entry.after)
    reason = after.get(recording.REASON) if isinstance(after, dict) else None
    after = None if after == {recording.REASON: reason} else after
    return rendering.built(
        answers.AuditEntryView,
        entry,
        before=before,
        after=after,
        reason=reason if isinstance(reason, str) else None,
    )


def _json(written: bytes | None) -> Any:
    return None if written is None else msgspec.json.decode(written)
