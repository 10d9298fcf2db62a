"""Figures for graph definitions: how long a large one takes to compile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from headgate.graph.compile import expressions, validate
from headgate.graph.compile.compiler import compile_definition

ROUNDS = 5
RESOURCES = 50


def run() -> Iterator[str]:
    item = validate.as_object(_definition())
    cold, warm = float("inf"), float("inf")
    for _ in range(ROUNDS):
        expressions.environment.cache_clear()
        cold = min(cold, _seconds(lambda: compile_definition(item)))
        warm = min(warm, _seconds(lambda: compile_definition(item)))
    graph = compile_definition(item)
    count = sum(len(node.template.found) + len(node.ready_when) for node in graph.nodes if node.template)
    yield (
        f"definition of {RESOURCES} resources with {count} fields of expressions, compiled: {cold * 1e3:.0f} ms; "
        f"again with its expressions known: {warm * 1e3:.0f} ms"
    )
    template = graph.nodes[-1].template
    assert template is not None
    bindings = {
        "schema": {"spec": {"name": "n", "image": "i", "replicas": 1}},
        f"r{RESOURCES - 2}": {"metadata": {"name": "before"}},
    }
    rendering = min(_seconds(lambda: template.render(bindings)) for _ in range(ROUNDS * 20))
    yield f"template of a Deployment with 6 expressions, rendered: {rendering * 1e6:.0f} us"


def _seconds(action: Any) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _definition() -> dict[str, Any]:
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": "large"},
        "spec": {
            "schema": {
                "apiVersion": "v1",
                "kind": "Large",
                "spec": {"name": "string", "image": "string", "replicas": "integer | default=1"},
                "status": {f"ready{n}": f"${{r{n}.status.availableReplicas}}" for n in range(RESOURCES)},
            },
            "resources": [_resource(number) for number in range(RESOURCES)],
        },
    }


def _resource(number: int) -> dict[str, Any]:
    name = f"${{schema.spec.name}}-{number}"
    return {
        "id": f"r{number}",
        "readyWhen": [f"${{r{number}.status.availableReplicas == r{number}.spec.replicas}}"],
        "template": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": name,
                "labels": {"after": f"${{r{number - 1}.metadata.name}}" if number else "nothing"},
            },
            "spec": {
                "replicas": f"${{schema.spec.replicas + {number}}}",
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "main", "image": f"${{schema.spec.image}}:v{number}"}]},
                },
            },
        },
    }
