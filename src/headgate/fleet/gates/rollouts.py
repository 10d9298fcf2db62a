"""Whose turn it is: ranks of targets by hash, and the clock from which their offsets count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from headgate.fleet import rules
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.rules import deployment_window, gradual_rollout
from headgate.fleet.rules.deployment_window import DeploymentWindow
from headgate.fleet.rules.environment_progression import EnvironmentProgression
from headgate.fleet.rules.gradual_rollout import Behind, GradualRollout
from headgate.fleet.rules.spec import GateStage
from headgate.fleet.state import candidates, promotion, repairs, units, wakes
from headgate.fleet.state.ranks import BracketRanks
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import BoundRule, Pair, RuleSet, Site, Target, VersionNode
from headgate.kernel import identifiers
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake

SHIFTS_AT_MOST = 16
_IN_LINE = frozenset(
    rules.specs_with(
        lambda traits: traits.is_same_for_all or traits.stage is None or traits.stage > GateStage.TURN
    )
) - {DeploymentWindow}
"""Rules that tell all who stand in a line the same, or that nobody asks as long as a target's turn has not come. Windows are
asked later too, but they shift the clock from which turns count."""


def position_of_target(target: Target, version: VersionNode, group_by: str | None = None) -> tuple[int, int]:
    """Rank among the targets of the environment in the version's scope, with `group_by` those of the same value, and how
    many they are."""
    ranks = ranks_of(target, version, group_by)
    return ranks.get(target.resource.name, len(ranks)), len(ranks)


def ranks_of(target: Target, version: VersionNode, group_by: str | None = None) -> dict[str, int]:
    """By resource, first in line first."""
    pair = target.pair
    value = target.resource.value_of(group_by)
    key = ("ranks", version.id, group_by or "", value)
    cached = pair.caches.get(key)
    if cached is None or cached[0] != pair.generation:
        scoped = candidates.scoped_targets(pair, version).values()
        line = [t for t in scoped if group_by is None or t.resource.value_of(group_by) == value]
        cached = pair.caches[key] = (pair.generation, _ranks(line, version))
    ranks: dict[str, int] = cached[1]
    return ranks


def _ranks(line: list[Target], version: VersionNode) -> dict[str, int]:
    """Places by the hash of the target and the version; should two be equal, their keys decide."""
    hashes = identifiers.fnv1a_64_of_each(version.id, [target.rollout_prefix() for target in line])
    names = [target.resource.name for target in line]
    if len(set(hashes)) < len(hashes):
        ordered = sorted(zip(hashes, (target.key() for target in line), names, strict=True))
        return {name: rank for rank, (_, _, name) in enumerate(ordered)}
    return {name: rank for rank, (_, name) in enumerate(sorted(zip(hashes, names, strict=True)))}


def has_succeeded(state: State, target: Target, version: VersionNode) -> bool:
    """It runs the version or a newer one, verified where that is asked for, and nothing has failed since."""
    record = target.record
    runs = state.version(record.deployed)
    return (
        runs is not None
        and runs.sort_key >= version.sort_key
        and record.job is None
        and record.is_proven
        and record.failed_at is None
        and repairs.ahead(state, target) is None
    )


def _needs_person(target: Target, version: VersionNode) -> bool:
    """It has failed with the version, or was rolled back from it, and is not about to try again."""
    record = target.record
    if record.job is not None or record.ordered is not None or record.retry_at is not None:
        return False
    return record.failed_version == version.id or version.id in record.rolled_back


def target_behind(
    state: State,
    target: Target,
    version: VersionNode,
    rule: BoundRule[GradualRollout],
    position: int,
    now: Instant,
) -> Behind | None:
    """Of a rule with `advanceOn: success`: the first in line that has not succeeded, if its turn comes before this one's."""
    pair, group_by = target.pair, rule.spec.group_by
    value = target.resource.value_of(group_by)
    key = ("behind", version.id, group_by or "", value)
    cached = pair.caches.get(key)
    if cached is None or cached[0] != pair.progress or not cached[1].holds(state, now):
        ranks = ranks_of(target, version, group_by)
        cached = pair.caches[key] = (pair.progress, _first_behind(state, pair, ranks, version, now))
    behind: _FirstBehind = cached[1]
    if behind.behind is None or not gradual_rollout.goes_before(rule.spec, behind.rank, position):
        return None
    return behind.behind


class _FirstBehind(msgspec.Struct, frozen=True):
    """Who is the first in a line that has not succeeded, and at which place. `moves` is set where rules were
    asked that keep versions away: what they read, and who skips them, is no progress of the line."""

    rank: int
    behind: Behind | None
    moves: int | None

    def holds(self, state: State, now: Instant) -> bool:
        until = self.behind.until if self.behind is not None else None
        return self.moves in (None, state.journal.moves) and (until is None or now < until)


def _first_behind(
    state: State, pair: Pair, ranks: Mapping[str, int], version: VersionNode, now: Instant
) -> _FirstBehind:
    moves = None
    for name, rank in ranks.items():
        target = pair.targets[name]
        if has_succeeded(state, target, version):
            continue
        if gates.may_be_kept_away(target):
            moves = state.journal.moves
        if not _is_passed_over(state, target, version, now):
            until = gates.let_in_until(state, target, version, now)
            return _FirstBehind(rank, Behind(target.name, _needs_person(target, version), until), moves)
    return _FirstBehind(len(ranks), None, moves)


