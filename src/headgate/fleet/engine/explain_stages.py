"""Who, in the environments before, keeps a version from having proved itself."""

from __future__ import annotations

import msgspec

from headgate.fleet.rules import failure_budget
from headgate.fleet.rules.environment_progression import EnvironmentProgression
from headgate.fleet.state import candidates, promotion, successes, units
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.decisions import Reason


def with_spoilt(state: State, target: Target, version: VersionNode | None, one: GateResult) -> GateResult:
    """The verdict is shared by all targets and counts alone; whoever asks why is told the names."""
    if one.verdict.reason != Reason.AWAITING_ENVIRONMENT or one.rule is None or version is None:
        return one
    if not units.is_a(one.rule, EnvironmentProgression):
        return one
    names: list[str] = []
    for environment in promotion.environments_before(state, one.rule, target):
        pair = target.deployment.pairs.get(environment.name)
        if pair is not None:
            scoped = candidates.scoped_targets(pair, version)
            names += successes.spoilt(state, version, environment.name, scoped)
    if not names:
        return one
    message = (
        f"{one.verdict.message}; {version.tag} failed or was rolled back on {failure_budget.named(names)}"
    )
    return GateResult(one.rule, one.kind, msgspec.structs.replace(one.verdict, words=message), one.wakes)
