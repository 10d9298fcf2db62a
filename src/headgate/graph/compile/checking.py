"""Compiles the expressions of a definition, and says of each that is wrong where it stands and why.

First every expression is compiled with names alone, then its fields are looked up in the schemas, and at the end the
types of what was found are checked together, so that one pass tells everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from headgate import cel
from headgate.cel import decode, frontend, reading, syntax
from headgate.cel.interpolation import InterpolatedPart
from headgate.graph.compile import expressions, inference, names
from headgate.graph.compile.inference import Schema
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


class ExpressionSite(msgspec.Struct, frozen=True, eq=False):
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
    part: InterpolatedPart


class _Record(msgspec.Struct, frozen=True, eq=False):
    site: ExpressionSite
    written: Written
    program: cel.Program
    source: str
    given: Schema | None
    target: Schema | None


class Checker:
    """`everywhere` is what the names stand for that mean the same in all places: the schema and the resources.

    All expressions are compiled where all names of the definition are known, `others` included, because each set of
    names takes an environment of its own; what a place does not see is refused afterwards.
    """

    def __init__(
        self, everywhere: Mapping[str, Schema | None], others: frozenset[str], *, is_stored: bool = False
    ) -> None:
        self.problems: list[Problem] = []
        self.is_stored = is_stored
        self._everywhere = everywhere
        self._names = frozenset(everywhere) | others
        self._records: list[_Record] = []

    def refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def compile(
        self, site: ExpressionSite, written: Written, target: Schema | None = None, source: str | None = None
    ) -> tuple[cel.Program, Schema | None] | None:
        """The program and the schema of what it gives, or None when problems were added. `source` is the expression
        where it is not the text as written."""
        text = written.part.text if source is None else source
        try:
            if not text.strip():
                self.point(site, written, 0, "the expression is empty")
                return None
            program = expressions.compile_in(self._names | site.in_sight, text)
        except cel.CompileError as error:
            for problem in error.problems:
                self._point_at_problem(site, written, text, problem)
            return None
        before = len(self.problems)
        for function in expressions.forbidden_functions(program, site.functions):
            self.point(site, written, max(0, text.find(function)), _refused(function, site))
        for name in sorted(program.roots - site.in_sight):
            self._point_at_name(site, written, name, _place_of(name, program))
        if len(self.problems) > before:
            return None
        try:
            given = inference.schema_of(program, site.variables)
        except inference.TypeProblem as problem_found:
            self.point(site, written, problem_found.position, problem_found.message)
            return None
        self._records.append(_Record(site, written, program, text, given, target))
        return program, given

    def _point_at_problem(
        self, site: ExpressionSite, written: Written, text: str, problem: cel.SyntaxProblem
    ) -> None:
        unknown = expressions.unknown_name(problem.message)
        if unknown is None:
            self.point(site, written, _offset(text, problem), problem.message)
            return
        # The report is about a whole dotted path, of which only the first word is looked for among the names.
        name = unknown if expressions.is_function(unknown) else unknown.partition(".")[0]
        start = max(0, text.rfind(name, 0, _offset(text, problem) + 1 + len(name)))
        if expressions.is_function(name):
            message = f"{name}() does not take what it is given here"
        elif text[start + len(name) :].lstrip().startswith("("):
            message = f"there is no function {name}()"
        else:
            self._point_at_name(site, written, name, start)
            return
        self.point(site, written, start, message)

    def _point_at_name(self, site: ExpressionSite, written: Written, name: str, position: int) -> None:
        if name == names.RUNTIME:
            self.point(site, written, position, SENTENCES["newCondition"])
            return
        known = sorted(site.in_sight - {names.NOW, names.SIGNALS, names.RUNTIME})
        message = f"unknown name {name!r}; in sight here are {', '.join(known) or 'none'}"
        self.point(site, written, position, message)

    def point(self, site: ExpressionSite, written: Written, position: int, message: str) -> None:
        """A problem that shows the line of the field and the place in it."""
        text = written.part.text.strip()
        excerpt = text if text.startswith("${") else f"${{{text}}}"
        if len(excerpt) > _SHOWN:
            excerpt = excerpt[: _SHOWN - 4] + "...}"
        here = pointed(written.text, written.part.position + position)
        self.refuse(written.path, f"{site.label}: {excerpt}: {message} {here}")

    def finish(self) -> dict[tuple[str, int], Schema | None]:
        """Checks types. Returns the schema of what each expression gives, by the path of its field and its place there."""
        groups: dict[_Group, list[_Record]] = {}
        for record in self._records:
            if _needs_types(record):
                groups.setdefault(self._group(record), []).append(record)
        front_ends = {
            group: expressions.typed_front_end(_types(records)) for group, records in groups.items()
        }
        schemas: dict[tuple[str, int], Schema | None] = {}
        for record in self._records:
            given = record.given
            if _needs_types(record):
                given = self._checked(record, front_ends[self._group(record)])
            schemas[record.written.path, record.written.part.position] = given
            reason = inference.mismatch(given, record.target)
            if reason is not None:
                self.point(record.site, record.written, 0, reason)
        return schemas

    def _group(self, record: _Record) -> _Group:
        """Expressions can be checked together where no name means one thing to one and another to another."""
        variables = record.site.variables
        return frozenset(
            (name, id(variables[name]))
            for name in record.program.roots
            if variables[name] is not self._everywhere.get(name)
        )

    def _checked(self, record: _Record, front_end: frontend.FrontEnd) -> Schema | None:
        try:
            serialized = front_end.serialized(record.source, boolean_words=False, check=True)
        except cel.CompileError as error:
            for problem in error.problems:
                self.point(record.site, record.written, _offset(record.source, problem), problem.message)
            return record.given
        if record.given is not None and not inference.is_open(record.given):
            return record.given
        root, _ = decode.tree(serialized, {})
        return inference.of_type(root.type) or record.given


_Group = frozenset[tuple[str, int]]


def _needs_types(record: _Record) -> bool:
    """A mere path gives what its schema says."""
    return reading.path_of(record.program.root) is None and not _shadows(record.source, record.site.in_sight)


def _place_of(name: str, program: cel.Program) -> int:
    positions = [
        node.position
        for node in syntax.walk(program.root)
        if isinstance(node, syntax.Variable) and node.name == name
    ]
    return min(positions, default=0)


def pointed(text: str, position: int) -> str:
    before = text[:position]
    line_number = before.count("\n") + 1
    column = position - (before.rfind("\n") + 1)
    line = (text.splitlines() or [""])[min(line_number, len(text.splitlines()) or 1) - 1]
    first = max(0, column - 60)
    excerpt = line[first : first + _SHOWN]
    return f"(line {line_number}, column {column + 1})\n  {excerpt}\n  {' ' * (column - first)}^"


def _offset(text: str, problem: cel.SyntaxProblem) -> int:
    lines = text.splitlines(keepends=True)
    return min(len(text), sum(len(line) for line in lines[: problem.line - 1]) + problem.column - 1)


def _refused(function: str, site: ExpressionSite) -> str:
    return SENTENCES.get(function) or f"{function}() cannot be used here: {site.refusal}"


def _shadows(text: str, in_sight: frozenset[str]) -> bool:
    """A macro's variable that is named like a resource; the dotted paths of the resource would be taken for its own."""
    return any(
        name in in_sight for match in _MACRO_VARIABLES.finditer(text) for name in match.groups() if name
    )


def _types(records: list[_Record]) -> dict[str, cel.Type]:
    """Types of the names and of the dotted paths that the expressions read."""
    types: dict[str, cel.Type] = {}
    asked = {path for record in records for path in expressions.paths_asked_for(record.program.root)}
    for record in records:
        variables = record.site.variables
        for path in record.program.paths:
            types[path[0]] = inference.type_of(variables[path[0]])
            if path in asked or len(path) < 2 or not all(_IDENTIFIER.fullmatch(name) for name in path):
                continue
            schema = _along(variables[path[0]], path[1:])
            if schema is not None:
                types[".".join(path)] = inference.type_of(schema)
    return types | {names.NOW: cel.TIMESTAMP, names.SIGNALS: cel.map_of(cel.STRING, cel.DYN)}


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