def _is_passed_over(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    """Where a rule keeps the version away it never succeeds, and nobody waits for that."""
    return target.record.job is None and gates.is_kept_away(state, target, version, now)


def site_behind(
    state: State, site: Site, versions: list[VersionNode], rule: BoundRule[GradualRollout], now: Instant
) -> Behind | None:
    """The same of a bracket's resources: one has succeeded when all that the versions concern there has.

    Whichever policy has the rule, resources are asked in the bracket's order: what starts is the group, and two groups would
    wait for each other if two of their members had orders of their own. Those of other environments are not waited for: what
    comes first among environments is for progression to say, and they may wait for this one.
    """
    group_by = rule.spec.group_by
    value = site.resource.value_of(group_by)
    position, _ = position_of_site(state, site, versions, group_by)
    for other in sorted(state.sites_by_rule.get(site.rule.id, ())):
        if other is site or other.environment is not site.environment:
            continue
        if other.resource.value_of(group_by) != value:
            continue
        rank, _ = position_of_site(state, other, versions, group_by)
        if not gradual_rollout.goes_before(rule.spec, rank, position):
            continue
        lagging = list(_lagging(state, other, versions, rule, now))
        if lagging:
            has_failed = other.executing is not None and other.executing.status == "failed"
            by_person = has_failed or any(_needs_person(target, version) for target, version in lagging)
            ends = [gates.let_in_until(state, target, version, now) for target, version in lagging]
            until = min((at for at in ends if at is not None), default=None)
            return Behind(other.resource.name, by_person, until)
    return None


def _lagging(
    state: State, site: Site, versions: list[VersionNode], rule: BoundRule[GradualRollout], now: Instant
) -> Iterator[tuple[Target, VersionNode]]:
    """Members whose turns the rule decides, and that have not succeeded with the version that concerns them."""
    for version in versions:
        target = site.members.get(version.object.deployment)
        if target is None or not any(one.id == rule.id for one in target.rules.of(GradualRollout)):
            continue
        if not candidates.in_scope(version, target) or has_succeeded(state, target, version):
            continue
        if not _is_passed_over(state, target, version, now):
            yield target, version


def success_wakes(*targets: Target) -> tuple[Wake, ...]:
    """What tells that another target of the line has moved."""
    return tuple(
        wakes.pair(target.deployment.name, environment)
        for target in targets
        for environment in target.deployment.pairs
    )


def position_of_site(
    state: State, site: Site, versions: list[VersionNode], group_by: str | None = None
) -> tuple[int, int]:
    """Only resources that the locked versions concern count; one version without a scope concerns all. With `group_by`
    only those of the same value."""
    scope = tuple(sorted(v.id for v in versions)) if versions and all(v.scope for v in versions) else ()
    value = site.resource.value_of(group_by)
    ranks = state.bracket_ranks.get(site.rule.id)
    if ranks is None:
        ranks = state.bracket_ranks[site.rule.id] = BracketRanks()
    return ranks.position(
        site,
        scope if group_by is None else (*scope, group_by, value),
        state.sites_by_rule.get(site.rule.id, ()),
        lambda other: (
            other.resource.value_of(group_by) == value and (not scope or _concerns_any(other, versions))
        ),
    )


def _concerns_any(site: Site, versions: list[VersionNode]) -> bool:
    for version in versions:
        target = site.members.get(version.object.deployment)
        if target is not None and candidates.in_scope(version, target):
            return True
    return False


def shifted_by_windows(windows: tuple[BoundRule[DeploymentWindow], ...], start: Instant) -> Instant | None:
    """The first moment from `start` on at which every window rule allows; None if there is none."""
    for _ in range(SHIFTS_AT_MOST):
        moved = start
        for rule in windows:
            shifted = deployment_window.shift(rule.spec, moved)
            if shifted is None:
                return None
            moved = shifted
        if moved == start:
            return start
        start = moved
    return start


def is_shared_by_bracket(rule: BoundRule[GradualRollout], site: Site | None) -> bool:
    """A rollout on the bracket's own policy gives all members of a resource one position, unless told not to."""
    return site is not None and rule.spec.bracket_aware and rule.policy.name == site.rule.policy.name


class RolloutLine(msgspec.Struct, frozen=True):
    """The targets of a deployment in an environment that have the same rules, before a version.

    Nearly all of them wait for a moment that follows from their rank. The first one that is looked at is judged by every
    gate; to the others the same gates would say the same, but for that moment.
    """

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


def found_line(
    state: State, target: Target, version: VersionNode, result: GateResult, passed: Sequence[GateResult]
) -> None:
    """The target was stopped by `one`, behind those that it has passed: if that was its turn alone, it has a line."""
    turn = result.verdict.requeue_at
    if result.rule is None or not units.is_a(result.rule, GradualRollout):
        return
    if turn is None or not _is_in_line(state, target.rules, version):
        return
    ranks = ranks_of(target, version)
    own = gradual_rollout.offset(result.rule.spec, ranks[target.resource.name], len(ranks))
    blockers = Blockers()
    whenever = msgspec.structs.replace(result.verdict, requeue_at=None)
    blockers.stop_at(msgspec.structs.replace(result, verdict=whenever), passed)
    state.lines[(target.pair, target.rules, version)] = RolloutLine(
        result.rule.spec, turn - own, ranks, blockers, state.journal.moves
    )


def _is_in_line(state: State, rule_set: RuleSet, version: VersionNode) -> bool:
    """Skips, scopes and dependencies of a version may single out a resource, and so may some of the rules."""
    if state.skips_by_rule or version.scope is not None or version.dependencies:
        return False
    if not rule_set.by_spec.keys() <= _IN_LINE or len(rule_set.of(GradualRollout)) > 1:
        return False
    if any(promotion.reads_the_resource(rule) for rule in rule_set.of(EnvironmentProgression)):
        return False
    return all(
        rule.spec.group_by is None and rule.spec.advance_on == "time" for rule in rule_set.of(GradualRollout)
    )
