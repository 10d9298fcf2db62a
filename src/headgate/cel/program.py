"""A compiled expression, and the selector that asks one for true or false."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from headgate.cel import exact, generate, reading, syntax
from headgate.cel.calls import Callees
from headgate.cel.core import access
from headgate.cel.core.errors import BudgetExceeded, EvaluationError
from headgate.cel.core.meter import DEFAULT_STEPS, SELECTOR_STEPS, Meter
from headgate.cel.syntax import SyntaxNode


class Program:
    """One expression of one environment. It holds no state of any evaluation."""

    def __init__(self, text: str, root: SyntaxNode, slots: int, callees: Callees) -> None:
        self.text = text
        self.root = root
        self.callees = callees
        self.result_type = str(root.type)
        self.slots = slots
        self._cost = _cost_outside_loops(root)

    def __repr__(self) -> str:
        return f"Program({self.text!r})"

    @cached_property
    def paths(self) -> frozenset[reading.Path]:
        return reading.paths(self.root)

    @cached_property
    def roots(self) -> frozenset[str]:
        return frozenset(path[0] for path in self.paths)

    @cached_property
    def functions(self) -> frozenset[str]:
        return reading.functions(self.root)

    @cached_property
    def timestamps(self) -> tuple[datetime, ...]:
        return reading.timestamps(self.root)

    @cached_property
    def _fast(self) -> generate.Fast | None:
        return generate.value_function(self.root, self.callees)

    @cached_property
    def _exact(self) -> exact.Evaluator:
        return exact.evaluator(self.root, self.callees)

    def evaluate(self, bindings: Mapping[str, object], *, steps: int = DEFAULT_STEPS) -> object:
        return self.evaluate_within(bindings, Meter(steps))

    def evaluate_within(self, bindings: Mapping[str, object], meter: Meter) -> object:
        """What is left of the meter may be used by others afterwards."""
        steps = meter.remaining
        if self._fast is not None and self._cost <= steps:
            meter.remaining -= self._cost
            try:
                return self._fast(bindings, meter)
            except BudgetExceeded:
                raise
            except Exception:  # whatever it was, the exact evaluator says what it means
                pass
        frame = exact.Frame(bindings, self.slots, steps)
        frame.limit = meter.limit
        try:
            frame.charge(self._cost)
            return self._exact(frame)
        finally:
            meter.remaining = frame.remaining

    def evaluate_counted(
        self, bindings: Mapping[str, object], *, steps: int = DEFAULT_STEPS
    ) -> tuple[object, int]:
        """The value and the steps that it took."""
        frame = exact.Frame(bindings, self.slots, steps)
        frame.charge(self._cost)
        return self._exact(frame), frame.used


class Selector:
    """An expression that is true of some things."""

    __slots__ = ("matches", "paths", "plans", "program", "roots", "text")

    matches: Callable[[Mapping[str, object]], bool]
    """Whether the expression is true. An error, such as a missing key, or a value that is no bool is false."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.text = program.text
        self.paths = program.paths
        self.roots = program.roots
        self.plans: dict[str, Any] = {}
        self.matches = generate.truth_function(program.root, program.callees, self._matches_exactly)

    def __repr__(self) -> str:
        return f"Selector({self.text!r})"

    def judge(self, bindings: Mapping[str, object]) -> bool:
        """As `matches`, but what goes wrong is raised as an EvaluationError."""
        return access.truth(self.program.evaluate(bindings, steps=SELECTOR_STEPS))

    def _matches_exactly(self, bindings: Mapping[str, object]) -> bool:
        try:
            return self.program.evaluate_counted(bindings, steps=SELECTOR_STEPS)[0] is True
        except EvaluationError:
            return False


def _cost_outside_loops(root: SyntaxNode) -> int:
    pending, cost = [root], 0
    while pending:
        node = pending.pop()
        cost += 1
        pending.extend((node.source,) if isinstance(node, syntax.Fold) else node.children())
    return cost
