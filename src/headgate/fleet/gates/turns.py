"""Targets that nothing but their turn tells apart: what one of them waits for, the others wait for as well.

Under a gradual rollout nearly all targets of a new version wait for a moment that follows from their rank. The first one
that is looked at is judged by every gate; to the others the same gates would say the same, but for that moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from headgate.fleet.gates import rollouts
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.rules import gradual_rollout
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.state import candidates
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import RuleSet, Target, VersionNode
from headgate.kernel.instants import Instant

_SAY_THE_SAME = frozenset({"approval", "environmentProgression", "scopedVersion", "gradualRollout"})
"""Rules that, before their turn is asked for, tell all targets of a deployment and environment the same."""
_COME_LATER = frozenset({"failureBudget", "gate", "resourceConcurrency", "retry", "rollback", "verification"})
"""Rules that nobody asks as long as a target's turn has not come."""


class RolloutLine(msgspec.Struct, frozen=True):
    """The targets of a deployment in an environment that have the same rules, before a version."""

    spec: GradualRollout
    clock_start: Instant
    ranks: Mapping[str, int]
    blockers: Blockers
    """What they all wait for, beside their turn."""
    moves: int

    def turn_of(self, target: Target) -> Instant:
        return self.clock_start + gradual_rollout.offset(
            self.spec, self.ranks[target.resource.name], len(self.ranks)
        )


def line_of(state: State, target: Target, version: VersionNode) -> RolloutLine | None:
    """The line that the target stands in, if one was found since anything has moved."""
    line: RolloutLine | None = state.lines.get((target.pair, target.rules, version))
    if (
        line is None
        or line.moves != state.journal.moves
        or version is candidates.rollback_version(state, target)
    ):
        return None
    return line


def found(
    state: State, target: Target, version: VersionNode, one: GateResult, passed: Sequence[GateResult]
) -> None:
    """The target was stopped by `one`, behind those that it has passed: if that was its turn alone, it has a line."""
    turn = one.verdict.requeue_at
    if one.kind != "gradualRollout" or turn is None or not _is_in_line(state, target.rules, version):
        return
    assert one.rule is not None
    ranks = rollouts.ranks_of(target, version)
    own = gradual_rollout.offset(one.rule.spec, ranks[target.resource.name], len(ranks))
    blockers = Blockers()
    blockers.stop_at(_whenever(one), passed)
    state.lines[(target.pair, target.rules, version)] = RolloutLine(
        one.rule.spec, turn - own, ranks, blockers, state.journal.moves
    )


def _is_in_line(state: State, rules: RuleSet, version: VersionNode) -> bool:
    """Skips, scopes and dependencies of a version may single out a resource, and so may some of the rules."""
    if state.skips_by_rule or version.scope is not None or version.dependencies:
        return False
    if not rules.by_kind.keys() <= _SAY_THE_SAME | _COME_LATER or len(rules.of("gradualRollout")) > 1:
        return False
    return all(
        rule.spec.group_by is None and rule.spec.advance_on == "time" for rule in rules.of("gradualRollout")
    )


def _whenever(one: GateResult) -> GateResult:
    verdict = msgspec.structs.replace(one.verdict, requeue_at=None)
    return msgspec.structs.replace(one, verdict=verdict)
