"""Which release targets a selector matches, and why it matches none."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable

from headgate import cel
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, Target, optional_selector

_TRIED = 50
"""Targets that are looked at one by one to find out why nobody is concerned."""


def selected(
    state: State, selector: cel.Selector | None, deployment: DeploymentNode | None = None
) -> list[str]:
    """Names of the targets that it matches, of one deployment or of all, without looking at each."""
    nodes = state.deployments.values() if deployment is None else (deployment,)
    pairs = [pair for node in nodes for pair in node.pairs.values()]
    reads_resources = selector is not None and "resource" in selector.roots
    of_resource_alone = (
        set(state.index.select(selector)) if selector is not None and selector.roots == {"resource"} else None
    )
    selection: list[str] = []
    for pair in pairs:
        bindings = {"deployment": pair.deployment.view, "environment": pair.environment.view}
        if selector is None or (not reads_resources and selector.matches(bindings)):
            selection += (target.name for target in pair.targets.values())
        elif reads_resources:
            names = of_resource_alone
            if names is None:
                names = set(state.index.select(selector, bindings))
            selection += (target.name for name, target in pair.targets.items() if name in names)
    return selection


def problem_of(state: State, text: str | None, targets: Iterable[Target] | None = None) -> str | None:
    """Why it concerns nobody, where there is somebody to concern. What reads nothing, such as `false`, is meant."""
    selector = optional_selector(text)
    if selector is None or not selector.roots or not state.targets:
        return None
    if targets is None:
        return None if selected(state, selector) else nobody(selector, state.targets.values())
    all_of_them = list(targets)
    if not all_of_them or any(selector.matches(target.bindings()) for target in all_of_them):
        return None
    return nobody(selector, all_of_them)


def nobody(selector: cel.Selector, targets: Collection[Target]) -> str:
    """Of a selector that matches none of the targets: false for them, or impossible to evaluate."""
    many = f"the {len(targets)} release targets" if len(targets) != 1 else "the 1 release target"
    tried = list(itertools.islice(targets, _TRIED))
    problems = [problem for target in tried if (problem := _problem(selector, target)) is not None]
    if problems and len(problems) == len(tried):
        return f"fails on all of {many}: {problems[0]}"
    return f"matches none of {many}"


def _problem(selector: cel.Selector, target: Target) -> str | None:
    try:
        selector.judge(target.bindings())
    except cel.EvaluationError as error:
        return str(error)
    return None
