"""Writes a scenario back as the file that repeats it."""

from typing import Any

import msgspec

from headgate.cluster.simulated.settings import Cluster
from headgate.kernel import documents, instants, yaml_text
from headgate.simulate.model import steps
from headgate.simulate.scenario import API_VERSION, KIND, Scenario


def to_document(scenario: Scenario) -> dict[str, Any]:
    """Objects that came from files are written inline, so that the file stands alone."""
    spec: dict[str, Any] = {"start": instants.show(scenario.start)}
    if scenario.until is not None:
        spec["until"] = "+" + instants.show_duration(scenario.until - scenario.start)
    spec["seed"] = scenario.seed
    spec["objects"] = [source.document for source in scenario.objects]
    if scenario.agents:
        spec["agents"] = [documents.write(entry) for entry in scenario.agents]
    if scenario.cluster != Cluster():
        spec["cluster"] = documents.write(scenario.cluster)
    spec["timeline"] = [_step(step) for step in scenario.timeline]
    if scenario.expect:
        spec["expect"] = [documents.write(expectation) for expectation in scenario.expect]
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": scenario.name}, "spec": spec}


def to_yaml(scenario: Scenario) -> str:
    return yaml_text.write([to_document(scenario)])


def _step(step: steps.Step) -> dict[str, Any]:
    payload = step.payload
    if isinstance(payload, msgspec.Struct):
        payload = documents.write(payload)
    return {"at": step.at.to_document(), step.kind: payload}
