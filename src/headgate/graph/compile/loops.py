"""Definitions that make instances of each other in a ring: the first instance would bring about others without end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from headgate.graph.compile import definition
from headgate.kernel.documents import item_path
from headgate.kernel.objects import group_of
from headgate.kernel.problems import Problem


class KindName(NamedTuple):
    group: str
    kind: str


def defined_kind(spec: Mapping[str, Any]) -> KindName:
    """What a definition brings, as far as it can be read."""
    schema = spec.get("schema")
    held: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    return KindName(str(held.get("group") or definition.DEFAULT_GROUP), str(held.get("kind") or ""))


def problem_of(spec: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> Problem | None:
    """`spec` is that of a definition, `others` are those of the definitions that there are beside it."""
    start = defined_kind(spec)
    made_by = {defined_kind(other): other for other in others if defined_kind(other) != start}
    for index, made in _made_kinds(spec):
        ring = _ring(start, made, made_by)
        if ring is not None:
            chain = " makes ".join(each.kind for each in ring)
            place = f"{item_path('spec.resources', index)}.template.kind"
            return Problem(place, f"is {made.kind}; {chain}, which would never end")
    return None


def _ring(
    start: KindName, first: KindName, made_by: Mapping[KindName, Mapping[str, Any]]
) -> tuple[KindName, ...] | None:
    """The way from the start over what it makes back to the start. Each kind is gone through once."""
    ways: list[tuple[KindName, ...]] = [(start, first)]
    seen = {first}
    for way in ways:
        if way[-1] == start:
            return way
        for _, made in _made_kinds(made_by.get(way[-1], {})):
            if made == start or made not in seen:
                seen.add(made)
                ways.append((*way, made))
    return None


def _made_kinds(spec: Mapping[str, Any]) -> Iterator[tuple[int, KindName]]:
    resources = spec.get("resources")
    for index, resource in enumerate(resources if isinstance(resources, list | tuple) else ()):
        template = resource.get("template") if isinstance(resource, Mapping) else None
        if isinstance(template, Mapping):
            yield (
                index,
                KindName(group_of(str(template.get("apiVersion", ""))), str(template.get("kind", ""))),
            )
