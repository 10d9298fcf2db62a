"""Text with `${...}` in it, and documents made of such text.

A string that is one `${...}` and nothing else is replaced by the expression's value, whatever its type. Any other text
with expressions is a string, and so must each of its parts be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from headgate import cel
from headgate.cel.core import values
from headgate.cel.interpolation import OPENING, InterpolatedPart, InterpolationError, parts_of
from headgate.cel.plain import plain
from headgate.graph.compile.libraries import omission
from headgate.kernel.documents import describe, field_path, item_path


class FoundExpression(msgspec.Struct, frozen=True):
    """A string of a document that has expressions in it."""

    path: str
    keys: tuple[str | int, ...]
    text: str
    parts: tuple[InterpolatedPart, ...]

    @property
    def is_standalone(self) -> bool:
        return len(self.parts) == 1


def found_in(
    document: object, path: str = ""
) -> Iterator[FoundExpression | tuple[str, InterpolationError, str]]:
    """Every string with expressions, in the order of the document; a malformed one with its error."""
    yield from _expressions_in(document, path, ())


def _expressions_in(
    value: object, path: str, keys: tuple[str | int, ...]
) -> Iterator[FoundExpression | tuple[str, InterpolationError, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _expressions_in(item, field_path(path, str(key)), (*keys, str(key)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _expressions_in(item, item_path(path, index), (*keys, index))
    elif isinstance(value, str) and OPENING in value:
        try:
            parts = parts_of(value)
        except InterpolationError as error:
            yield path, error, value
            return
        if any(part.is_expression for part in parts):
            yield FoundExpression(path, keys, value, tuple(parts))


class FieldError(cel.EvaluationError):
    """A field of a template could not be computed."""

    def __init__(self, path: str, expression: str, error: cel.EvaluationError) -> None:
        super().__init__(f"{path}: ${{{expression}}}: {error.message}")
        self.path = path
        self.expression = expression


class FieldMissing(FieldError, cel.MissingKey):  # noqa: N818
    """A field of a template reads something that is not there, or not there yet."""


Filler = Callable[[Mapping[str, object]], object]
Compile = Callable[[FoundExpression, InterpolatedPart], cel.Program]
"""Gives the program of an expression."""


class CompiledTemplate:
    """A document whose expressions are compiled. It holds no state of any rendering."""

    __slots__ = ("_fill", "_fill_place", "document", "found", "paths")

    def __init__(self, document: dict[str, Any], compile_part: Compile, path: str = "") -> None:
        self.document = document
        self.found = tuple(each for each in found_in(document, path) if isinstance(each, FoundExpression))
        fillers = {each.keys: _filler(each, compile_part, path) for each in self.found}
        self._fill = _tree(document, (), fillers)
        self._fill_place = _tree(_place(document), (), fillers)
        self.paths = frozenset(
            read
            for each in self.found
            for part in each.parts
            if part.is_expression
            for read in compile_part(each, part).paths
        )
        """The field paths that its expressions read, such as ('schema', 'spec', 'name')."""

    def render(self, bindings: Mapping[str, object]) -> dict[str, Any]:
        """A new document. Raises FieldMissing or FieldError with the path of the field."""
        rendered: Any = self._fill(bindings)
        return rendered  # type: ignore[no-any-return]

    def render_place(self, bindings: Mapping[str, object]) -> dict[str, Any]:
        """Of the document only what names the object, which may be known long before the rest."""
        rendered: Any = self._fill_place(bindings)
        return rendered  # type: ignore[no-any-return]


def _place(document: dict[str, Any]) -> dict[str, Any]:
    metadata = document.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    named = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    return {"apiVersion": document.get("apiVersion"), "kind": document.get("kind"), "metadata": named}


def _tree(
    value: object, keys: tuple[str | int, ...], fillers: Mapping[tuple[str | int, ...], Filler]
) -> Filler:
    """Built once, so that a rendering touches expressions and containers and nothing else."""
    if keys in fillers:
        return fillers[keys]
    if isinstance(value, dict):
        members = [(str(key), _tree(item, (*keys, str(key)), fillers)) for key, item in value.items()]

        def filled_map(bindings: Mapping[str, object]) -> object:
            made = {}
            for key, member in members:
                item = member(bindings)
                if item is not omission.OMITTED:
                    made[key] = item
            return made

        return filled_map
    if isinstance(value, list | tuple):
        elements = [_tree(item, (*keys, index), fillers) for index, item in enumerate(value)]

        def filled_list(bindings: Mapping[str, object]) -> object:
            items = [element(bindings) for element in elements]
            return [item for item in items if item is not omission.OMITTED]

        return filled_list
    return lambda bindings: value


def _filler(expression: FoundExpression, compile_part: Compile, root: str) -> Filler:
    path = expression.path.removeprefix(root).lstrip(".")
    if expression.is_standalone:
        return _standalone(path, expression.parts[0].text, compile_part(expression, expression.parts[0]))
    pieces = [
        (part.text, compile_part(expression, part) if part.is_expression else None)
        for part in expression.parts
    ]
    return lambda bindings: _joined(path, pieces, bindings)


def _joined(path: str, pieces: list[tuple[str, cel.Program | None]], bindings: Mapping[str, object]) -> str:
    return "".join(
        text if program is None else _text(path, text, evaluated(path, text, program, bindings))
        for text, program in pieces
    )


def filled(
    expression: FoundExpression, program_of: Compile, bindings: Mapping[str, object], root: str = ""
) -> object:
    """The value of one string with expressions. Raises FieldMissing or FieldError."""
    return _filler(expression, program_of, root)(bindings)


def _standalone(path: str, text: str, program: cel.Program) -> Filler:
    def value(bindings: Mapping[str, object]) -> object:
        result = evaluated(path, text, program, bindings)
        try:
            return plain(result)
        except cel.EvaluationError as error:
            raise FieldError(path, text, error) from None

    return value


def evaluated(path: str, text: str, program: cel.Program, bindings: Mapping[str, object]) -> object:
    try:
        return program.evaluate(bindings)
    except cel.MissingKey as error:
        raise FieldMissing(path, text, error) from None
    except cel.EvaluationError as error:
        raise FieldError(path, text, error) from None


def _text(path: str, expression: str, value: object) -> str:
    if isinstance(value, values.Optional) and value.present:
        value = value.content
    if isinstance(value, str):
        return value
    error = cel.EvaluationError(f"gives {describe(value)}; in a text a string is needed, such as string(...)")
    raise FieldError(path, expression, error)
