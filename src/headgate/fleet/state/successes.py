"""Where a version has succeeded, and since when, as `environmentProgression` counts it.

A success lasts as long as the target runs the version, or a newer one that came after it. It is over when the target
goes back to an older one, whoever wanted that, or fails with the version it runs; the next success counts anew, and so
does the soak.
"""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.rules.environment_progression import EnvironmentProgression
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant


def noted(state: State, target: Target, version_id: str, now: Instant) -> None:
    """The version runs there from now on; those that are newer run there no more."""
    successes = state.progress.setdefault(version_id, {}).setdefault(target.environment.name, {})
    if successes.setdefault(target.name, now) == now:
        state.journal.changed("progress", version_id, target.name)
        state.stages_moved(version_id)
    elif _is_age_asked(state):
        state.stages_moved(version_id)
    version = state.version(version_id)
    for newer in reversed(target.deployment.versions):
        if version is None or newer.sort_key <= version.sort_key:
            break
        lost(state, target, newer.id)


def _is_age_asked(state: State) -> bool:
    """Whether it matters to anybody that what ran was deployed again."""
    return any(
        rule.spec.maximum_age_hours is not None
        for policy in state.policies.values()
        for rule in policy.of(EnvironmentProgression)
    )


def lost(state: State, target: Target, version_id: str | None) -> None:
    """The version has succeeded there no more: also not before its verification, should it come again."""
    stages = state.progress.get(version_id or "", {})
    succeeded = stages.get(target.environment.name, {})
    if version_id is None or succeeded.pop(target.name, None) is None:
        return
    verified = state.verified.get(version_id, {})
    verified.pop(target.name, None)
    state.journal.changed("progress", version_id, target.name)
    state.stages_moved(version_id)
    # Nothing empty stays: an engine that reads its state back from rows would not have it.
    if not succeeded:
        del stages[target.environment.name]
    if not stages:
        del state.progress[version_id]
    if not verified:
        state.verified.pop(version_id, None)


def all_lost(state: State, target: Target) -> None:
    """Nothing has succeeded there: the machine is gone, and what gets its name is another one."""
    for version in target.deployment.versions:
        lost(state, target, version.id)


def counted(
    state: State,
    rule: EnvironmentProgression,
    version: VersionNode,
    environment: str,
    scoped: dict[str, Target],
) -> Iterator[Instant]:
    """Since when each of the targets has succeeded, of those that have."""
    succeeded = state.progress.get(version.id, {}).get(environment, {})
    verified = state.verified.get(version.id, {}) if rule.require_verification_passed else {}
    for target in scoped.values():
        at = succeeded.get(target.name)
        passed_at = verified.get(target.name, at)
        if at is not None and passed_at is not None:
            yield max(at, passed_at)


def renewed_at(version: VersionNode, scoped: dict[str, Target]) -> Instant | None:
    """When the version was last deployed to one of the targets that run it, anew or again."""
    moments = [
        target.record.deployed_at
        for target in scoped.values()
        if target.record.deployed == version.id and target.record.is_proven
    ]
    return max((at for at in moments if at is not None), default=None)


def spoilt(state: State, version: VersionNode, environment: str, scoped: dict[str, Target]) -> list[str]:
    """Targets that have failed with the version, or were rolled back from it: a person has to try it again there."""
    succeeded = state.progress.get(version.id, {}).get(environment, {})
    return sorted(
        target.name
        for target in scoped.values()
        if target.record.failed_version == version.id
        or (target.name not in succeeded and _was_put_back(target, version))
    )


def _was_put_back(target: Target, version: VersionNode) -> bool:
    given_up = target.record.given_up.get(version.id)
    return version.id in target.record.rolled_back or (given_up is not None and given_up.how == "rolledBack")
