"""CEL as the expressions of a graph use it: one environment for each set of names that are in sight."""

from __future__ import annotations

import functools
import re
from collections import ChainMap
from collections.abc import Iterable, Mapping

import msgspec

from headgate import cel
from headgate.cel import frontend, library, moments, reading, syntax, waves
from headgate.graph.compile import libraries, names
from headgate.graph.compile.libraries import conditions, omission
from headgate.kernel.instants import Instant

FUNCTIONS = (*libraries.FUNCTIONS, *omission.FUNCTIONS, *conditions.FUNCTIONS, *waves.FUNCTIONS)
CACHED_ENVIRONMENTS = 256

_FUNCTION_NAMES = frozenset(function.name for function in FUNCTIONS) | frozenset(library.MIXED_NUMBERS)

_TYPES_OF_NAMES = {names.NOW: cel.TIMESTAMP, names.SIGNALS: cel.map_of(cel.STRING, cel.DYN)}


@functools.lru_cache(CACHED_ENVIRONMENTS)
def environment(in_sight: frozenset[str]) -> cel.CelEnvironment:
    """Where these names are variables; their fields are looked at elsewhere, against schemas."""
    variables = {name: _TYPES_OF_NAMES.get(name, cel.DYN) for name in sorted(in_sight)}
    return cel.CelEnvironment(variables, FUNCTIONS, boolean_words=False, mixed_numbers=True)


def typed_front_end(types: Mapping[str, cel.Type]) -> frontend.FrontEnd:
    """A checker that knows the types of dotted paths, such as schema.spec.replicas, as if they were variables."""
    return frontend.FrontEnd(types, FUNCTIONS, mixed_numbers=True, container="")


def compile_in(in_sight: Iterable[str], text: str) -> cel.Program:
    """Raises cel.CompileError."""
    return environment(frozenset(in_sight)).compile(text)


_UNDECLARED = re.compile(r"undeclared reference to '([^']+)'")


def unknown_name(message: str) -> str | None:
    match = _UNDECLARED.match(message)
    return match.group(1) if match else None


def is_function(name: str) -> bool:
    return name in _FUNCTION_NAMES


class GateExpression(msgspec.Struct, frozen=True, eq=False):
    """One condition of propagateWhen, readyWhen or includeWhen."""

    text: str
    program: cel.Program
    reads: frozenset[str]
    """The names in sight that it reads: items, resources, schema, now, signals."""
    signals: frozenset[str]
    """Signals that it names; one that it computes the name of is not among them."""

    @property
    def reads_now(self) -> bool:
        return names.NOW in self.reads

    def evaluate(self, bindings: Mapping[str, object]) -> bool:
        """Raises EvaluationError, of which MissingKey is one, also when the value is no bool."""
        value = self.program.evaluate(bindings)
        if isinstance(value, cel.Optional):
            # An absent value is data that is not there yet, as a missing key is.
            if not value.present:
                raise cel.MissingKey("the value is absent")
            value = value.content
        if value is True or value is False:
            return value
        raise cel.EvaluationError("the value is neither true nor false")

    def seen_moment(self, now: Instant) -> Instant:
        """The moment to bind to `now`, so that the value changes at announced moments only."""
        return moments.steady(self.program, now)

    def next_change(self, now: Instant) -> Instant | None:
        """When the passing of time alone can change the value; None if it never can."""
        return moments.next_change(self.program, now)


def gate(text: str, program: cel.Program) -> GateExpression:
    return GateExpression(text, program, program.roots, _signals(program))


def _signals(program: cel.Program) -> frozenset[str]:
    return frozenset(path[1] for path in program.paths if path[0] == names.SIGNALS and len(path) > 1)


class Projection(msgspec.Struct, frozen=True, eq=False):
    """One entry of status.conditions: a condition, or a list of them."""

    text: str
    program: cel.Program
    type: str | None
    """The condition's type where the text says it."""

    def evaluate(self, bindings: Mapping[str, object]) -> list[dict[str, str]]:
        own: dict[str, object] = {names.RUNTIME: conditions.RUNTIME}
        value = self.program.evaluate(ChainMap(own, bindings))  # type: ignore[arg-type]  # it is only read
        items = value if isinstance(value, list | tuple) else [value]
        return [conditions.as_document(item) for item in items]


def paths_asked_for(root: syntax.SyntaxNode) -> Iterable[tuple[str, ...]]:
    """Paths that are asked for presence or compared with null, whose type is therefore not all there is to them."""
    for node in syntax.walk(root):
        if isinstance(node, syntax.Has):
            path = reading.path_of(node)
            if path is not None:
                yield path
        elif _compares_with_null(node):
            yield from (path for each in node.children() if (path := reading.path_of(each)) is not None)


def _compares_with_null(node: syntax.SyntaxNode) -> bool:
    return (
        isinstance(node, syntax.Call)
        and node.function in ("_==_", "_!=_")
        and any(isinstance(each, syntax.Constant) and each.value is None for each in node.arguments)
    )


def constant_condition_type(program: cel.Program) -> str | None:
    match program.root:
        case syntax.Call(function="newCondition", arguments=(_, syntax.MapLiteral(entries=entries))):
            for entry in entries:
                match entry.key, entry.value:
                    case syntax.Constant(value="type"), syntax.Constant(value=str(name)):
                        return name
    return None


def forbidden_functions(program: cel.Program, allowed: frozenset[str]) -> list[str]:
    special = waves.LIFECYCLE | {"omit", "newCondition"}
    return sorted((program.functions & special) - allowed)
