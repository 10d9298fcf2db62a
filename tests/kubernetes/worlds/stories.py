"""Scenario files as stories that both worlds can play: with all that a real API server asks for, and nothing that only
one of the two knows."""

from __future__ import annotations

import uuid
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
GROUP = "example.com"
"""Of the kinds that scenarios make up."""
DEFINITION = "ResourceGraphDefinition"
_CONTAINER = {"name": "main", "image": "main:1"}
_AT_ONCE = Span(0)


class Story(msgspec.Struct, frozen=True):
    name: str
    document: dict[str, Any]
    """Of the scenario, complete."""
    scenario: Scenario
    mark: str
    """In the group and in the name of everything that is defined for a whole cluster."""
    kinds: tuple[tuple[str, str], ...]
    """apiVersion and kind of what its graphs speak of, their instances among them."""
    unknown_kinds: tuple[tuple[str, str], ...]
    """Those of them that nobody has defined."""
    priority_classes: frozenset[str]
    """Those that somebody names; pods with a class that is not there are refused."""
    device_classes: frozenset[str]
    """Those of which somebody claims devices; pods that get none are not bound."""
    is_cluster_scoped: bool
    """Whether it is of instances without a namespace: then all of its objects have the mark in their names."""


def load(name: str) -> Story:
    """By the file's place among the scenarios, without its ending."""
    text = (SCENARIOS / f"{name}.yaml").read_text("utf-8")
    documents = [each for each in yaml.safe_load_all(text) if scenarios.is_scenario(each)]
    assert len(documents) == 1, f"{name} holds {len(documents)} scenarios"
    return prepared(name, marked(documents[0], f"w{uuid.uuid4().hex[:8]}"))


def marked(document: dict[str, Any], mark: str) -> dict[str, Any]:
    """Its own groups and names of definitions, so that several stories have room in one cluster."""
    text = msgspec.json.encode(document).decode().replace(GROUP, f"{mark}.{GROUP}")
    document = msgspec.json.decode(text)
    document["metadata"]["mark"] = mark
    for each in _maps(document):
        if each.get("kind") == DEFINITION and "metadata" in each:
            each["metadata"]["name"] = f"{each['metadata']['name']}-{mark}"
        elif each.get("kind") == DEFINITION and "name" in each:
            each["name"] = f"{each['name']}-{mark}"
        elif isinstance(each.get("explain"), dict) and "definition" in each["explain"]:
            each["explain"]["definition"] += f"-{mark}"
    return document


def prepared(name: str, document: dict[str, Any]) -> Story:
    """A real scheduler knows no gangs and binds when it can, a real garbage collector collects when it can: both take no
    time here."""
    mark = document["metadata"]["mark"]
    _complete(document["spec"])
    read = {**document, "metadata": {"name": document["metadata"]["name"]}}
    found = scenarios.read(read)
    cluster = msgspec.structs.replace(found.cluster, schedule=_AT_ONCE, collect=_AT_ONCE, binds="pods")
    own, spoken_of = _kinds(document)
    return Story(
        name,
        document,
        msgspec.structs.replace(found, cluster=cluster),
        mark,
        tuple(sorted(own | spoken_of)),
        tuple(sorted(each for each in spoken_of - own if mark in each[0])),
        _texts(document, "priorityClassName"),
        _texts(document, "deviceClassName"),
        "Cluster" in _texts(document, "scope"),
    )


def _texts(document: dict[str, Any], key: str) -> frozenset[str]:
    return frozenset(each[key] for each in _maps(document) if isinstance(each.get(key), str))


def _kinds(document: dict[str, Any]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """What the definitions bring, and what they speak of."""
    own, spoken_of = set[tuple[str, str]](), set[tuple[str, str]]()
    for each in _maps(document):
        schema, resources = each.get("schema"), each.get("resources")
        if isinstance(schema, dict) and "kind" in schema and "apiVersion" in schema:
            own.add((f"{schema.get('group', 'kro.run')}/{schema['apiVersion']}", schema["kind"]))
        for resource in resources if isinstance(resources, list) else ():
            if not isinstance(resource, dict):
                continue  # A rule of a ClusterRole names its resources.
            for part in (resource.get("template"), resource.get("externalRef")):
                if isinstance(part, dict) and "kind" in part:
                    spoken_of.add((part["apiVersion"], part["kind"]))
    return own, spoken_of


def _maps(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _maps(each)


def _complete(spec: dict[str, Any]) -> None:
    """Every clique has pods that a server takes and a node leaves alone."""
    for each in _maps(spec):
        for clique in each["cliques"] if isinstance(each.get("cliques"), list) else ():
            if isinstance(clique, dict):
                _complete_clique(clique)


def _complete_clique(clique: dict[str, Any]) -> None:
    clique["annotations"] = {**(clique.get("annotations") or {}), **LEFT_ALONE}
    spec = clique["spec"] = dict(clique.get("spec") or {})
    pod = spec["podSpec"] = dict(spec.get("podSpec") or {})
    pod["containers"] = [{**_CONTAINER, **each} for each in pod.get("containers") or [{}]]


def made_up_kind(api_version: str, kind: str) -> dict[str, Any]:
    """For a real API server, to which a kind that nobody has defined is none."""
    group, _, version = api_version.partition("/")
    plural = f"{kind.lower()}s"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }
