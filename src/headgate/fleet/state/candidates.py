"""Which versions concern a target at all: ready, in scope, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from headgate import cel
from headgate.fleet.state import variables
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Pair, Target, VersionNode
from headgate.kernel.instants import Instant


class ScopeProblem(msgspec.Struct, frozen=True):
    """A version's scope that could not be evaluated on a target."""

    version: VersionNode
    target: Target
    error: cel.EvaluationError

    @property
    def message(self) -> str:
        return f"targetSelector of {self.version.tag} failed on {self.target.name}, so the version is kept: {self.error}"


OnProblem = Callable[[ScopeProblem], None]
"""Told of scopes that could not be evaluated, by whoever only looks."""


def in_scope(version: VersionNode, target: Target, on_problem: OnProblem | None = None) -> bool:
    """A scope that fails to evaluate keeps the version, and is told of: a typo must not silently drop it."""
    if version.scope is None:
        return True
    try:
        return version.scope.judge(target.bindings())
    except cel.EvaluationError as error:
        if on_problem is not None:
            on_problem(ScopeProblem(version, target, error))
        return True


def scope_problem(version: VersionNode, target: Target) -> ScopeProblem | None:
    problems: list[ScopeProblem] = []
    in_scope(version, target, problems.append)
    return problems[0] if problems else None


def withdrawn(state: State, target: Target, version_id: str | None, kind: str) -> str | None:
    """Why the version starts here no more, although it was to. One that is paused only waits; and only what a job would
    bring here has to be meant for the target, not what runs already. What runs or ran is deployed again as it is, whatever
    its next build came to."""
    version = state.version(version_id)
    if version is None:
        return "its version was deleted"
    is_ordered_again = kind in ("redeploy", "rollback", "variable") and version.object.status == "failed"
    if version.object.status in ("rejected", "failed") and not is_ordered_again:
        return f"its version was {version.object.status}"
    if kind in ("deploy", "hook") and not in_scope(version, target):
        return f"{version.tag} is no longer for this target"
    return None


def newest_first(
    target: Target, on_problem: OnProblem | None = None, watermark: tuple[Instant, str] | None = None
) -> Iterator[VersionNode]:
    """Down to the watermark, if there is one. What is wrong with scopes on the way there is told."""
    for version in reversed(target.deployment.versions):
        if version.is_ready and (version.scope is None or in_scope(version, target, on_problem)):
            if watermark is not None and version.sort_key < watermark:
                return
            yield version


def scoped_targets(pair: Pair, version: VersionNode) -> dict[str, Target]:
    """Targets of the pair that count for the version, by resource name; cached until membership moves."""
    if version.scope is None:
        return pair.targets
    key = ("scope", version.id)
    cached = pair.caches.get(key)
    if cached is None or cached[0] != pair.generation:
        targets = {name: target for name, target in pair.targets.items() if in_scope(version, target)}
        cached = pair.caches[key] = (pair.generation, targets)
    return cached[1]


def deployed_version(state: State, target: Target) -> VersionNode | None:
    deployed = target.record.deployed
    return None if deployed is None else state.versions.get(deployed)


def rollback_version(state: State, target: Target) -> VersionNode | None:
    """Where it goes when what runs was rejected and goes back: the last that ran here, is older, and is not known to be bad.
    What is newer, because somebody said that the older one runs, comes by its own gates."""
    deployed = deployed_version(state, target)
    if deployed is None or not deployed.goes_back:
        return None
    return last_good(state, target, before=deployed)


def last_good(state: State, target: Target, before: VersionNode | None = None) -> VersionNode | None:
    record = target.record
    for version_id in (record.previous, *reversed(record.ran)):
        version = state.version(version_id)
        if version is None or not version.is_ready or version.id == record.deployed:
            continue
        if before is not None and version.sort_key > before.sort_key:
            continue
        is_bad = version.id in record.rolled_back or version.id in record.failures
        if not is_bad and in_scope(version, target):
            return version
    return None


def watermark_of(state: State, target: Target) -> tuple[Instant, str] | None:
    """No candidate older than this: what runs, unless what runs was rejected and goes back."""
    return watermark_by(deployed_version(state, target))


def watermark_by(deployed: VersionNode | None) -> tuple[Instant, str] | None:
    return None if deployed is None or deployed.goes_back else deployed.sort_key


def paused_ahead(state: State, target: Target) -> VersionNode | None:
    """The version that somebody paused and that would come next here if it were ready."""
    deployed, record = deployed_version(state, target), target.record
    for version in reversed(target.deployment.versions):
        if deployed is not None and version.sort_key <= deployed.sort_key:
            return None
        if version.is_ready and in_scope(version, target):
            return None
        if version.object.status == "paused" and in_scope(version, target):
            failed = record.failures.get(version.id)
            has_failed = failed is not None and variables.are_same(failed, variables.resolve(state, target))
            return None if has_failed or version.id in record.rolled_back else version
    return None
