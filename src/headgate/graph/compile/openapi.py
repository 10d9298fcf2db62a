"""Accepts a document by a schema: fills defaults, drops nulls, and says everything that does not fit."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Literal

from headgate import cel
from headgate.cel.library import regex
from headgate.graph.compile import inference
from headgate.graph.compile.markers import VALIDATION
from headgate.kernel.documents import describe, field_path, item_path
from headgate.kernel.problems import Problem

Schema = Mapping[str, Any]
Unknown = Literal["refuse", "prune"]
_ABSENT: Any = object()


def accept(
    document: object,
    schema: Schema,
    path: str,
    problems: list[Problem],
    *,
    old: object = _ABSENT,
    unknown: Unknown = "refuse",
) -> Any:
    """A new document. Rules between the old and the new one are judged when `old` is given."""
    return _Acceptance(problems, unknown).value(document, schema, path, old)


class _Acceptance:
    def __init__(self, problems: list[Problem], unknown: Unknown) -> None:
        self._problems = problems
        self._unknown = unknown

    def value(self, given: Any, schema: Schema, path: str, old: Any) -> Any:
        reason = inference.literal_mismatch(given, schema)
        if reason is not None:
            self._problems.append(Problem(path, reason))
            return given
        before = len(self._problems)
        match schema.get("type"):
            case "object":
                made: Any = self._object(given, schema, path, old)
            case "array":
                made = self._array(given, schema, path, old)
            case _:
                made = copy.deepcopy(given)
                self._scalar(made, schema, path)
        if len(self._problems) == before:
            self._rules(made, schema, path, old)
        return made

    def _object(self, given: Mapping[str, Any], schema: Schema, path: str, old: Any) -> dict[str, Any]:
        properties: Schema = schema.get("properties", {})
        additional = schema.get("additionalProperties")
        keeps_unknown = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        made: dict[str, Any] = {}
        for name, value in given.items():
            place = field_path(path, name)
            before = old.get(name, _ABSENT) if isinstance(old, Mapping) else _ABSENT
            if name in properties:
                if value is not None:
                    made[name] = self.value(value, properties[name], place, before)
            elif additional is not None:
                made[name] = self.value(value, additional, place, before)
            elif keeps_unknown:
                made[name] = copy.deepcopy(value)
            elif self._unknown == "refuse":
                self._problems.append(
                    Problem(place, f"is not a known field{inference.nearest(name, properties)}")
                )
        for name, child in properties.items():
            if name not in made and "default" in child and (given.get(name) is None):
                made[name] = self.value(child["default"], child, field_path(path, name), _ABSENT)
        for name in schema.get("required", ()):
            if name not in made:
                self._problems.append(Problem(field_path(path, name), "is required"))
        return made

    def _array(self, given: Any, schema: Schema, path: str, old: Any) -> list[Any]:
        items = schema.get("items", {})
        olds = _correlated(old, schema)
        made = [
            self.value(item, items, item_path(path, index), olds.get(_key(item, schema), _ABSENT))
            for index, item in enumerate(given)
        ]
        count = len(made)
        self._bound(count, schema, path, "minItems", "maxItems", "items")
        kind = schema.get("x-kubernetes-list-type")
        if kind == "set" and _has_duplicates(made):
            self._problems.append(Problem(path, "must not hold the same item twice"))
        if kind == "map" and _has_duplicates([_key(item, schema) for item in made]):
            keys = ", ".join(schema["x-kubernetes-list-map-keys"])
            self._problems.append(Problem(path, f"must not hold two items with the same {keys}"))
        return made

    def _scalar(self, value: Any, schema: Schema, path: str) -> None:
        if "enum" in schema and value not in schema["enum"]:
            allowed = ", ".join(str(choice) for choice in schema["enum"])
            self._problems.append(Problem(path, f"is {describe(value)}; allowed are {allowed}"))
        if isinstance(value, str):
            self._bound(len(value), schema, path, "minLength", "maxLength", "characters")
            pattern = schema.get("pattern")
            if pattern is not None and regex.compiled(pattern).search(value) is None:
                self._problems.append(Problem(path, f"is {describe(value)}, which does not match {pattern}"))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if "minimum" in schema and value < schema["minimum"]:
                self._problems.append(Problem(path, f"must be at least {schema['minimum']}, not {value}"))
            if "maximum" in schema and value > schema["maximum"]:
                self._problems.append(Problem(path, f"must be at most {schema['maximum']}, not {value}"))

    def _bound(self, count: int, schema: Schema, path: str, least: str, most: str, noun: str) -> None:
        if least in schema and count < schema[least]:
            self._problems.append(Problem(path, f"has {count} {noun}; needed are at least {schema[least]}"))
        if most in schema and count > schema[most]:
            self._problems.append(Problem(path, f"has {count} {noun}; allowed are at most {schema[most]}"))

    def _rules(self, value: Any, schema: Schema, path: str, old: Any) -> None:
        for rule in schema.get("x-kubernetes-validations", ()):
            program = VALIDATION.compile(rule["rule"])
            compares = "oldSelf" in program.roots
            if compares and old is _ABSENT:
                continue
            bindings = {"self": value, "oldSelf": old} if compares else {"self": value}
            try:
                holds = program.evaluate(bindings) is True
                reason = (
                    "" if holds else f"{rule['message']}: {rule['rule']} (the value is {describe(value)})"
                )
            except cel.EvaluationError as error:
                holds, reason = False, f"{rule['message']}: {rule['rule']}: {error}"
            if not holds:
                self._problems.append(Problem(path, reason))


def _correlated(old: Any, schema: Schema) -> dict[Any, Any]:
    """Items of a list are the same item over time only where a key says so."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list | tuple):
        return {}
    return {_key(item, schema): item for item in old}


def _key(item: Any, schema: Schema) -> Any:
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if not keys or not isinstance(item, Mapping):
        return _ABSENT
    return tuple(str(item.get(key)) for key in keys)


def _has_duplicates(items: list[Any]) -> bool:
    return any(item in items[:place] for place, item in enumerate(items))
