"""The template of a resource: a whole object whose literals and expressions must fit the schema of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate import cel
from headgate.cel.interpolation import OPENING, InterpolatedPart, InterpolationError, parts_of
from headgate.graph.compile import inference, names, templates
from headgate.graph.compile.checking import Checker, ExpressionSite, Written
from headgate.graph.compile.definition import Definition, GraphResource
from headgate.graph.compile.inference import Schema
from headgate.graph.compile.templates import CompiledTemplate, FoundExpression
from headgate.kernel.documents import describe, field_path, item_path
from headgate.kernel.object_kinds import ObjectKind

_DEFINITION_OF_KINDS = "CustomResourceDefinition"
_STRING: Schema = {"type": "string"}


def compile_document(
    document: dict[str, Any], path: str, site: ExpressionSite, schema: Schema | None, checker: Checker
) -> tuple[CompiledTemplate | None, dict[str, frozenset[str]]]:
    """The document with its expressions compiled, or None when one of them is wrong; and the names that each field reads."""
    programs: dict[tuple[str, int], cel.Program] = {}
    reads: dict[str, frozenset[str]] = {}
    complete = _check_keys(document, path, site, checker)
    for expression in templates.found_in(document, path):
        if not isinstance(expression, FoundExpression):
            where, error, text = expression
            written = Written(where, text, InterpolatedPart(text, True, 0))
            checker.point(site, written, error.position, str(error))
            complete = False
            continue
        target = _at(schema, expression.keys) if expression.is_standalone else _STRING
        for part in expression.parts:
            if part.is_expression:
                compiled = checker.compile(site, Written(expression.path, expression.text, part), target)
                if compiled is None:
                    complete = False
                else:
                    programs[expression.path, part.position] = compiled[0]
                    reads[expression.path] = reads.get(expression.path, frozenset()) | compiled[0].roots
    if not complete:
        return None, reads
    template = CompiledTemplate(
        document, lambda expression, part: programs[expression.path, part.position], path
    )
    return template, reads


def _check_keys(value: object, path: str, site: ExpressionSite, checker: Checker) -> bool:
    """An expression in a key would stay as it is written, which nobody means."""
    if isinstance(value, list):
        checked = [
            _check_keys(item, item_path(path, index), site, checker) for index, item in enumerate(value)
        ]
        return all(checked)
    if not isinstance(value, dict):
        return True
    fine = True
    for key, item in value.items():
        if OPENING in str(key) and has_expressions(str(key)):
            checker.refuse(path, f"{site.label}: has the key {key!r}; expressions are allowed in values only")
            fine = False
        fine = _check_keys(item, field_path(path, str(key)), site, checker) and fine
    return fine


def _at(schema: Schema | None, keys: Sequence[str | int]) -> Schema | None:
    for key in keys:
        if schema is None or inference.is_open(schema):
            return None
        if isinstance(key, int):
            schema = schema.get("items")
        else:
            properties = schema.get("properties")
            known = properties is not None and key in properties
            schema = (
                properties[key] if known and properties is not None else schema.get("additionalProperties")
            )
    return schema


class Body:
    def __init__(
        self,
        definition: Definition,
        resource: GraphResource,
        kind: ObjectKind | None,
        path: str,
        site: ExpressionSite,
        checker: Checker,
    ) -> None:
        self._definition = definition
        self._document: dict[str, Any] = resource.template or {}
        self._kind = kind
        self._path = f"{path}.template"
        self._site = site
        self._checker = checker
        self.reads: frozenset[str] = frozenset()
        self._reads_of_field: Mapping[str, frozenset[str]] = {}

    def compile_template(self) -> CompiledTemplate | None:
        self._check_shape()
        schema: Schema | None = self._kind.schema if self._kind is not None else None
        if self._document.get("kind") == _DEFINITION_OF_KINDS:
            self._check_definition_of_kinds()
            schema = None
        if schema is not None:
            self._check_literals(self._document, schema, self._path)
        compiled, reads = compile_document(self._document, self._path, self._site, schema, self._checker)
        self._reads_of_field = reads
        self.reads = frozenset().union(*reads.values()) & (self._site.in_sight - {names.SCHEMA})
        return compiled

    def _refuse(self, path: str, message: str) -> None:
        self._checker.refuse(path, f"{self._site.label}: {message}")

    def _check_shape(self) -> None:
        for key in ("apiVersion", "kind"):
            value = self._document.get(key)
            if not isinstance(value, str) or not value:
                self._refuse(f"{self._path}.{key}", "is required and must be a string")
            elif OPENING in value:
                self._refuse(f"{self._path}.{key}", "must be written out; an expression is not allowed here")
        if str(self._document.get("apiVersion", "")).count("/") > 1:
            self._refuse(
                f"{self._path}.apiVersion",
                f"is {self._document['apiVersion']!r}; allowed are version and group/version",
            )
        metadata = self._document.get("metadata")
        if not isinstance(metadata, dict):
            self._refuse(f"{self._path}.metadata", "is required; it holds at least the name")
            return
        if not metadata.get("name"):
            self._refuse(
                f"{self._path}.metadata.name", "is required; without it an object cannot be found again"
            )
        self._check_namespace(metadata)
        for group in ("labels", "annotations"):
            for key in metadata.get(group) or () if isinstance(metadata.get(group), dict) else ():
                if str(key).startswith(names.RESERVED_LABEL_PREFIXES):
                    self._refuse(
                        field_path(f"{self._path}.metadata.{group}", str(key)),
                        f"the prefixes {' and '.join(names.RESERVED_LABEL_PREFIXES)} are reserved",
                    )

    def _check_namespace(self, metadata: dict[str, Any]) -> None:
        if self._kind is None:
            return
        path = f"{self._path}.metadata.namespace"
        if not self._kind.is_namespaced and metadata.get("namespace") is not None:
            self._refuse(path, f"objects of kind {self._kind.name} have no namespace, so none can be given")
        if self._kind.is_namespaced and not self._definition.is_namespaced and not metadata.get("namespace"):
            self._refuse(
                path, "is required, since instances of the definition have no namespace to take it from"
            )

    def _check_definition_of_kinds(self) -> None:
        """A CRD holds expressions of its own, in validation rules; only its metadata is ours."""
        for expression in templates.found_in(self._document, self._path):
            path = expression.path if isinstance(expression, FoundExpression) else expression[0]
            if not path.startswith(f"{self._path}.metadata"):
                self._refuse(path, f"expressions in a {_DEFINITION_OF_KINDS} are allowed under metadata only")

    def _check_literals(self, value: object, schema: Schema, path: str) -> None:
        if isinstance(value, str) and OPENING in value and has_expressions(value):
            return
        reason = inference.literal_mismatch(value, schema)
        if reason is not None:
            self._refuse(path, reason)
        elif inference.is_open(schema):
            return
        elif isinstance(value, dict):
            self._check_members(value, schema, path)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._check_literals(item, schema.get("items") or {}, item_path(path, index))

    def _check_members(self, value: dict[str, Any], schema: Schema, path: str) -> None:
        properties = schema.get("properties", {})
        for key, item in value.items():
            if key in properties:
                self._check_literals(item, properties[key], field_path(path, key))
            elif "additionalProperties" in schema:
                self._check_literals(item, schema["additionalProperties"] or {}, field_path(path, key))
            else:
                kind = self._kind.name if self._kind is not None else "this kind"
                self._refuse(
                    field_path(path, key),
                    f"is not a known field of {kind}{inference.nearest(key, properties)}",
                )

    def check_identity(self, iterators: Sequence[str]) -> None:
        """Each item needs a name of its own, so every iterator must show in the name or the namespace."""
        metadata = self._document.get("metadata")
        if not iterators or not isinstance(metadata, dict):
            return
        keys = ["name"]
        if self._kind is None or self._kind.is_namespaced:
            keys.append("namespace")
        references: set[str] = set()
        for key in keys:
            references |= self._reads_of_field.get(f"{self._path}.metadata.{key}", frozenset())
        missing = [name for name in iterators if name not in references]
        if missing:
            self._refuse(
                f"{self._path}.metadata.name",
                f"is {describe(metadata.get('name'))}, the same for several items; every iterator must be in "
                f"{' or '.join(keys)}, missing: {', '.join(missing)}",
            )


def has_expressions(text: str) -> bool:
    try:
        return any(part.is_expression for part in parts_of(text))
    except InterpolationError:
        return True
