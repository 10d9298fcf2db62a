"""Compiles the expressions of a definition, and says of each that is wrong where it stands and why.

First every expression is compiled with names alone, then its fields are looked up in the schemas, and at the end the
types of what was found are checked together, so that one pass tells everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from headgate import cel
from headgate.cel import decode, frontend
from headgate.graph import expressions, inference, names
from headgate.graph.inference import Schema
from headgate.graph.templates import Part
from headgate.kernel.problems import Problem

_MACRO_VARIABLES = re.compile(
    r"\b(?:map|filter|all|exists|exists_one|existsOne|transformList|transformMap|transformMapEntry|sortBy|optMap|"
    r"optFlatMap|bind)\(\s*([A-Za-z_]\w*)\s*,(?:\s*([A-Za-z_]\w*)\s*,)?"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_SHOWN = 100

SENTENCES = {
    "omit": "omit() can only be used in templates of resources",
    "newCondition": "runtime is only available in status.conditions",
}


class Place(msgspec.Struct, frozen=True, eq=False):
    """Where an expression stands: what it sees there, and what is said of it in problems."""

    label: str
    variables: Mapping[str, Schema | None]
    functions: frozenset[str] = frozenset()
    """Of the functions that are not for every place, those that are for this one."""
    refusal: str = ""
    """Why the others are not."""

    @property
    def in_sight(self) -> frozenset[str]:
        return frozenset(self.variables)


class Written(msgspec.Struct, frozen=True):
    """The text of a field, and the expression in it."""

    path: str
    text: str
    part: Part


class _Record(msgspec.Struct, frozen=True, eq=False):
    place: Place
    written: Written
    program: cel.Program
    source: str
    given: Schema | None
    target: Schema | None


class Checker:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._records: list[_Record] = []

    def refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def compile(
        self, place: Place, written: Written, target: Schema | None = None, source: str | None = None
    ) -> tuple[cel.Program, Schema | None] | None:
        """The program and the schema of what it gives, or None when problems were added. `source` is the expression
        where it is not the text as written."""
        text = written.part.text if source is None else source
        try:
            if not text.strip():
                self.point(place, written, 0, "the expression is empty")
                return None
            program = expressions.compile_in(place.in_sight, text)
        except cel.CompileError as error:
            for flaw in error.problems:
                self._point_at_flaw(place, written, text, flaw)
            return None
        before = len(self.problems)
        for function in expressions.forbidden_functions(program, place.functions):
            self.point(place, written, max(0, text.find(function)), _refused(function, place))
        if names.RUNTIME in program.roots and "newCondition" not in place.functions:
            self.point(place, written, 0, SENTENCES["newCondition"])
        try:
            given = inference.schema_of(program, place.variables)
        except inference.Flaw as flaw_found:
            self.point(place, written, flaw_found.position, flaw_found.message)
            return None
        if len(self.problems) > before:
            return None
        self._records.append(_Record(place, written, program, text, given, target))
        return program, given

    def _point_at_flaw(self, place: Place, written: Written, text: str, flaw: cel.Problem) -> None:
        unknown = expressions.unknown_name(flaw.message)
        if unknown is None:
            self.point(place, written, _offset(text, flaw), flaw.message)
            return
        # The report is about a whole dotted path, of which only the first word is looked for among the names.
        name = unknown if expressions.is_function(unknown) else unknown.partition(".")[0]
        start = max(0, text.rfind(name, 0, _offset(text, flaw) + 1 + len(name)))
        if expressions.is_function(name):
            message = f"{name}() does not take what it is given here"
        elif text[start + len(name) :].lstrip().startswith("("):
            message = f"there is no function {name}()"
        else:
            known = sorted(place.in_sight - {names.NOW, names.SIGNALS, names.RUNTIME})
            message = f"unknown name {name!r}; in sight here are {', '.join(known) or 'none'}"
        self.point(place, written, start, message)

    def point(self, place: Place, written: Written, position: int, message: str) -> None:
        """A problem that shows the line of the field and the place in it."""
        text = written.part.text.strip()
        shown = text if text.startswith("${") else f"${{{text}}}"
        if len(shown) > _SHOWN:
            shown = shown[: _SHOWN - 4] + "...}"
        here = pointed(written.text, written.part.position + position)
        self.refuse(written.path, f"{place.label}: {shown}: {message} {here}")

    def finish(self) -> dict[tuple[str, int], Schema | None]:
        """Checks types. Returns the schema of what each expression gives, by the path of its field and its place there."""
        groups: dict[int, list[_Record]] = {}
        for record in self._records:
            groups.setdefault(id(record.place.variables), []).append(record)
        found: dict[tuple[str, int], Schema | None] = {}
        for records in groups.values():
            front_end = expressions.typed_front_end(_types(records))
            for record in records:
                given = self._checked(record, front_end)
                found[record.written.path, record.written.part.position] = given
                reason = inference.mismatch(given, record.target)
                if reason is not None:
                    self.point(record.place, record.written, 0, reason)
        return found

    def _checked(self, record: _Record, front_end: frontend.FrontEnd) -> Schema | None:
        if _shadows(record.source, record.place.in_sight):
            return record.given
        try:
            serialized = front_end.serialized(record.source, boolean_words=False, check=True)
        except cel.CompileError as error:
            for flaw in error.problems:
                self.point(record.place, record.written, _offset(record.source, flaw), flaw.message)
            return record.given
        if record.given is not None and not inference.is_open(record.given):
            return record.given
        root, _ = decode.tree(serialized, {})
        return inference.of_type(root.type) or record.given


def pointed(text: str, position: int) -> str:
    before = text[:position]
    line_number = before.count("\n") + 1
    column = position - (before.rfind("\n") + 1)
    line = (text.splitlines() or [""])[min(line_number, len(text.splitlines()) or 1) - 1]
    first = max(0, column - 60)
    excerpt = line[first : first + _SHOWN]
    return f"(line {line_number}, column {column + 1})\n  {excerpt}\n  {' ' * (column - first)}^"


def _offset(text: str, flaw: cel.Problem) -> int:
    lines = text.splitlines(keepends=True)
    return min(len(text), sum(len(line) for line in lines[: flaw.line - 1]) + flaw.column - 1)


def _refused(function: str, place: Place) -> str:
    return SENTENCES.get(function) or f"{function}() cannot be used here: {place.refusal}"


def _shadows(text: str, in_sight: frozenset[str]) -> bool:
    """A macro's variable that is named like a resource; the dotted paths of the resource would be taken for its own."""
    return any(
        name in in_sight for match in _MACRO_VARIABLES.finditer(text) for name in match.groups() if name
    )


def _types(records: list[_Record]) -> dict[str, cel.Type]:
    """Types of the names in sight and of the dotted paths that the expressions read."""
    variables = records[0].place.variables
    types = {name: inference.type_of(schema) for name, schema in variables.items()}
    types[names.NOW], types[names.SIGNALS] = cel.TIMESTAMP, cel.map_of(cel.STRING, cel.DYN)
    asked = {path for record in records for path in expressions.paths_asked_for(record.program.root)}
    for record in records:
        for path in record.program.paths:
            if path in asked or len(path) < 2 or not all(_IDENTIFIER.fullmatch(name) for name in path):
                continue
            schema = _along(variables.get(path[0]), path[1:])
            if schema is not None:
                types[".".join(path)] = inference.type_of(schema)
    return types


def _along(schema: Schema | None, path: tuple[str, ...]) -> Schema | None:
    for name in path:
        if schema is None or inference.is_open(schema) or schema.get("type") != "object":
            return None
        properties = schema.get("properties")
        if properties is not None and name in properties:
            schema = properties[name]
        else:
            schema = schema.get("additionalProperties")
    return schema
