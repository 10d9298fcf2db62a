"""Whose turn it is: ranks of targets by hash, and the clock from which their offsets count."""

from __future__ import annotations

from headgate.fleet import candidates
from headgate.fleet.ranks import BracketRanks
from headgate.fleet.rules import deployment_window
from headgate.fleet.state import State
from headgate.fleet.units import BoundRule, Place, Target, VersionNode
from headgate.kernel.instants import Instant

SHIFTS_AT_MOST = 16


def position_of_target(state: State, target: Target, version: VersionNode) -> tuple[int, int]:
    """Rank among the targets of the environment in the version's scope, and how many they are."""
    pair = target.pair
    key = ("ranks", version.id)
    cached = pair.caches.get(key)
    if cached is None or cached[0] != pair.generation:
        scoped = candidates.scoped_targets(state, pair, version)
        ordered = sorted((t.rollout_hash(version.id), t.key(), name) for name, t in scoped.items())
        cached = pair.caches[key] = (
            pair.generation,
            {name: rank for rank, (_, _, name) in enumerate(ordered)},
        )
    ranks: dict[str, int] = cached[1]
    return ranks.get(target.resource.name, len(ranks)), len(ranks)


def position_of_place(state: State, place: Place, versions: list[VersionNode]) -> tuple[int, int]:
    """Only resources that the locked versions concern count; one version without a scope concerns all."""
    scope = tuple(sorted(v.id for v in versions)) if versions and all(v.scope for v in versions) else ()
    ranks = state.bracket_ranks.get(place.rule.id)
    if ranks is None:
        ranks = state.bracket_ranks[place.rule.id] = BracketRanks()
    return ranks.position(
        place,
        scope,
        state.places_by_rule.get(place.rule.id, ()),
        lambda other: not scope or _concerns_any(state, other, versions),
    )


def _concerns_any(state: State, place: Place, versions: list[VersionNode]) -> bool:
    for version in versions:
        target = place.members.get(version.object.deployment)
        if target is not None and candidates.in_scope(state, version, target):
            return True
    return False


def shifted_by_windows(windows: tuple[BoundRule, ...], start: Instant) -> Instant | None:
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


def is_shared_by_bracket(rule: BoundRule, place: Place | None) -> bool:
    """A rollout on the bracket's own policy gives all members of a resource one position, unless told not to."""
    return place is not None and rule.spec.bracket_aware and rule.policy.name == place.rule.policy.name
