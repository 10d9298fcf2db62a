"""Which variables and functions expressions may use, and the programs compiled for them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

from headgate.cel import decode, library, literals
from headgate.cel.calls import Callees, custom_by_shape
from headgate.cel.core.errors import CompileError, SyntaxProblem
from headgate.cel.frontend import FrontEnd
from headgate.cel.functions import Function
from headgate.cel.program import Program, Selector
from headgate.cel.types import BOOL, Type

CACHED_PROGRAMS = 10_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class CelEnvironment:
    """Immutable. The same text compiles once; programs and selectors may be shared freely.

    With `boolean_words`, AND, OR and NOT outside string literals mean &&, || and !. With `mixed_numbers`, integers
    and doubles mix in arithmetic and comparisons, the result being a double.
    """

    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Sequence[Function] = (),
        *,
        boolean_words: bool = True,
        mixed_numbers: bool = False,
        container: str = "",
    ) -> None:
        self.variables = dict(variables)
        self.functions = tuple(functions)
        self._boolean_words = boolean_words
        self._container = container
        self._front_end = FrontEnd(
            self.variables, self.functions, mixed_numbers=mixed_numbers, container=container
        )
        standard = library.MIXED_NUMBERS if mixed_numbers else library.STANDARD
        self._callees = Callees(standard, custom_by_shape(self.functions))
        self._programs: dict[tuple[str, bool], Program] = {}
        self._selectors: dict[str, Selector] = {}

    def compile(self, text: str, *, expect: Type | None = None, check: bool = True) -> Program:
        """Raises CompileError, with every problem found. `check=False` leaves types to the evaluation."""
        program = self._programs.get((text, check))
        if program is None:
            program = self._compiled(text, check)
            _remember(self._programs, (text, check), program)
        if expect is not None and program.root.type.name not in (expect.name, "dyn"):
            message = f"the expression gives {program.result_type}; {expect} is needed here"
            raise CompileError(text, (SyntaxProblem(message, 1, 1),))
        return program

    def selector(self, text: str) -> Selector:
        selector = self._selectors.get(text)
        if selector is None:
            selector = Selector(self.compile(text, expect=BOOL))
            _remember(self._selectors, text, selector)
        return selector

    def _compiled(self, text: str, check: bool) -> Program:
        serialized = self._front_end.serialized(text, boolean_words=self._boolean_words, check=check)
        try:
            root, slots = decode.tree(serialized, self.variables, self._container)
            literals.refuse_malformed(root)
            return Program(text, root, slots, self._callees)
        except decode.RefusalError as refusal:
            raise CompileError(text, (_problem(text, refusal),)) from None
        except RecursionError:
            raise CompileError(text, (SyntaxProblem("the expression nests too deep", 1, 1),)) from None


def _problem(text: str, refusal: decode.RefusalError) -> SyntaxProblem:
    before = text[: refusal.position]
    line = before.count("\n") + 1
    return SyntaxProblem(refusal.message, line, refusal.position - (before.rfind("\n") + 1) + 1)


def _remember(cache: dict[Key, Value], key: Key, value: Value) -> None:
    """Drops an old entry of a full cache. Several threads may do so at once, and some in vain."""
    if len(cache) >= CACHED_PROGRAMS:
        with contextlib.suppress(KeyError, RuntimeError):
            del cache[next(iter(cache))]
    cache[key] = value
