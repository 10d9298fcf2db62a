"""Scenario files as stories that both worlds can play: with all that a real API server asks for, and nothing that only
one of the two knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from headgate.kernel.spans import Span
from headgate.simulate import scenario as scenarios
from headgate.simulate.scenario import Scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LEFT_ALONE = {"headgate.test/ready-after": "24h", "headgate.test/gone-after": "24h"}
"""On a pod: its node does nothing with it, the story does."""
_CONTAINER = {"name": "main", "image": "main:1"}
_AT_ONCE = Span(0)


class Story(msgspec.Struct, frozen=True):
    name: str
    document: dict[str, Any]
    """Of the scenario, complete."""
    scenario: Scenario
    priority_classes: frozenset[str]
    """Those that somebody names; pods with a class that is not there are refused."""


def load(name: str) -> Story:
    """By the file's place among the scenarios, without its ending."""
    text = (SCENARIOS / f"{name}.yaml").read_text("utf-8")
    documents = [each for each in yaml.safe_load_all(text) if scenarios.is_scenario(each)]
    assert len(documents) == 1, f"{name} holds {len(documents)} scenarios"
    return prepared(name, documents[0])


def prepared(name: str, document: dict[str, Any]) -> Story:
    """A real scheduler binds when it can, and a real garbage collector collects when it can: both take no time here."""
    _complete(document["spec"])
    found = scenarios.read(document)
    cluster = msgspec.structs.replace(found.cluster, schedule=_AT_ONCE, collect=_AT_ONCE)
    classes = frozenset(_named(document, "priorityClassName"))
    return Story(name, document, msgspec.structs.replace(found, cluster=cluster), classes)


def _complete(value: Any) -> None:
    """Every clique has pods that a server takes and a node leaves alone."""
    if isinstance(value, dict):
        for clique in value["cliques"] if isinstance(value.get("cliques"), list) else ():
            if isinstance(clique, dict):
                _complete_clique(clique)
        for each in value.values():
            _complete(each)
    elif isinstance(value, list):
        for each in value:
            _complete(each)


def _complete_clique(clique: dict[str, Any]) -> None:
    clique["annotations"] = {**(clique.get("annotations") or {}), **LEFT_ALONE}
    spec = clique["spec"] = dict(clique.get("spec") or {})
    pod = spec["podSpec"] = dict(spec.get("podSpec") or {})
    pod["containers"] = [{**_CONTAINER, **each} for each in pod.get("containers") or [{}]]


def _named(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get(key), str):
            yield value[key]
        for each in value.values():
            yield from _named(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _named(each, key)
