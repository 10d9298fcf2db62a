"""The resources of a definition: their names, their expressions, and the edges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate import cel
from headgate.cel import syntax, waves
from headgate.cel.interpolation import InterpolatedPart, InterpolationError, single_expression
from headgate.graph.compile import bodies, dag, expressions, names, selectors
from headgate.graph.compile.checking import Checker, ExpressionSite, Written
from headgate.graph.compile.compiled import CompiledNode, CompiledReference, Dimension
from headgate.graph.compile.definition import Definition, GraphResource
from headgate.graph.compile.expressions import GateExpression
from headgate.graph.compile.inference import Schema
from headgate.graph.compile.templates import CompiledTemplate
from headgate.kernel.documents import field_path, item_path
from headgate.kernel.object_kinds import KindSource, ObjectKind

MOST_DIMENSIONS = 10
LIFECYCLE = waves.LIFECYCLE

_CONTENT = "it reads the state of the rollout, which must not flow into what is rolled out"
_READINESS = "readyWhen is what ready() asks for, so it would ask itself"


def resource_path(index: int) -> str:
    return item_path("spec.resources", index)


def check_names(definition: Definition, checker: Checker) -> list[str]:
    """Ids in the author's order, each once."""
    indices: dict[str, int] = {}
    for index, resource in enumerate(definition.spec.resources or ()):
        path = f"{resource_path(index)}.id"
        problem = names.id_problem(resource.id)
        if problem is not None:
            checker.refuse(path, problem)
        if resource.id in indices:
            first = f"{resource_path(indices[resource.id])}.id"
            checker.refuse(path, f"{resource.id!r} is the id of another resource already, at {first}")
        indices.setdefault(resource.id, index)
    return list(indices)


def iterators_of(definition: Definition) -> frozenset[str]:
    return frozenset(
        name
        for resource in definition.spec.resources or ()
        for entry in resource.for_each or ()
        for name in entry
    )


def schema_of(resource: GraphResource, source: KindSource) -> Schema | None:
    """What the id of a resource stands for: an object, or a list of objects."""
    kind = _kind(resource, source)
    schema = kind.schema if kind is not None else None
    is_list = bool(resource.for_each) or _by_selector(resource)
    return {"type": "array", "items": schema} if is_list else schema


def _kind(resource: GraphResource, source: KindSource) -> ObjectKind | None:
    if resource.external_ref is not None:
        return source.find(resource.external_ref.api_version, resource.external_ref.kind)
    template = resource.template or {}
    return source.find(str(template.get("apiVersion")), str(template.get("kind")))


def _by_selector(resource: GraphResource) -> bool:
    return resource.external_ref is not None and resource.external_ref.metadata.selector is not None


class Draft(msgspec.Struct, eq=False):
    """A resource with what could be compiled of it, and what it reads."""

    resource: GraphResource
    index: int
    path: str
    kind: ObjectKind | None
    template: CompiledTemplate | None = None
    external_ref: CompiledReference | None = None
    for_each: tuple[Dimension, ...] = ()
    include_when: tuple[GateExpression, ...] = ()
    ready_when: tuple[GateExpression, ...] = ()
    propagate_when: tuple[GateExpression, ...] | None = None
    content_reads: set[str] = msgspec.field(default_factory=set)
    gate_reads: set[str] = msgspec.field(default_factory=set)


def compile_all(
    definition: Definition,
    variables: Mapping[str, Schema | None],
    checker: Checker,
    source: KindSource,
) -> list[Draft]:
    return [
        _compile(definition, index, resource, variables, checker, source)
        for index, resource in enumerate(definition.spec.resources or ())
    ]


def _compile(
    definition: Definition,
    index: int,
    resource: GraphResource,
    variables: Mapping[str, Schema | None],
    checker: Checker,
    source: KindSource,
) -> Draft:
    draft = Draft(resource, index, resource_path(index), _kind(resource, source))
    label = f'resource "{resource.id}"'
    iterators = _for_each(draft, label, variables, checker)
    _include_when(draft, label, variables, checker)
    if (resource.template is None) == (resource.external_ref is None):
        checker.refuse(draft.path, f"{label}: exactly one of template and externalRef is needed")
    if resource.template is not None:
        in_sight = {**variables, **iterators} if iterators else variables
        site = ExpressionSite(label, in_sight, frozenset({"omit"}), _CONTENT)
        body = bodies.Body(definition, resource, draft.kind, draft.path, site, checker)
        draft.template = body.compile_template()
        draft.content_reads |= body.reads
        body.check_identity([dimension.name for dimension in draft.for_each])
    if resource.external_ref is not None:
        _external(definition, draft, label, variables, checker)
    _gates(draft, label, variables, iterators, checker)
    return draft


