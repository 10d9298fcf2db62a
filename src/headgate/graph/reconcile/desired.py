"""What a node of a graph wants to be at one revision: nothing, one object, or one for each combination of forEach."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from headgate import cel
from headgate.graph.compile import expressions, names
from headgate.graph.compile.compiled import CompiledGraph, CompiledNode
from headgate.graph.reconcile import cluster_view, contents
from headgate.kernel.objects import Key, Object, group_of

MOST_ITEMS = 10_000
"""Of one collection."""

State = Literal["resolved", "excluded", "waiting", "failed"]


class DesiredItem(msgspec.Struct, frozen=True, eq=False):
    key: Key
    text: str
    """The key as it is written into revisions."""
    content: contents.Content
    hash: str
    value: object
    """The forEach input; for several dimensions a map by their names."""
    index: int


class Resolved(msgspec.Struct, frozen=True):
    """`waiting` for data that is not there yet; `failed` will not come right by waiting."""

    state: State
    wanted: tuple[DesiredItem, ...] = ()
    reason: str = ""
    digest: str = ""
    is_in_line: bool = False
    """It waits for the nodes that it depends on, and not for data of theirs."""


EXCLUDED = Resolved("excluded")


def resolve(
    node: CompiledNode, bindings: Mapping[str, object], namespace: str, is_namespaced_graph: bool
) -> Resolved:
    """The objects of the node, rendered. `bindings` holds `schema` and what the node depends on."""
    try:
        wanted = tuple(_rendered(node, bindings, namespace if is_namespaced_graph else ""))
    except cel.MissingKey as error:
        return Resolved("waiting", reason=f"waits for data that is unresolved: {error.message}")
    except cel.EvaluationError as error:
        return Resolved("failed", reason=error.message)
    twice = _duplicate(wanted)
    if twice is not None:
        return Resolved("failed", reason=f"two items are {contents.key_text(twice)}")
    digest = contents.content_hash([[each.text, each.hash] for each in wanted])
    return Resolved("resolved", wanted, digest=digest)


def places(
    node: CompiledNode, bindings: Mapping[str, object], namespace: str, is_namespaced_graph: bool
) -> frozenset[Key] | None:
    """The objects that the node wants, whatever they will hold; None if that cannot be told yet."""
    template = node.template
    if template is None:
        return frozenset()
    own = namespace if is_namespaced_graph else ""
    try:
        return frozenset(
            contents.key_of(_placed(node, template.render_place(bound), own))
            for bound, _, _ in _combinations(node, bindings)
        )
    except cel.EvaluationError:
        return None


def _rendered(node: CompiledNode, bindings: Mapping[str, object], namespace: str) -> Iterator[DesiredItem]:
    template = node.template
    if template is None:
        return
    for bound, value, index in _combinations(node, bindings):
        content = _placed(node, template.render(bound), namespace)
        key = contents.key_of(content)
        yield DesiredItem(key, contents.key_text(key), content, contents.content_hash(content), value, index)


def _combinations(
    node: CompiledNode, bindings: Mapping[str, object]
) -> Iterator[tuple[Mapping[str, object], object, int]]:
    """One for each item: what its expressions see, its forEach value, and its index."""
    if not node.for_each:
        yield bindings, None, 0
        return
    dimensions = [dimension.values(bindings) for dimension in node.for_each]
    count = 1
    for values in dimensions:
        count *= len(values)
    if count > MOST_ITEMS:
        raise cel.EvaluationError(f"forEach gives {count} items; allowed are at most {MOST_ITEMS}")
    iterators = [dimension.name for dimension in node.for_each]
    own = dict(bindings)
    for index, combination in enumerate(itertools.product(*dimensions)):
        own.update(zip(iterators, combination))
        value = combination[0] if len(iterators) == 1 else dict(zip(iterators, combination))
        yield own, value, index


def _placed(node: CompiledNode, document: dict[str, Any], namespace: str) -> contents.Content:
    """The content of an object, in the namespace that it belongs into."""
    content = {key: part for key, part in document.items() if key != "status"}
    metadata = content["metadata"]
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        raise cel.EvaluationError(f"metadata.name: is {name!r}; a name is needed")
    kept = {
        key: part for key, part in metadata.items() if key in ("name", "namespace", "labels", "annotations")
    }
    if node.is_namespaced:
        if not kept.get("namespace"):
            if namespace or node.known_kind is None:
                kept["namespace"] = namespace
            else:
                raise cel.EvaluationError(
                    "metadata.namespace: is empty, and the instance has none to take over"
                )
    else:
        kept.pop("namespace", None)
    content["metadata"] = kept
    return content


def _duplicate(wanted: tuple[DesiredItem, ...]) -> Key | None:
    seen: set[Key] = set()
    for each in wanted:
        if each.key in seen:
            return each.key
        seen.add(each.key)
    return None


class External(msgspec.Struct, frozen=True):
    """What an external reference finds: its objects, or why it cannot be looked for."""

    objects: tuple[Object, ...] = ()
    reason: str = ""


def external(
    node: CompiledNode, bindings: Mapping[str, object], namespace: str, view: cluster_view.ClusterView
) -> External:
    reference = node.external_ref
    assert reference is not None
    try:
        metadata = reference.metadata.render(bindings)
    except cel.EvaluationError as error:
        return External(reason=f"waits for data that is unresolved: {error.message}")
    group = group_of(reference.api_version)
    if reference.by_selector:
        place = str(metadata.get("namespace") or "")
        objects = cluster_view.selected(view, group, reference.kind, place, metadata.get("selector") or {})
        return External(tuple(objects))
    place = str(metadata.get("namespace") or namespace) if node.is_namespaced else ""
    item = view.get(Key(group, reference.kind, place, str(metadata.get("name"))))
    if item is None or item.deleted_at is not None:
        return External(reason=f"{reference.kind} {metadata.get('name')} does not exist")
    return External((item,))


Paths = frozenset[tuple[str, ...]]


def content_paths(graph: CompiledGraph) -> Paths:
    """Every field path that goes into objects, so that only what is read of external data is an input."""
    paths: set[tuple[str, ...]] = set()
    ids = frozenset(node.id for node in graph.nodes)
    for node in graph.nodes:
        in_sight = ids | {names.SCHEMA} | {dimension.name for dimension in node.for_each}
        texts = [part.text for part in _parts(node)]
        for text in texts:
            paths |= expressions.compile_in(in_sight, text).paths
        for dimension in node.for_each:
            paths |= dimension.program.paths
        for gate in node.include_when:
            paths |= gate.program.paths
    return frozenset(paths)


def _parts(node: CompiledNode) -> Iterator[Any]:
    reference = node.external_ref
    for compiled in (node.template, reference.metadata if reference is not None else None):
        for expression in compiled.found if compiled is not None else ():
            yield from (part for part in expression.parts if part.is_expression)


_BOOKKEEPING = ("resourceVersion", "generation", "uid", "managedFields", "creationTimestamp")


def projected(name: str, document: dict[str, Any], paths: Paths) -> dict[str, Any]:
    """Of the document, the fields that are read; all but bookkeeping where it is read whole."""
    own = [path[1:] for path in paths if path[0] == name]
    if any(not path for path in own):
        return without_bookkeeping(document)
    result: dict[str, Any] = {}
    for path in sorted(own):
        _take(document, path, result)
    return result


def without_bookkeeping(document: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in document["metadata"].items() if key not in _BOOKKEEPING}
    return {**document, "metadata": metadata}


def _take(source: Any, path: tuple[str, ...], result: dict[str, Any]) -> None:
    for depth, name in enumerate(path):
        if not isinstance(source, dict) or name not in source:
            return
        if depth == len(path) - 1 or not isinstance(source[name], dict):
            result[name] = source[name]
            return
        if result.get(name) is source[name]:
            return
        source, result = source[name], result.setdefault(name, {})
