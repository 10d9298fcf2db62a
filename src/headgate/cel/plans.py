"""How the terms of a selector are answered over many rows at once.

A term over one field path of a row (`==`, `in`, `startsWith`, `has`) is answered by a column, a term that does not
read the row by one evaluation, any other by its own test on those rows that the terms before it have left. For each
term there are the rows where it is true and those where it is false; in the rest it is an error. `&&`, `||` and `!`
on these sets give what CEL gives row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from headgate.cel import columns, exact, generate, reading, syntax
from headgate.cel.columns import ValueColumn
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import SELECTOR_STEPS
from headgate.cel.generate import Test
from headgate.cel.program import Program
from headgate.cel.syntax import SyntaxNode

DISTINCT_LIMIT = 512
"""Distinct values of a column up to which a prefix is looked for among them."""


class Query:
    """One look at the rows, with the other variables bound."""

    def __init__(
        self,
        variable: str,
        bindings: Mapping[str, object],
        rows: Mapping[int, object],
        column: Callable[[tuple[str, ...]], ValueColumn],
    ) -> None:
        self._variable = variable
        self.bindings = bindings
        self._rows = rows
        self.column = column

    def passing(self, test: Test, candidates: int) -> int:
        bindings = dict(self.bindings)
        passing = []
        for row in columns.members(candidates, range(candidates.bit_length())):
            bindings[self._variable] = self._rows[row]
            if test(bindings):
                passing.append(row)
        return columns.set_of(passing, candidates.bit_length())


class SelectorPlan(Protocol):
    """Rows among the candidates in which a term is true, and those in which it is false."""

    cost: int
    """0 if evaluated once, 1 if a column answers, 2 if rows must be looked at."""

    def true_rows(self, query: Query, candidates: int) -> int: ...

    def false_rows(self, query: Query, candidates: int) -> int: ...


def plan(program: Program, variable: str) -> SelectorPlan:
    return _Planner(program, variable).plan(program.root)


class _Planner:
    def __init__(self, program: Program, variable: str) -> None:
        self._program = program
        self._variable = variable

    def plan(self, node: SyntaxNode) -> SelectorPlan:
        match node:
            case syntax.Call(function="!_", arguments=(operand,)):
                return Negation(self.plan(operand))
            case syntax.Call(function="_!=_", arguments=(left, right)):
                return Negation(self.plan(syntax.Call("_==_", (left, right))))
            case syntax.Call(function="_&&_"):
                return All([self.plan(term) for term in syntax.terms(node, "_&&_")])
            case syntax.Call(function="_||_"):
                terms = [Negation(self.plan(term)) for term in syntax.terms(node, "_||_")]
                return Negation(All(terms))
        if self._is_fixed(node):
            return Once(self._fixed(node))
        return self._by_column(node) or self._by_row(node)

    def _by_column(self, node: SyntaxNode) -> SelectorPlan | None:
        match node:
            case syntax.Call(function="_==_", arguments=(left, right)):
                path, value = self._row_path(left), right
                if path is None:
                    path, value = self._row_path(right), left
                if path is not None and self._is_fixed(value):
                    return OneOf(path, self._fixed(syntax.ListLiteral((value,))), self._by_row(node))
            case syntax.Call(function="@in", arguments=(element, container)):
                path = self._row_path(element)
                if path is not None and self._is_fixed(container):
                    return OneOf(path, self._fixed(container), self._by_row(node))
            case syntax.Call(function="startsWith", arguments=(operand, prefix)):
                path = self._row_path(operand)
                if path is not None and self._is_fixed(prefix):
                    return StartsWith(path, self._fixed(prefix), self._by_row(node))
            case syntax.Has(operand=operand, field_name=name):
                path = self._row_path(syntax.Select(operand, name))
                return Present(path) if path is not None else None
        path = self._row_path(node)
        return Flag(path) if path is not None else None

    def _is_fixed(self, node: SyntaxNode) -> bool:
        return all(path[0] != self._variable for path in reading.paths(node))

    def _row_path(self, node: SyntaxNode) -> tuple[str, ...] | None:
        path = reading.path_of(node)
        if path is None or path[0] != self._variable or len(path) == 1:
            return None
        plain = all(
            isinstance(part, syntax.Select | syntax.Variable | syntax.Constant)
            or (isinstance(part, syntax.Call) and part.function == "_[_]")
            for part in syntax.walk(node)
        )
        return path[1:] if plain else None

    def _fixed(self, node: SyntaxNode) -> Value:
        evaluate = exact.evaluator(node, self._program.callees)
        slots = self._program.slots
        return lambda query: evaluate(exact.Frame(query.bindings, slots, SELECTOR_STEPS))

    def _by_row(self, node: SyntaxNode) -> ByRow:
        return ByRow(self._test(node, True), self._test(node, False))

    def _test(self, node: SyntaxNode, wanted: bool) -> Test:
        evaluate = exact.evaluator(node, self._program.callees)
        slots = self._program.slots

        def exactly(bindings: Mapping[str, object]) -> bool:
            try:
                return evaluate(exact.Frame(bindings, slots, SELECTOR_STEPS)) is wanted
            except EvaluationError:
                return False

        return generate.truth_function(node, self._program.callees, exactly, wanted=wanted)


Value = Callable[[Query], object]


class Negation:
    def __init__(self, operand: SelectorPlan) -> None:
        self._operand = operand
        self.cost = operand.cost

    def true_rows(self, query: Query, candidates: int) -> int:
        return self._operand.false_rows(query, candidates)

    def false_rows(self, query: Query, candidates: int) -> int:
        return self._operand.true_rows(query, candidates)


class All:
    """`&&`; `||` is its negation over negated terms."""

    def __init__(self, terms: Iterable[SelectorPlan]) -> None:
        self._terms = sorted(terms, key=lambda term: term.cost)
        self.cost = self._terms[-1].cost

    def true_rows(self, query: Query, candidates: int) -> int:
        for term in self._terms:
            if not candidates:
                break
            candidates = term.true_rows(query, candidates)
        return candidates

    def false_rows(self, query: Query, candidates: int) -> int:
        rejected = 0
        for term in self._terms:
            rejected |= term.false_rows(query, candidates & ~rejected)
        return rejected


class Once:
    """A term that does not read the row."""

    cost = 0

    def __init__(self, value: Value) -> None:
        self._value = value

    def true_rows(self, query: Query, candidates: int) -> int:
        return candidates if self._is(query, True) else 0

    def false_rows(self, query: Query, candidates: int) -> int:
        return candidates if self._is(query, False) else 0

    def _is(self, query: Query, wanted: bool) -> bool:
        try:
            return self._value(query) is wanted
        except EvaluationError:
            return False


class OneOf:
    """A field that equals one of some values."""

    cost = 1

    def __init__(self, path: tuple[str, ...], members: Value, by_row: SelectorPlan) -> None:
        self._path = path
        self._members = members
        self._by_row = by_row

    def true_rows(self, query: Query, candidates: int) -> int:
        equal = self._equal(query)
        return self._by_row.true_rows(query, candidates) if equal is None else candidates & equal

    def false_rows(self, query: Query, candidates: int) -> int:
        equal = self._equal(query)
        if equal is None:
            return self._by_row.false_rows(query, candidates)
        return candidates & query.column(self._path).present & ~equal

    def _equal(self, query: Query) -> int | None:
        """None where the values are not such that rows could be looked up by them, or are in error."""
        try:
            members = self._members(query)
        except EvaluationError:
            return None
        if not isinstance(members, list | tuple) or not all(map(columns.is_indexed, members)):
            return None
        column = query.column(self._path)
        equal = 0
        for member in members:
            equal |= column.equal_to(member)
        return equal


class StartsWith:
    """A field that is a string with some prefix."""

    cost = 1

    def __init__(self, path: tuple[str, ...], prefix: Value, by_row: SelectorPlan) -> None:
        self._path = path
        self._prefix = prefix
        self._by_row = by_row

    def true_rows(self, query: Query, candidates: int) -> int:
        starting = self._starting(query)
        return self._by_row.true_rows(query, candidates) if starting is None else candidates & starting

    def false_rows(self, query: Query, candidates: int) -> int:
        starting = self._starting(query)
        if starting is None:
            return self._by_row.false_rows(query, candidates)
        return candidates & query.column(self._path).strings & ~starting

    def _starting(self, query: Query) -> int | None:
        try:
            prefix = self._prefix(query)
        except EvaluationError:
            return None
        if not isinstance(prefix, str):
            return None
        return query.column(self._path).starting_with(prefix, DISTINCT_LIMIT)


class Present:
    """`has(row.field)`."""

    cost = 1

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path

    def true_rows(self, query: Query, candidates: int) -> int:
        return candidates & query.column(self._path).present

    def false_rows(self, query: Query, candidates: int) -> int:
        column = query.column(self._path)
        return candidates & column.parents & ~column.present


class Flag:
    """A field that is a bool itself."""

    cost = 1

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path

    def true_rows(self, query: Query, candidates: int) -> int:
        return candidates & query.column(self._path).equal_to(True)

    def false_rows(self, query: Query, candidates: int) -> int:
        return candidates & query.column(self._path).equal_to(False)


class ByRow:
    """A term that is tried on each candidate."""

    cost = 2

    def __init__(self, is_true: Test, is_false: Test) -> None:
        self._is_true = is_true
        self._is_false = is_false

    def true_rows(self, query: Query, candidates: int) -> int:
        return query.passing(self._is_true, candidates)

    def false_rows(self, query: Query, candidates: int) -> int:
        return query.passing(self._is_false, candidates)
