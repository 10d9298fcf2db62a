"""From a ResourceGraphDefinition to a graph that can be run: everything that can be known of it is checked here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from headgate.graph.compile import breaking, crd, kinds, names, resources, schema, status
from headgate.graph.compile import definition as definitions
from headgate.graph.compile.checking import Checker, ExpressionSite
from headgate.graph.compile.compiled import (
    CompiledGraph,
    CompiledNode,
    CompiledReference,
    CompiledSchema,
    CompiledStatus,
    CompiledTemplate,
    Dimension,
    GateExpression,
    Projection,
)
from headgate.graph.compile.definition import Definition
from headgate.graph.compile.inference import Schema
from headgate.kernel import objects
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.problems import Problem, Rejected

__all__ = [
    "CompiledGraph",
    "CompiledNode",
    "CompiledReference",
    "CompiledSchema",
    "CompiledStatus",
    "CompiledTemplate",
    "Dimension",
    "GateExpression",
    "Projection",
    "compile_definition",
]


BUILT_IN = kinds.BuiltInKinds()
_OTHER_NAMES = frozenset({names.EACH, names.NOW, names.SIGNALS, names.RUNTIME})


def compile_definition(
    item: objects.Object,
    *,
    previous: CompiledGraph | None = None,
    source: KindSource = BUILT_IN,
    is_stored: bool = False,
) -> CompiledGraph:
    """Raises Rejected with every problem: the resource, the field, the expression and the place in it.

    `source` knows the kinds of the templates: those of the cluster that will have the objects, or the built-in ones.
    `is_stored` is for what an earlier version may have accepted: it goes on as it did.
    """
    problems: list[Problem] = []
    definition = definitions.read(item, problems)
    spec_schema = _instance_spec(definition, problems)
    variables = _variables(definition, spec_schema, source)
    checker = Checker(variables, resources.iterators_of(definition) | _OTHER_NAMES, is_stored=is_stored)
    checker.problems.extend(problems)
    graph_names = resources.check_names(definition, checker)
    drafts = resources.compile_all(definition, variables, checker, source)
    gates = _instance_gates(definition, variables, checker)
    projected = status.compile_status(definition, variables, checker)
    nodes = resources.in_order(drafts, graph_names, checker)
    given = checker.finish()
    instance_document = crd.instance_schema(spec_schema, projected.schemas(given))
    changes = _changes(definition, spec_schema, previous, checker)
    if checker.problems:
        raise Rejected(dict.fromkeys(checker.problems))
    declared = definition.spec.schema
    api_version = f"{definition.group}/{declared.api_version}"
    return CompiledGraph(
        name=definition.name,
        kind=declared.kind,
        api_version=api_version,
        plural=names.plural_of(declared.kind),
        singular=declared.kind.lower(),
        is_namespaced=definition.is_namespaced,
        schema=CompiledSchema(declared.kind, api_version, definition.is_namespaced, instance_document),
        crd=crd.document(definition, instance_document),
        nodes=nodes,
        propagate_when=gates,
        propagation_policy=definition.spec.propagation_policy or "Latest",
        status=projected.compiled,
        conditions=projected.conditions,
        content_hash=_content_hash(item.spec),
        definition=definition,
        breaking_changes=changes,
    )


def _instance_spec(definition: Definition, problems: list[Problem]) -> dict[str, Any]:
    declared = definition.spec.schema
    return schema.openapi_into(
        problems,
        declared.spec or {},
        declared.types,
        path="spec.schema.spec",
        types_path="spec.schema.types",
    )


def _variables(definition: Definition, spec: Schema, source: KindSource) -> dict[str, Schema | None]:
    """What the names of the definition stand for: `schema`, and each resource by its id."""
    metadata = dict(kinds.object_metadata())
    if not definition.is_namespaced:
        metadata["properties"] = {
            name: metadata["properties"][name] for name in metadata["properties"] if name != "namespace"
        }
    schemas: dict[str, Schema | None] = {
        names.SCHEMA: {
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": metadata,
                "spec": spec,
            },
        }
    }
    for resource in definition.spec.resources or ():
        schemas[resource.id] = resources.schema_of(resource, source)
    return schemas


def _instance_gates(
    definition: Definition, variables: Mapping[str, Schema | None], checker: Checker
) -> tuple[GateExpression, ...] | None:
    """Over the instances, by the names of the kind. Where singular and plural are one word it is the list."""
    declared = definition.spec.schema
    whole = variables[names.SCHEMA] or {}
    item: Schema = {
        "type": "object",
        "properties": {
            **whole.get("properties", {}),
            "status": None,
            "value": None,
            "index": {"type": "integer"},
        },
    }
    in_sight: dict[str, Schema | None] = {
        declared.kind.lower(): item,
        names.EACH: item,
        names.plural_of(declared.kind): {"type": "array", "items": item},
        names.NOW: None,
        names.SIGNALS: None,
    }
    site = ExpressionSite(
        "the definition's propagateWhen",
        {name: each for name, each in in_sight.items() if name not in names.LANGUAGE_WORDS},
        resources.LIFECYCLE,
    )
    return resources.compile_gates(site, definition.spec.propagate_when, "spec.propagateWhen", checker)


def _changes(
    definition: Definition, spec: Schema, previous: CompiledGraph | None, checker: Checker
) -> tuple[str, ...]:
    if previous is None:
        return ()
    declared, before = definition.spec.schema, previous.definition
    for name, now, then in (
        ("kind", declared.kind, before.spec.schema.kind),
        ("apiVersion", declared.api_version, before.spec.schema.api_version),
        ("group", definition.group, before.group),
        ("scope", declared.scope or "Namespaced", before.spec.schema.scope or "Namespaced"),
    ):
        if now != then:
            checker.refuse(f"spec.schema.{name}", f"is {now} and was {then}; it cannot be changed")
    breaking_changes = breaking.changes(previous.schema.spec, spec, "spec.schema.spec")
    if not definition.allows_breaking_changes:
        for change in breaking_changes:
            checker.refuse(
                change.path,
                f"{change.message}, which breaks instances that exist ({change.kind}); allowed with the annotation "
                f'{definitions.ALLOW_BREAKING_CHANGES}: "true"',
            )
    return tuple(f"{change.path}: {change.message} ({change.kind})" for change in breaking_changes)


_NOT_CONTENT = frozenset({"propagateWhen", "readyWhen"})


def _content_hash(spec: Mapping[str, Any]) -> str:
    """The order of resources and of conditions does not count, nor whether an empty field is written."""
    listed = [
        {
            key: value
            for key, value in resource.items()
            if key not in _NOT_CONTENT and value not in (None, [], {})
        }
        for resource in spec.get("resources") or ()
    ]
    for resource in listed:
        if "includeWhen" in resource:
            resource["includeWhen"] = sorted(resource["includeWhen"])
    content = {
        "schema": {key: value for key, value in spec["schema"].items() if value not in (None, [], {})},
        "resources": sorted(listed, key=lambda resource: str(resource["id"])),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
