"""The order in which versions pass through environments, as `environmentProgression` rules say it."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.rules.environment_progression import EnvironmentProgression
from headgate.fleet.state.state import State
from headgate.fleet.state.units import BoundRule, EnvironmentNode, Target


def environments_before(
    state: State, rule: BoundRule[EnvironmentProgression], target: Target
) -> Iterator[EnvironmentNode]:
    """Those in which a version must have proved itself before the rule lets it reach this target."""
    selector = rule.selector(rule.spec.depends_on_environment_selector)
    for environment in state.environments.values():
        if environment.name == target.environment.name or set(environment.object.systems).isdisjoint(
            target.deployment.object.systems
        ):
            continue
        if selector.matches({**target.bindings(), "environment": environment.view}):
            yield environment


def reads_the_resource(rule: BoundRule[EnvironmentProgression]) -> bool:
    """Whether each resource may have stages of its own, such as those of its region."""
    return "resource" in rule.selector(rule.spec.depends_on_environment_selector).roots


def order(state: State) -> list[str]:
    """All environments, each behind those that it waits for; by name where nothing says more, or where each waits for
    another."""
    before = _before(state)
    ordered: list[str] = []
    left = sorted(state.environments)
    while left:
        free = [name for name in left if before.get(name, set()).isdisjoint(left)] or left
        ordered += free
        left = [name for name in left if name not in free]
    return ordered


def _before(state: State) -> dict[str, set[str]]:
    """One target speaks for all of a deployment in an environment: this is for the eye, not for a decision."""
    environments: dict[str, set[str]] = {}
    asked: set[tuple[str, str]] = set()
    for deployment in state.deployments.values():
        for pair in deployment.pairs.values():
            for target in list(pair.targets.values())[:1]:
                for rule in target.rules.of(EnvironmentProgression):
                    if (rule.id, pair.environment.name) in asked:
                        continue
                    asked.add((rule.id, pair.environment.name))
                    names = {one.name for one in environments_before(state, rule, target)}
                    environments.setdefault(pair.environment.name, set()).update(names)
    return environments
