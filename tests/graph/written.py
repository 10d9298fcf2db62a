"""Definitions as tests write them: the parts that matter, in YAML."""

from typing import Any

import yaml

from headgate.graph.compile import validate
from headgate.graph.compile.compiler import CompiledGraph, compile_definition
from headgate.kernel.problems import Problem, Rejected


def document(text: str, *, annotations: dict[str, str] | None = None, name: str = "app") -> dict[str, Any]:
    """A definition of kind App from its spec; what the spec does not say is filled in."""
    spec = yaml.safe_load(text) or {}
    schema = {"apiVersion": "v1alpha1", "kind": "App", **(spec.pop("schema", None) or {})}
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"schema": schema, "resources": [], **spec},
    }


def compiled(
    text: str, *, previous: CompiledGraph | None = None, annotations: dict[str, str] | None = None
) -> CompiledGraph:
    return compile_definition(validate.as_object(document(text, annotations=annotations)), previous=previous)


def problems_of(text: str, **given: Any) -> list[Problem]:
    try:
        compiled(text, **given)
    except Rejected as rejected:
        return list(rejected.problems)
    return []


def only_problem(text: str, **given: Any) -> Problem:
    (problem,) = problems_of(text, **given)
    return problem


CONFIG_MAP = "apiVersion: v1, kind: ConfigMap"


def config_map(name: str, **data: str) -> str:
    """A ConfigMap template in one line of YAML."""
    entries = ", ".join(f"{key}: '{value}'" for key, value in data.items())
    return f"{{{CONFIG_MAP}, metadata: {{name: '{name}'}}, data: {{{entries}}}}}"
