"""Who, in the environments before, keeps a version from having proved itself."""

from __future__ import annotations

import msgspec

from headgate.fleet.rules import failure_budget
from headgate.fleet.rules.environment_progression import EnvironmentProgression
from headgate.fleet.state import candidates, promotion, successes, units
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.decisions import Reason


def with_spoilt(state: State, target: Target, version: VersionNode | None, result: GateResult) -> GateResult:
    """The verdict is shared by all targets and counts alone; whoever asks why is told the names."""
    if result.verdict.reason != Reason.AWAITING_ENVIRONMENT or result.rule is None or version is None:
        return result
    if not units.is_a(result.rule, EnvironmentProgression):
        return result
    names: list[str] = []
    for environment in promotion.environments_before(state, result.rule, target):
        pair = target.deployment.pairs.get(environment.name)
        if pair is not None:
            scoped = candidates.scoped_targets(pair, version)
            names += successes.spoilt(state, version, environment.name, scoped)
    if not names:
        return result
    message = (
        f"{result.verdict.message}; {version.tag} failed or was rolled back on {failure_budget.named(names)}"
    )
    return GateResult(
        result.rule, result.kind, msgspec.structs.replace(result.verdict, words=message), result.wakes
    )
