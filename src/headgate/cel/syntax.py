"""The tree of an expression, with macros folded back to what the author wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from headgate.cel.types import DYN, Type


@dataclass(slots=True, eq=False, kw_only=True)
class Node:
    position: int = 0
    """Offset in the source text, in characters."""
    type: Type = field(default=DYN)

    def children(self) -> Iterator[Node]:
        return iter(())


@dataclass(slots=True, eq=False)
class Constant(Node):
    value: object


@dataclass(slots=True, eq=False)
class Variable(Node):
    """A variable of the environment."""

    name: str


@dataclass(slots=True, eq=False)
class Local(Node):
    """A variable of a macro; every macro variable of an expression has a slot of its own."""

    slot: int


@dataclass(slots=True, eq=False)
class Select(Node):
    operand: Node
    field_name: str

    def children(self) -> Iterator[Node]:
        yield self.operand


@dataclass(slots=True, eq=False)
class Has(Node):
    operand: Node
    field_name: str

    def children(self) -> Iterator[Node]:
        yield self.operand


@dataclass(slots=True, eq=False)
class Call(Node):
    """A function, method or operator; the receiver of a method is the first argument."""

    function: str
    arguments: tuple[Node, ...]
    member: bool = False

    def children(self) -> Iterator[Node]:
        return iter(self.arguments)


@dataclass(slots=True, eq=False)
class ListLiteral(Node):
    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()
    """Places of the elements written `?x`, which are left out when absent."""

    def children(self) -> Iterator[Node]:
        return iter(self.elements)


@dataclass(slots=True, eq=False)
class Entry:
    key: Node
    value: Node
    optional: bool


@dataclass(slots=True, eq=False)
class MapLiteral(Node):
    entries: tuple[Entry, ...]

    def children(self) -> Iterator[Node]:
        for entry in self.entries:
            yield entry.key
            yield entry.value


@dataclass(slots=True, eq=False)
class Bind(Node):
    """`cel.bind(name, value, body)`."""

    slot: int
    value: Node
    body: Node

    def children(self) -> Iterator[Node]:
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
class Fold(Node):
    """A macro that walks a list or a map.

    ALL, EXISTS and EXISTS_ONE have a condition; LIST, MAP and MAP_ENTRIES may have one. LIST makes `item`, MAP an
    entry of `key` and `item`, MAP_ENTRIES all entries of the map `item`.
    """

    loop: Loop
    source: Node
    slots: tuple[int, ...]
    """One slot: the element or the key. Two: index or key, and value."""
    condition: Node | None = None
    item: Node | None = None
    key: Node | None = None
    rounds_cost: int = 1

    def children(self) -> Iterator[Node]:
        yield self.source
        yield from self.body()

    def body(self) -> Iterator[Node]:
        for part in (self.condition, self.key, self.item):
            if part is not None:
                yield part


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(current.children())


def operator(node: Node, function: str) -> tuple[Node, ...] | None:
    """The arguments, if the node is a call of that function."""
    return node.arguments if isinstance(node, Call) and node.function == function else None


def terms(node: Node, function: str) -> list[Node]:
    """The operands of a chain of one associative operator, left to right."""
    found: list[Node] = []
    pending = [node]
    while pending:
        current = pending.pop()
        arguments = operator(current, function)
        if arguments is None:
            found.append(current)
        else:
            pending.extend(reversed(arguments))
    return found
