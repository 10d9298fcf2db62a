"""A definition once it is compiled: what the run-time side works with. Nothing here changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from headgate import cel
from headgate.cel.interpolation import InterpolatedPart
from headgate.graph.compile import openapi, templates
from headgate.graph.compile.definition import Definition
from headgate.graph.compile.expressions import GateExpression, Projection
from headgate.graph.compile.libraries import omission
from headgate.graph.compile.names import EACH, NOW, SIGNALS
from headgate.graph.compile.templates import CompiledTemplate, FoundExpression
from headgate.kernel import documents
from headgate.kernel.object_kinds import ObjectKind
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
]


class Dimension(msgspec.Struct, frozen=True, eq=False):
    """One iterator of a forEach, and the list it goes over."""

    name: str
    text: str
    program: cel.Program

    def values(self, bindings: Mapping[str, object]) -> list[Any]:
        """Raises EvaluationError, also when the value is no list."""
        value = self.program.evaluate(bindings)
        if isinstance(value, cel.Optional) and value.present:
            value = value.content
        if isinstance(value, list | tuple):
            return list(value)
        raise cel.EvaluationError(f"forEach of {self.name}: {self.text} must give a list")


class CompiledReference(msgspec.Struct, frozen=True, eq=False):
    """Objects that others own and the graph reads: one by name, or all that a selector finds."""

    api_version: str
    kind: str
    metadata: CompiledTemplate
    """Renders `name` and `namespace`, or `selector` and `namespace`."""
    by_selector: bool


class CompiledNode(msgspec.Struct, frozen=True, eq=False):
    id: str
    index: int
    """The author's position."""
    api_version: str
    kind: str
    known_kind: ObjectKind | None
    """None for a kind whose schema is not known."""
    is_namespaced: bool
    template: CompiledTemplate | None
    external_ref: CompiledReference | None
    for_each: tuple[Dimension, ...]
    include_when: tuple[GateExpression, ...]
    ready_when: tuple[GateExpression, ...]
    propagate_when: tuple[GateExpression, ...] | None
    """None: the default, which for collections is exponential waves and for single resources nothing."""
    depends_on: frozenset[str]
    """What template, external reference, forEach and includeWhen read."""
    gate_reads: frozenset[str]
    """Other resources that propagateWhen reads."""
    layer: int
    """From 1; what is in a higher one is deleted before what is in a lower one."""

    @property
    def is_collection(self) -> bool:
        return bool(self.for_each)

    @property
    def is_list(self) -> bool:
        """Whether its name stands for a list: a collection, or all objects that a selector finds."""
        return self.is_collection or (self.external_ref is not None and self.external_ref.by_selector)

    @property
    def edges(self) -> frozenset[str]:
        return self.depends_on | self.gate_reads

    @property
    def has_observed_generation(self) -> bool:
        return self.known_kind is not None and self.known_kind.has_observed_generation


class CompiledStatus:
    """The fields of an instance's status that the author computes."""

    __slots__ = ("_programs", "document", "found")

    def __init__(
        self,
        document: dict[str, Any],
        found_expressions: tuple[FoundExpression, ...],
        programs: Mapping[tuple[str, int], cel.Program],
    ) -> None:
        self.document = document
        self.found = found_expressions
        self._programs = programs

    def project(
        self, bindings: Mapping[str, object]
    ) -> tuple[dict[str, Any], tuple[templates.FieldError, ...]]:
        """What can be computed now, and why the rest cannot; fields of the rest are left out."""
        errors: list[templates.FieldError] = []
        values = {expression.keys: self._value(expression, bindings, errors) for expression in self.found}
        projected = _assembled(self.document, (), values)
        return (projected if isinstance(projected, dict) else {}), tuple(errors)

    def _value(
        self, expression: FoundExpression, bindings: Mapping[str, object], errors: list[templates.FieldError]
    ) -> object:
        try:
            return templates.filled(expression, self._program, bindings)
        except templates.FieldError as error:
            errors.append(error)
            return omission.OMITTED

    def _program(self, expression: FoundExpression, part: InterpolatedPart) -> cel.Program:
        return self._programs[expression.path, part.position]


