"""When the passing of time alone can change what an expression gives."""

from __future__ import annotations

from datetime import datetime

from headgate.cel import syntax
from headgate.cel.core.errors import EvaluationError
from headgate.cel.library import times
from headgate.cel.program import Program
from headgate.cel.syntax import SyntaxNode
from headgate.kernel import instants
from headgate.kernel.instants import Instant

VARIABLE = "now"
_COMPARISONS = frozenset(("_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"))


def next_change(program: Program, now: Instant) -> Instant | None:
    """At the constants that `now` is compared with; once a minute if anything else is done with it."""
    if VARIABLE not in program.roots:
        return None
    constants = _constants(program.root)
    if constants is None:
        return steady(program, now) + instants.minutes(1)
    # A comparison with > or <= changes just after its constant.
    ahead = [moment for moment in map(instants.from_datetime, constants) if moment >= now]
    return min((moment if moment > now else moment + 1 for moment in ahead), default=None)


def steady(program: Program, now: Instant) -> Instant:
    """The moment to show to the expression: whole minutes where it is looked at once a minute, so that its value
    does not depend on who asks in between."""
    if VARIABLE not in program.roots or _constants(program.root) is not None:
        return now
    return now - now % instants.minutes(1)


def _constants(root: SyntaxNode) -> list[datetime] | None:
    """What `now` is compared with, or None if it is used in any other way."""
    constants: list[datetime] = []
    uses = 0
    for node in syntax.walk(root):
        if isinstance(node, syntax.Variable) and node.name == VARIABLE:
            uses += 1
        elif isinstance(node, syntax.Call) and node.function in _COMPARISONS:
            constant = _compared_with_now(node.arguments)
            if constant is not None:
                constants.append(constant)
    return constants if uses == len(constants) else None


def _compared_with_now(arguments: tuple[SyntaxNode, ...]) -> datetime | None:
    match arguments:
        case (syntax.Variable(name=name), other) | (other, syntax.Variable(name=name)) if name == VARIABLE:
            return _constant(other)
    return None


def _constant(node: SyntaxNode) -> datetime | None:
    match node:
        case syntax.Call(function="timestamp", arguments=(syntax.Constant(value=str(text)),)):
            try:
                return times.parsed_timestamp(text)
            except EvaluationError:
                return None
    return None
