"""Skips: a person turns one rule's verdict into allowed, for what the skip names."""

from __future__ import annotations

import msgspec

from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import DeleteSkip, PutSkip
from headgate.fleet.state import references, wakes
from headgate.fleet.state.state import State
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def put(state: State, change: PutSkip, now: Instant) -> None:
    skip = made(state, change, now)
    if not skip.id:
        skip = msgspec.structs.replace(skip, id=state.new_id("skip", skip.rule, now))
    if skip.id in state.skips:
        delete(state, DeleteSkip(skip.id))
    state.skips[skip.id] = skip
    state.skips_by_rule.setdefault(skip.rule, {})[skip.id] = skip
    _changed(state, skip)


def made(state: State, change: PutSkip, now: Instant) -> model.Skip:
    """What the change asks for, with no id unless it was given."""
    rule = references.rule(state, change.policy, change.rule)
    problems = []
    if not change.reason.strip():
        problems.append(Problem("reason", "must say why; it is shown to everyone who asks"))
    if rule.kind in references.NOT_SKIPPABLE:
        problems.append(Problem("rule", references.no_verdict_to_skip(rule.kind)))
    if (change.deployment is None) != (change.tag is None):
        problems.append(
            Problem("tag", "deployment and tag name a version together; allowed is both or neither")
        )
    if problems:
        raise Rejected(problems)
    version = None
    if change.deployment is not None and change.tag is not None:
        version = references.version(state, change.deployment, change.tag).id
    environment = references.environment(state, change.environment).name if change.environment else None
    resource = references.resource(state, change.resource).name if change.resource else None
    return model.Skip(
        id=change.id or "",
        policy=rule.policy.name,
        rule=rule.id,
        version_id=version,
        environment=environment,
        resource=resource,
        reason=change.reason,
        user=change.user,
        created_at=now,
        expires_at=change.expires_at,
    )


def end_for_version(state: State, version: str) -> list[model.Skip]:
    """What was skipped for a version that is gone, or is another now, must not be skipped for what comes instead."""
    ended = [skip for skip in state.skips.values() if skip.version_id == version]
    for skip in ended:
        delete(state, DeleteSkip(skip.id))
    return ended


def delete(state: State, change: DeleteSkip) -> None:
    skip = state.skips.pop(change.id, None)
    if skip is None:
        raise Rejected((Problem("id", f"there is no skip {change.id}"),))
    by_rule = state.skips_by_rule[skip.rule]
    del by_rule[skip.id]
    if not by_rule:
        del state.skips_by_rule[skip.rule]
    _changed(state, skip)


def _changed(state: State, skip: model.Skip) -> None:
    """Whom a version is let come to decides for whom others wait in a line."""
    policy = state.policies.get(skip.policy)
    if policy is not None and any(
        rule.id == skip.rule and rule.spec.traits.keeps_version_away for rule in policy.rules
    ):
        state.waiting.happened(wakes.RANKS)
    state.waiting.happened(wakes.skips(skip.rule))
    state.journal.changed("skip", skip.id)
