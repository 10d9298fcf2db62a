"""The status that an author computes for instances: fields, and conditions of the author's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate import cel
from headgate.cel import waves
from headgate.cel.interpolation import InterpolatedPart, single_expression
from headgate.graph.compile import expressions, names, templates
from headgate.graph.compile.checking import Checker, ExpressionSite, Written
from headgate.graph.compile.compiled import CompiledStatus
from headgate.graph.compile.definition import Definition
from headgate.graph.compile.expressions import Projection
from headgate.graph.compile.inference import Schema
from headgate.graph.compile.libraries import conditions as libraries
from headgate.graph.compile.templates import FoundExpression
from headgate.kernel.documents import describe, field_path, item_path

_PATH = "spec.schema.status"
_ANYTHING: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
_LABEL = "status"


class ProjectedStatus(msgspec.Struct, frozen=True, eq=False):
    compiled: CompiledStatus
    conditions: tuple[Projection, ...] | None

    def schemas(self, given: Mapping[tuple[str, int], Schema | None]) -> dict[str, Any]:
        """The schema of each field, by what its expression gives."""
        by_keys = {
            expression.keys: _published(given.get((expression.path, expression.parts[0].position)))
            if expression.is_standalone
            else {"type": "string"}
            for expression in self.compiled.found
        }
        return {key: _schema(item, (key,), by_keys) for key, item in self.compiled.document.items()}


def _schema(
    value: object, keys: tuple[str | int, ...], by_keys: Mapping[Any, dict[str, Any]]
) -> dict[str, Any]:
    if keys in by_keys:
        return by_keys[keys]
    if isinstance(value, dict):
        properties = {key: _schema(item, (*keys, str(key)), by_keys) for key, item in value.items()}
        return {"type": "object", "properties": properties}
    if isinstance(value, list) and value:
        return {"type": "array", "items": _schema(value[0], (*keys, 0), by_keys)}
    return dict(_ANYTHING)


def _published(schema: Schema | None, depth: int = 0) -> dict[str, Any]:
    """A schema as it is written in a CRD: without bounds and defaults, and open where nothing is known."""
    if schema is None or "type" not in schema or depth > 8 or schema["type"] == "bytes":
        return dict(_ANYTHING)
    made: dict[str, Any] = {"type": schema["type"]}
    if "format" in schema:
        made["format"] = schema["format"]
    match schema["type"]:
        case "array":
            made["items"] = _published(schema.get("items"), depth + 1)
        case "object" if "properties" in schema:
            made["properties"] = {
                key: _published(schema["properties"][key], depth + 1) for key in schema["properties"]
            }
        case "object" if schema.get("additionalProperties") is not None:
            made["additionalProperties"] = _published(schema["additionalProperties"], depth + 1)
        case "object":
            made["x-kubernetes-preserve-unknown-fields"] = True
    return made


def compile_status(
    definition: Definition, variables: Mapping[str, Schema | None], checker: Checker
) -> ProjectedStatus:
    document = dict(definition.spec.schema.status or {})
    written = document.pop("conditions", None)
    site = ExpressionSite(_LABEL, variables, waves.LIFECYCLE)
    _refuse_constants(document, _PATH, checker)
    programs: dict[tuple[str, int], cel.Program] = {}
    found_all: list[FoundExpression] = []
    for expression in templates.found_in(document, _PATH):
        if not isinstance(expression, FoundExpression):
            where, error, text = expression
            checker.point(
                site, Written(where, text, InterpolatedPart(text, True, 0)), error.position, str(error)
            )
            continue
        found_all.append(expression)
        _compile(expression, site, programs, checker)
    compiled = CompiledStatus(document, tuple(found_all), programs)
    return ProjectedStatus(compiled, _conditions(written, variables, checker))


def _refuse_constants(value: object, path: str, checker: Checker) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_constants(item, field_path(path, str(key)), checker)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_constants(item, item_path(path, index), checker)
    elif not isinstance(value, str) or not any(templates.found_in(value)):
        checker.refuse(path, f"is {describe(value)}; a field of the status needs an expression in ${{}}")


def _compile(
    expression: FoundExpression,
    site: ExpressionSite,
    programs: dict[tuple[str, int], cel.Program],
    checker: Checker,
) -> None:
    reads: set[str] = set()
    target: Schema | None = None if expression.is_standalone else {"type": "string"}
    for part in expression.parts:
        if part.is_expression:
            compiled = checker.compile(site, Written(expression.path, expression.text, part), target)
            if compiled is None:
                return
            programs[expression.path, part.position] = compiled[0]
            reads |= compiled[0].roots
    if not reads:
        checker.refuse(
            expression.path, f"is {describe(expression.text)}, which reads neither a resource nor the schema"
        )


def _conditions(
    written: object, variables: Mapping[str, Schema | None], checker: Checker
) -> tuple[Projection, ...] | None:
    if written is None:
        return None
    path = f"{_PATH}.conditions"
    if not isinstance(written, list):
        checker.refuse(path, f"must be a list of conditions, not {describe(written)}")
        return None
    in_sight = {**variables, names.RUNTIME: None, names.SCHEMA: None}
    site = ExpressionSite("status.conditions", in_sight, waves.LIFECYCLE | {"newCondition"})
    projections = [
        projection
        for index, text in enumerate(written)
        if (projection := _condition(text, item_path(path, index), site, checker)) is not None
    ]
    seen: set[str] = set()
    for index, projection in enumerate(projections):
        if projection.type is not None and projection.type in seen:
            checker.refuse(item_path(path, index), f"the condition {projection.type!r} is there twice")
        seen.add(projection.type or "")
    return tuple(projections)


def _condition(text: object, path: str, site: ExpressionSite, checker: Checker) -> Projection | None:
    if not isinstance(text, str):
        checker.refuse(
            path, f"must be an expression such as ${{runtime.newCondition({{...}})}}, not {describe(text)}"
        )
        return None
    try:
        part = single_expression(text)
    except ValueError as error:
        checker.refuse(path, str(error))
        return None
    written = Written(path, text, part)
    compiled = checker.compile(site, written, None, source=libraries.with_quoted_keys(part.text))
    if compiled is None:
        return None
    program = compiled[0]
    if "newCondition" not in program.functions:
        checker.point(site, written, 0, "gives no condition; write it with runtime.newCondition({...})")
        return None
    return Projection(text, program, expressions.constant_condition_type(program))