def _for_each(
    draft: Draft, label: str, variables: Mapping[str, Schema | None], checker: Checker
) -> dict[str, Schema | None]:
    """What each iterator stands for in the template."""
    written = draft.resource.for_each or ()
    path = f"{draft.path}.forEach"
    if len(written) > MOST_DIMENSIONS:
        checker.refuse(path, f"{label}: has {len(written)} dimensions; allowed are at most {MOST_DIMENSIONS}")
    if written and draft.resource.external_ref is not None:
        checker.refuse(
            path, f"{label}: forEach cannot be used with externalRef; a selector finds several objects"
        )
    iterators: dict[str, Schema | None] = {}
    dimensions: list[Dimension] = []
    ids = frozenset(variables) - {names.SCHEMA}
    site = ExpressionSite(label, variables, frozenset(), _CONTENT)
    for index, entry in enumerate(written):
        if len(entry) != 1:
            checker.refuse(
                item_path(path, index), f"{label}: has {len(entry)} keys; allowed is one, the iterator's name"
            )
            continue
        ((name, text),) = entry.items()
        where = field_path(item_path(path, index), name)
        problem = names.iterator_problem(name, ids)
        if problem is None and name in iterators:
            problem = f"{name!r} names another iterator of this resource already"
        if problem is not None:
            checker.refuse(where, f"{label}: {problem}")
        compiled = compile_condition(site, where, text, checker, target={"type": "array", "items": None})
        iterators[name] = None
        if compiled is not None:
            program, given = compiled
            iterators[name] = given.get("items") if given is not None else None
            draft.content_reads |= _resources_read(program, ids)
            dimensions.append(Dimension(name, text, program))
    draft.for_each = tuple(dimensions)
    return iterators


def _include_when(draft: Draft, label: str, variables: Mapping[str, Schema | None], checker: Checker) -> None:
    site = ExpressionSite(label, variables, LIFECYCLE)
    path = f"{draft.path}.includeWhen"
    draft.include_when = compile_gates(site, draft.resource.include_when, path, checker) or ()
    for gate in draft.include_when:
        draft.content_reads |= gate.reads & (frozenset(variables) - {names.SCHEMA})


def _external(
    definition: Definition, draft: Draft, label: str, variables: Mapping[str, Schema | None], checker: Checker
) -> None:
    reference = draft.resource.external_ref
    assert reference is not None
    path = f"{draft.path}.externalRef"
    by_name, by_selector = reference.metadata.name is not None, reference.metadata.selector is not None
    if by_name == by_selector:
        checker.refuse(f"{path}.metadata", f"{label}: exactly one of name and selector is needed")
    if draft.kind is not None and not draft.kind.is_namespaced and reference.metadata.namespace is not None:
        checker.refuse(
            f"{path}.metadata.namespace",
            f"{label}: objects of kind {reference.kind} have no namespace, so none can be given",
        )
    needs_namespace = not definition.is_namespaced and (draft.kind is None or draft.kind.is_namespaced)
    if by_name and needs_namespace and not reference.metadata.namespace:
        checker.refuse(
            f"{path}.metadata.namespace",
            f"{label}: is required, since instances of the definition have no namespace to take it from",
        )
    selectors.check(reference.metadata.selector, f"{path}.metadata.selector", label, checker)
    metadata = {
        key: value
        for key in ("name", "namespace", "selector")
        if (value := getattr(reference.metadata, key)) is not None
    }
    site = ExpressionSite(label, variables, frozenset(), _CONTENT)
    compiled, reads = bodies.compile_document(metadata, f"{path}.metadata", site, None, checker)
    draft.content_reads |= frozenset().union(*reads.values()) - {names.SCHEMA}
    if compiled is not None:
        draft.external_ref = CompiledReference(reference.api_version, reference.kind, compiled, by_selector)


def _gates(
    draft: Draft,
    label: str,
    variables: Mapping[str, Schema | None],
    iterators: Mapping[str, Schema | None],
    checker: Checker,
) -> None:
    own = _own_names(draft, iterators)
    resource = draft.resource
    of_item = {
        name: schema
        for name, schema in own.items()
        if checker.is_stored or not _is_name_of_list(resource, name)
    }
    ready = ExpressionSite(label, of_item, frozenset(), _READINESS)
    draft.ready_when = compile_gates(ready, resource.ready_when, f"{draft.path}.readyWhen", checker) or ()
    in_sight = {**variables, **own, names.NOW: None, names.SIGNALS: None}
    if _by_selector(resource) or resource.external_ref is not None:
        if resource.propagate_when:
            checker.refuse(
                f"{draft.path}.propagateWhen",
                f"{label}: what others own is only read, so there is nothing to gate",
            )
        return
    gated = ExpressionSite(label, in_sight, LIFECYCLE)
    draft.propagate_when = compile_gates(
        gated, resource.propagate_when, f"{draft.path}.propagateWhen", checker
    )
    others = frozenset(variables) - {names.SCHEMA, resource.id}
    for gate in draft.propagate_when or ():
        draft.gate_reads |= gate.reads & others


