"""Every gate of a target, one verdict after another, in the order in which people read them.

Deciding stops at the first that is not allowed; explaining asks them all. Both say the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from headgate.fleet import rules
from headgate.fleet.gates import judges, version_dependencies
from headgate.fleet.gates.judges import Judge
from headgate.fleet.gates.version_dependencies import NO_PROSPECTS, Prospects
from headgate.fleet.rules import always_on
from headgate.fleet.rules.spec import GateStage, RuleSpec
from headgate.fleet.state import wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import AnyRule, Target, VersionNode
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant


def of_version(
    state: State, target: Target, version: VersionNode, now: Instant, prospects: Prospects = NO_PROSPECTS
) -> Iterator[GateResult]:
    """Gates that judge a version: in a bracket they decide what may be locked."""
    if version.scope is not None:
        yield from _asked(_OF_SCOPE, state, target, version, now)
    yield from _asked(_OF_VERSION, state, target, version, now)
    if version.dependencies:
        yield version_dependencies.judge(state, version, target, prospects)
    yield from _asked(_OF_PACE, state, target, version, now)


def of_moment(state: State, target: Target, version: VersionNode, now: Instant) -> Iterator[GateResult]:
    """Gates that judge a moment, but for the rollout position and slots: in a bracket they decide when a group starts."""
    yield frozen(state, target, now)
    yield from _asked(_OF_MOMENT, state, target, version, now)


def _asked(
    table: Mapping[type[RuleSpec], Judge],
    state: State,
    target: Target,
    version: VersionNode,
    now: Instant,
) -> Iterator[GateResult]:
    by_spec = target.rules.by_spec
    for spec, judge in table.items():
        for rule in by_spec.get(spec, ()):
            skip = skipped(state, rule, version, target, now)
            if skip is None:
                yield judge(state, rule, version, target, now)
            elif spec.traits.keeps_time:
                yield _not_later(skip, judge(state, rule, version, target, now))
            else:
                yield skip


def _not_later(skip: GateResult, judged: GateResult) -> GateResult:
    """A skip makes nothing later: what the rule has allowed by itself counts from then on, as long as it does."""
    since, skipped_at = judged.verdict.satisfied_at, skip.verdict.satisfied_at
    if not judged.is_allowed or since is None or skipped_at is None or since >= skipped_at:
        return skip
    ends = [at for at in (skip.verdict.requeue_at, judged.verdict.requeue_at) if at is not None]
    verdict = msgspec.structs.replace(
        skip.verdict, satisfied_at=since, requeue_at=min(ends) if ends else None
    )
    return GateResult(skip.rule, skip.kind, verdict, judged.wakes)


def skipped(
    state: State, rule: AnyRule, version: VersionNode | None, target: Target, now: Instant
) -> GateResult | None:
    """What is said in place of the rule where a person skips it."""
    if rule.id not in state.skips_by_rule:
        return None
    skip = state.skip_for(rule, version.id if version else None, target, now)
    if skip is None:
        return None
    verdict = decisions.allowed(
        f"skipped by {skip.user or 'an operator'}: {skip.reason}",
        satisfied_at=skip.created_at,
        requeue_at=skip.expires_at,
        skip=skip.id,
    )
    return GateResult(rule, rule.kind, verdict)


def frozen(state: State, target: Target, now: Instant) -> GateResult:
    freeze = state.freeze_on(target, now) if state.freezes else None
    if freeze is None:
        return NOT_FROZEN
    return GateResult(None, always_on.FREEZE, always_on.judge_freeze(freeze), (wakes.FREEZES,))


def paused(version: VersionNode) -> GateResult | None:
    """What somebody has paused starts nothing more, also in a cycle that has begun."""
    if version.object.status != "paused":
        return None
    verdict = always_on.judge_pause(version.object)
    return GateResult(None, always_on.PAUSE, verdict, (wakes.versions(version.object.deployment),))


def of_people(state: State, target: Target, version: VersionNode, now: Instant) -> Iterator[GateResult]:
    """Those of a version's gates that people answer."""
    if version.scope is not None:
        yield from _asked(_OF_SCOPE, state, target, version, now)
    yield from _asked(_OF_PEOPLE, state, target, version, now)


def is_vetoed(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    """Whether somebody who has a say has rejected it in the target's environment, and not withdrawn that."""
    return any(is_veto(judged) for judged in of_people(state, target, version, now))


def is_veto(judged: GateResult) -> bool:
    return judged.verdict.reason is Reason.REJECTED


def is_of_moment(judged: GateResult) -> bool:
    """Whether it is one of those that say when a group starts."""
    stage = rules.TRAITS[judged.kind].stage
    return stage is not None and GateStage.FREEZE <= stage <= GateStage.CONDITIONS


def is_kept_away(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    """A rule says that the version is not meant to come here: nobody asks for it on this target."""
    return any(not judged.is_allowed for judged in _asked(_KEEPING_AWAY, state, target, version, now))


def may_be_kept_away(target: Target) -> bool:
    return any(target.rules.of(spec) for spec in _KEEPING_AWAY)


def let_in_until(state: State, target: Target, version: VersionNode, now: Instant) -> Instant | None:
    """When the first of the skips ends without which the version might be kept away from here."""
    rules_here = [rule for spec in _KEEPING_AWAY for rule in target.rules.of(spec)]
    skips = [skipped(state, rule, version, target, now) for rule in rules_here]
    ends = [skip.verdict.requeue_at for skip in skips if skip is not None]
    return min((at for at in ends if at is not None), default=None)


NOT_FROZEN = GateResult(None, always_on.FREEZE, decisions.allowed("not frozen"))


def _at(*stages: GateStage) -> Mapping[type[RuleSpec], Judge]:
    return {spec: judges.OF_SPEC[spec] for spec in rules.specs_at(*stages)}


_OF_SCOPE = _at(GateStage.SCOPE)
_OF_VERSION = _at(GateStage.SELECTION, GateStage.CONSENT, GateStage.PROOF)
_OF_PACE = _at(GateStage.PACE)
_OF_MOMENT = _at(GateStage.HOURS, GateStage.FAILURES, GateStage.CONDITIONS)
_OF_PEOPLE = {spec: judge for spec, judge in _OF_VERSION.items() if spec.traits.is_answered_by_votes}
_KEEPING_AWAY = {spec: judge for spec, judge in _OF_VERSION.items() if spec.traits.keeps_version_away}