def _assembled(
    value: object, keys: tuple[str | int, ...], values: Mapping[tuple[str | int, ...], object]
) -> object:
    if keys in values:
        return values[keys]
    if isinstance(value, dict):
        members = {key: _assembled(item, (*keys, str(key)), values) for key, item in value.items()}
        kept = {key: item for key, item in members.items() if item is not omission.OMITTED}
        return kept if kept or not members else omission.OMITTED
    if isinstance(value, list):
        items = [_assembled(item, (*keys, index), values) for index, item in enumerate(value)]
        present = [item for item in items if item is not omission.OMITTED]
        return present if present or not items else omission.OMITTED
    return value


class CompiledSchema(msgspec.Struct, frozen=True, eq=False):
    """What instances look like: validates them and fills their defaults."""

    kind: str
    api_version: str
    is_namespaced: bool
    document: dict[str, Any]
    """OpenAPI."""

    @property
    def spec(self) -> dict[str, Any]:
        return self.document["properties"]["spec"]  # type: ignore[no-any-return]

    def accept(
        self,
        instance: Mapping[str, Any],
        *,
        old: Mapping[str, Any] | None = None,
        unknown: openapi.Unknown = "refuse",
    ) -> dict[str, Any]:
        """The document with defaults, its status untouched; raises Rejected with everything that does not fit.

        With `old`, what the instance was, rules about changes are judged too. Fields that the schema does not know
        are refused, or with `unknown="prune"` dropped, which is right for instances that older schemas accepted.
        """
        problems: list[Problem] = []
        if instance.get("kind", self.kind) != self.kind:
            problems.append(Problem("kind", f"is {instance.get('kind')!r}; allowed is {self.kind}"))
        if instance.get("apiVersion", self.api_version) != self.api_version:
            message = f"is {instance.get('apiVersion')!r}; allowed is {self.api_version}"
            problems.append(Problem("apiVersion", message))
        allowed = ("apiVersion", "kind", "metadata", "spec", "status")
        problems.extend(Problem(key, "is not a known field") for key in instance if key not in allowed)
        accepted = dict(instance)
        given = instance.get("spec")
        if given is None:
            given = self.spec.get("default", {})
        documents.check_json(given, "spec", problems)
        if problems:
            raise Rejected(problems)
        before = {"old": old.get("spec") or {}} if old is not None else {}
        spec: Any = openapi.accept(given, self.spec, "spec", problems, unknown=unknown, **before)
        if problems:
            raise Rejected(problems)
        accepted["spec"] = spec
        return accepted


class CompiledGraph(msgspec.Struct, frozen=True, eq=False):
    name: str
    kind: str
    api_version: str
    """Of instances, with the group."""
    plural: str
    singular: str
    is_namespaced: bool
    schema: CompiledSchema
    crd: dict[str, Any]
    nodes: tuple[CompiledNode, ...]
    """Dependencies first, by author's position where nothing else decides."""
    propagate_when: tuple[GateExpression, ...] | None
    """Over instances. None: the default, exponential waves."""
    propagation_policy: Literal["Latest", "Concurrent"]
    status: CompiledStatus
    conditions: tuple[Projection, ...] | None
    """The author's own conditions, or None where there are none and the built-in ones are shown."""
    content_hash: str
    """Of everything that objects are made from: gates, readyWhen and the policy do not count."""
    definition: Definition
    breaking_changes: tuple[str, ...] = ()
    """What the previous version had and this one takes away, if that was allowed."""

    @property
    def topological_order(self) -> tuple[str, ...]:
        return tuple(node.id for node in self.nodes)

    @property
    def item_names(self) -> frozenset[str]:
        """What the current instance is called in gates over instances; a word that is also the plural is the list."""
        return frozenset({self.singular, EACH}) - {self.plural, NOW, SIGNALS}

    def node(self, identifier: str) -> CompiledNode:
        return next(node for node in self.nodes if node.id == identifier)
