"""Simulations as others call them: a scenario in any of its forms, and a result or an explanation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from headgate.fleet.engine import manifests
from headgate.kernel import documents, instants
from headgate.kernel.problems import Problem, Rejected
from headgate.simulate import run, scenario
from headgate.simulate.model import steps
from headgate.simulate.model.result import Explained, Result
from headgate.simulate.model.times import When
from headgate.simulate.scenario import Scenario

AnyScenario = Scenario | Mapping[str, Any] | str | Path
"""Read already; a document; the text of one, in YAML or JSON; or the file that holds it."""
_PLACE = "explain()"
"""Where the step stands that no file has."""


def read_scenario(given: AnyScenario) -> Scenario:
    """Raises `Rejected` with every problem. Only a scenario from a file can name other files."""
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Path):
        return scenario.load(given)
    if isinstance(given, Mapping):
        return scenario.read(dict(given))
    scenarios = scenario.read_all(manifests.read_documents(given, source="scenario"), None)
    if len(scenarios) != 1:
        raise Rejected(
            [Problem("", f"the text holds {len(scenarios)} documents of kind Scenario; allowed is one")]
        )
    return scenarios[0]


def simulate(given: AnyScenario, *, until: str | None = None, seed: int | None = None) -> Result:
    """Plays the scenario in virtual time; equal arguments give equal results.

    `until` is a time, or "+72h" from the start; like `seed` it overrules the scenario's own. What the product refuses
    is part of the result, and so are expectations that do not hold and promises that were broken.
    """
    chosen = read_scenario(given)
    return run.simulate(chosen, None if until is None else _until(until, chosen), seed)


def explain(
    given: AnyScenario,
    target: str | None = None,
    *,
    at: str,
    workload: str | None = None,
    instance: str | None = None,
    definition: str | None = None,
    namespace: str | None = None,
) -> Explained:
    """Plays the scenario up to `at` and says why the one thing that is named has not changed yet.

    It shows the state before the decisions of its own moment, as the step `explain` does.
    """
    chosen = read_scenario(given)
    moment = _until(at, chosen)
    named = {"target": target, "workload": workload, "instance": instance, "definition": definition}
    asked = {key: value for key, value in {**named, "namespace": namespace}.items() if value is not None}
    problems: list[Problem] = []
    payload = documents.read_into(steps.ExplainStep, asked, "", problems)
    if problems:
        raise Rejected(problems)
    step = steps.Step(When(moment), "explain", payload, _PLACE)
    result = run.simulate(msgspec.structs.replace(chosen, timeline=(*chosen.timeline, step)), moment)
    for refused in result.rejected:
        if refused.step == _PLACE:
            raise Rejected(refused.errors)
    return result.explanations[-1]


def _until(text: str, chosen: Scenario) -> instants.Instant:
    try:
        return scenario.parse_until(text, chosen.start)
    except ValueError as error:
        raise Rejected([Problem("", str(error))]) from None
