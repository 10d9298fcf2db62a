"""What an expression reads and calls, found without evaluating it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headgate.cel import syntax
from headgate.cel.core.errors import EvaluationError
from headgate.cel.library import times
from headgate.cel.syntax import SyntaxNode

Path = tuple[str, ...]

_KEYED = frozenset(("_[_]", "_?._", "_[?_]"))
_WRITTEN_NAMES = {"math.@max": "math.greatest", "math.@min": "math.least", "@sortByAssociatedKeys": "sortBy"}


def path_of(node: SyntaxNode) -> Path | None:
    """The field path that the node is, such as ('resource', 'metadata', 'cluster')."""
    names: list[str] = []
    while True:
        match node:
            case syntax.Variable(name=name):
                names.append(name)
                return tuple(reversed(names))
            case (
                syntax.Select(operand=operand, field_name=name) | syntax.Has(operand=operand, field_name=name)
            ):
                names.append(name)
                node = operand
            case syntax.Call(function=function, arguments=(operand, syntax.Constant(value=str(name)))):
                if function not in _KEYED:
                    return None
                names.append(name)
                node = operand
            case _:
                return None


def paths(root: SyntaxNode) -> frozenset[Path]:
    """The longest paths read. An index that is not a constant string ends a path."""
    return frozenset(_paths(root))


def _paths(root: SyntaxNode) -> Iterator[Path]:
    pending = [root]
    while pending:
        node = pending.pop()
        path = path_of(node)
        if path is not None:
            yield path
        else:
            pending.extend(node.children())


def functions(root: SyntaxNode) -> frozenset[str]:
    """The names of functions and methods as an author writes them, without operators and macros."""
    called = {node.function for node in syntax.walk(root) if isinstance(node, syntax.Call)}
    written = {_WRITTEN_NAMES.get(name, name) for name in called}
    return frozenset(name for name in written if name[0].isalpha())


def timestamps(root: SyntaxNode) -> tuple[datetime, ...]:
    """The timestamps written as literals, in order of time."""
    moments = set()
    for node in syntax.walk(root):
        match node:
            case syntax.Call(function="timestamp", arguments=(syntax.Constant(value=str(text)),)):
                try:
                    moments.add(times.parsed_timestamp(text))
                except EvaluationError:
                    continue
    return tuple(sorted(moments))