def _own_names(draft: Draft, iterators: Mapping[str, Schema | None]) -> dict[str, Schema | None]:
    """In conditions about items the iterator's name and `each` are the item; the id of a collection is the list."""
    schema = draft.kind.schema if draft.kind is not None else None
    if not draft.resource.for_each and not _by_selector(draft.resource):
        return {draft.resource.id: schema, names.EACH: schema}
    schemas: dict[str, Schema | None] = {names.EACH: _item(schema, None)}
    for name, value in iterators.items():
        schemas[name] = _item(schema, value)
    schemas[draft.resource.id] = {"type": "array", "items": schemas[names.EACH]}
    return schemas


def _is_name_of_list(resource: GraphResource, name: str) -> bool:
    """Whether an item is ready is asked of one at a time, and says nothing of the others."""
    return name == resource.id and (bool(resource.for_each) or _by_selector(resource))


def _item(schema: Schema | None, value: Schema | None) -> Schema | None:
    if schema is None:
        return None
    return {
        "type": "object",
        "properties": {**schema["properties"], "value": value, "index": {"type": "integer"}},
    }


def compile_gates(
    site: ExpressionSite, texts: Sequence[str] | None, path: str, checker: Checker
) -> tuple[GateExpression, ...] | None:
    if texts is None:
        return None
    gates: list[GateExpression] = []
    for index, text in enumerate(texts):
        compiled = compile_condition(site, item_path(path, index), text, checker, target={"type": "boolean"})
        if compiled is not None:
            _check_waves(site, item_path(path, index), text, compiled[0], checker)
            gates.append(expressions.gate(text, compiled[0]))
    return tuple(gates)


def _check_waves(site: ExpressionSite, path: str, text: str, program: cel.Program, checker: Checker) -> None:
    """A size that is written out can be refused before anything waits for it for ever."""
    for node in syntax.walk(program.root):
        match node:
            case syntax.Call(function="linearlyUpdated", arguments=(_, _, syntax.Constant(value=int(size)))):
                if size < 1:
                    written = Written(path, text, _part(text))
                    checker.point(
                        site, written, node.position, f"the size of a wave is {size}; allowed is 1 or more"
                    )


def _part(text: str) -> InterpolatedPart:
    return single_expression(text)


def compile_condition(
    site: ExpressionSite, path: str, text: str, checker: Checker, target: Schema
) -> tuple[cel.Program, Schema | None] | None:
    """One expression, with or without `${}` around it."""
    try:
        part = single_expression(text)
    except InterpolationError as error:
        checker.point(site, Written(path, text, InterpolatedPart(text, True, 0)), error.position, str(error))
        return None
    except ValueError as error:
        checker.refuse(path, f"{site.label}: {error}, not {text!r}")
        return None
    return checker.compile(site, Written(path, text, part), target)


def _resources_read(program: cel.Program, ids: frozenset[str]) -> frozenset[str]:
    return program.roots & ids


def in_order(drafts: Sequence[Draft], ids: Sequence[str], checker: Checker) -> tuple[CompiledNode, ...]:
    edges: dict[str, frozenset[str]] = {}
    content: dict[str, frozenset[str]] = {}
    for draft in drafts:
        name = draft.resource.id
        content[name] = frozenset(draft.content_reads) & frozenset(ids)
        if name in content[name]:
            checker.refuse(
                draft.path, f'resource "{name}": its content and includeWhen cannot read the resource itself'
            )
        content[name] -= {name}
        edges[name] = content[name] | (frozenset(draft.gate_reads) & frozenset(ids))
    try:
        order = dag.order(ids, edges)
        layers = dag.layers(ids, edges)
    except dag.DependencyCycle as cycle:
        path = next(draft.path for draft in drafts if draft.resource.id == cycle.ring[0])
        checker.refuse(path, f"resources wait for each other: {cycle}")
        return ()
    by_id: dict[str, Draft] = {}
    for draft in drafts:
        by_id.setdefault(draft.resource.id, draft)
    return tuple(_node(by_id[name], content[name], layers[name]) for name in order)


def _node(draft: Draft, content: frozenset[str], layer: int) -> CompiledNode:
    resource = draft.resource
    source: Any = resource.external_ref
    api_version = source.api_version if source else str((resource.template or {}).get("apiVersion"))
    kind = source.kind if source else str((resource.template or {}).get("kind"))
    return CompiledNode(
        id=resource.id,
        index=draft.index,
        api_version=api_version,
        kind=kind,
        known_kind=draft.kind,
        is_namespaced=draft.kind.is_namespaced if draft.kind is not None else True,
        template=draft.template,
        external_ref=draft.external_ref,
        for_each=draft.for_each,
        include_when=draft.include_when,
        ready_when=draft.ready_when,
        propagate_when=draft.propagate_when,
        depends_on=content,
        gate_reads=frozenset(draft.gate_reads),
        layer=layer,
    )
