"""Checks documents of the graph level without applying them: definitions, and instances of those beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headgate.graph.compile import definition, loops
from headgate.graph.compile.compiler import BUILT_IN, CompiledGraph, compile_definition
from headgate.kernel import objects
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.problems import Problem, Rejected


def is_definition(document: object) -> bool:
    return (
        isinstance(document, Mapping)
        and document.get("kind") == definition.KIND
        and str(document.get("apiVersion", "")).startswith("kro.run/")
    )


def check(documents: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Every problem of the definitions among the documents, and of the instances of those that are right.

    A problem's path starts with the kind and name of its document.
    """
    given = [document for document in documents if isinstance(document, Mapping)]
    problems: list[Problem] = []
    compiled: dict[tuple[str, str], CompiledGraph] = {}
    specs = [document["spec"] for document in given if is_definition(document) and _has_spec(document)]
    for document in given:
        if is_definition(document):
            graph = _compiled(document, problems, specs)
            if graph is None:
                continue
            key = (graph.api_version, graph.kind)
            if key in compiled:
                message = f"defines {graph.kind} of {graph.api_version}, as {compiled[key].name} does already"
                problems.append(Problem(place(document), message))
            compiled.setdefault(key, graph)
    for document in given:
        known_graph = compiled.get((str(document.get("apiVersion")), str(document.get("kind"))))
        if known_graph is not None and not is_definition(document):
            _check_instance(document, known_graph, problems)
    # A refusal makes sure that whatever a problem quotes can be printed.
    return list(Rejected(problems).problems)


def _compiled(
    document: Mapping[str, Any], problems: list[Problem], specs: Sequence[Mapping[str, Any]]
) -> CompiledGraph | None:
    try:
        return compile_document(document, others=specs)
    except Rejected as rejected:
        problems.extend(
            Problem(f"{place(document)}: {each.path}", each.message) for each in rejected.problems
        )
        return None


def compile_document(
    document: Mapping[str, Any],
    *,
    previous: CompiledGraph | None = None,
    others: Iterable[Mapping[str, Any]] = (),
    source: KindSource = BUILT_IN,
) -> CompiledGraph:
    """One definition as it is written. `previous` is what it was, `others` are the specs of those beside it, `source`
    knows the kinds of its templates.

    Raises Rejected with every problem.
    """
    if document.get("apiVersion") != definition.API_VERSION:
        message = f"is {document.get('apiVersion')!r}; allowed is {definition.API_VERSION}"
        raise Rejected([Problem("apiVersion", message)])
    problems: list[Problem] = []
    if not _has_spec(document):
        problems.append(Problem("spec", "is required and must be a map"))
    metadata = document.get("metadata")
    for key in ("labels", "annotations"):
        held = metadata.get(key) if isinstance(metadata, Mapping) else None
        if held is not None and not _is_map_of_texts(held):
            problems.append(Problem(f"metadata.{key}", "must be a map of strings to strings"))
    if problems:
        raise Rejected(problems)
    graph = compile_definition(as_object(document), previous=previous, source=source)
    ring = loops.problem_of(document["spec"], others)
    if ring is not None:
        raise Rejected([ring])
    return graph


def _has_spec(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("spec"), dict)


def _is_map_of_texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(text, str) for key, text in value.items()
    )


def _check_instance(document: Mapping[str, Any], graph: CompiledGraph, problems: list[Problem]) -> None:
    try:
        graph.schema.accept(document)
    except Rejected as rejected:
        problems.extend(
            Problem(f"{place(document)}: {each.path}", each.message) for each in rejected.problems
        )


def place(document: Mapping[str, Any]) -> str:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{document.get('kind')} {name}" if name else str(document.get("kind"))


def as_object(document: Mapping[str, Any]) -> objects.Object:
    """A document as an object, as far as a definition needs it."""
    metadata = document.get("metadata")
    held: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    return objects.Object(
        api_version=str(document.get("apiVersion", "")),
        kind=str(document.get("kind", "")),
        namespace=str(held.get("namespace", "")),
        name=str(held.get("name", "")),
        uid=str(held.get("uid", "")),
        labels=_texts(held.get("labels")),
        annotations=_texts(held.get("annotations")),
        spec=dict(document.get("spec") or {}),
    )


def _texts(value: object) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, Mapping) else {}
