"""The tree of an expression, with macros folded back to what the author wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from headgate.cel.types import DYN, Type


@dataclass(slots=True, eq=False, kw_only=True)
class SyntaxNode:
    position: int = 0
    """Offset in the source text, in characters."""
    type: Type = field(default=DYN)

    def children(self) -> Iterator[SyntaxNode]:
        return iter(())


@dataclass(slots=True, eq=False)
class Constant(SyntaxNode):
    value: object


@dataclass(slots=True, eq=False)
class Variable(SyntaxNode):
    """A variable of the environment."""

    name: str


@dataclass(slots=True, eq=False)
class Local(SyntaxNode):
    """A variable of a macro; every macro variable of an expression has a slot of its own."""

    slot: int


@dataclass(slots=True, eq=False)
class Select(SyntaxNode):
    operand: SyntaxNode
    field_name: str

    def children(self) -> Iterator[SyntaxNode]:
        yield self.operand


@dataclass(slots=True, eq=False)
class Has(SyntaxNode):
    operand: SyntaxNode
    field_name: str

    def children(self) -> Iterator[SyntaxNode]:
        yield self.operand


@dataclass(slots=True, eq=False)
class Call(SyntaxNode):
    """A function, method or operator; the receiver of a method is the first argument."""

    function: str
    arguments: tuple[SyntaxNode, ...]
    member: bool = False

    def children(self) -> Iterator[SyntaxNode]:
        return iter(self.arguments)


@dataclass(slots=True, eq=False)
class ListLiteral(SyntaxNode):
    elements: tuple[SyntaxNode, ...]
    optional: frozenset[int] = frozenset()
    """Places of the elements written `?x`, which are left out when absent."""

    def children(self) -> Iterator[SyntaxNode]:
        return iter(self.elements)


@dataclass(slots=True, eq=False)
class MapEntry:
    key: SyntaxNode
    value: SyntaxNode
    optional: bool


@dataclass(slots=True, eq=False)
class MapLiteral(SyntaxNode):
    entries: tuple[MapEntry, ...]

    def children(self) -> Iterator[SyntaxNode]:
        for entry in self.entries:
            yield entry.key
            yield entry.value


@dataclass(slots=True, eq=False)
class Bind(SyntaxNode):
    """`cel.bind(name, value, body)`."""

    slot: int
    value: SyntaxNode
    body: SyntaxNode

    def children(self) -> Iterator[SyntaxNode]:
        yield self.value
        yield self.body


class Loop(Enum):
    ALL = "all"
    EXISTS = "exists"
    EXISTS_ONE = "exists_one"
    LIST = "list"
    MAP = "map"
    MAP_ENTRIES = "map entries"


@dataclass(slots=True, eq=False)
class Fold(SyntaxNode):
    """A macro that walks a list or a map.

    ALL, EXISTS and EXISTS_ONE have a condition; LIST, MAP and MAP_ENTRIES may have one. LIST makes `item`, MAP an
    entry of `key` and `item`, MAP_ENTRIES all entries of the map `item`.
    """

    loop: Loop
    source: SyntaxNode
    slots: tuple[int, ...]
    """One slot: the element or the key. Two: index or key, and value."""
    condition: SyntaxNode | None = None
    item: SyntaxNode | None = None
    key: SyntaxNode | None = None
    rounds_cost: int = 1

    def children(self) -> Iterator[SyntaxNode]:
        yield self.source
        yield from self.body()

    def body(self) -> Iterator[SyntaxNode]:
        for part in (self.condition, self.key, self.item):
            if part is not None:
                yield part


def walk(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """The node and all below it."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(current.children())


def operator(node: SyntaxNode, function: str) -> tuple[SyntaxNode, ...] | None:
    """The arguments, if the node is a call of that function."""
    return node.arguments if isinstance(node, Call) and node.function == function else None


def terms(node: SyntaxNode, function: str) -> list[SyntaxNode]:
    """The operands of a chain of one associative operator, left to right."""
    operands: list[SyntaxNode] = []
    pending = [node]
    while pending:
        current = pending.pop()
        arguments = operator(current, function)
        if arguments is None:
            operands.append(current)
        else:
            pending.extend(reversed(arguments))
    return operands
