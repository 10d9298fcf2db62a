"""From the serialized expression of the front end to our tree.

The front end expands macros into general loops over an accumulator. An author can only write macros, so the set of
shapes is closed: each is recognised here and becomes a `Fold` or a `Bind`, which evaluate without the accumulator.
"""

from __future__ import annotations

from collections.abc import Mapping

from headgate.cel import syntax, wire
from headgate.cel.core import values
from headgate.cel.syntax import Loop, SyntaxNode
from headgate.cel.types import DYN, Type

NODES_LIMIT = 20_000
DEPTH_LIMIT = 250
LOOPS_LIMIT = 8

_TYPE_NAMES = frozenset(
    ("bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type", "optional_type")
)
_WELL_KNOWN_TYPE_NAMES = frozenset((values.TIMESTAMP, values.DURATION))


class RefusalError(Exception):
    """Why the tree is not accepted, and where."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def tree(serialized: bytes, declared: Mapping[str, Type], container: str = "") -> tuple[SyntaxNode, int]:
    """The root and the number of slots that its macro variables need."""
    outer = wire.message(serialized)
    decoder = _Decoder(wire.message(wire.octets(outer, 2)), wire.text(outer, 1), declared, container)
    root = decoder.node(decoder.root, {}, 0, 0)
    return root, decoder.slots


class _Decoder:
    def __init__(self, body: wire.Message, schema: str, declared: Mapping[str, Type], container: str) -> None:
        checked = schema.endswith("CheckedExpr")
        self.root = wire.octets(body, 4 if checked else 2)
        self.checked = checked
        self.declared = declared
        self.container = container
        self.slots = 0
        self.nodes = 0
        source = wire.message(wire.octets(body, 5 if checked else 3))
        self.positions = _number_map(wire.all_octets(source, 4))
        self.references = _message_map(wire.all_octets(body, 2)) if checked else {}
        self.types = _message_map(wire.all_octets(body, 3)) if checked else {}

    def node(self, data: bytes, scope: Mapping[str, int], depth: int, loops: int) -> SyntaxNode:
        fields = wire.message(data)
        identity = wire.number(fields, 2)
        position = self.positions.get(identity, 0)
        self.nodes += 1
        if self.nodes > NODES_LIMIT:
            raise RefusalError(f"the expression has more than {NODES_LIMIT} parts", position)
        if depth > DEPTH_LIMIT:
            raise RefusalError(f"the expression nests more than {DEPTH_LIMIT} levels deep", position)
        made = self._made(fields, identity, scope, depth + 1, loops)
        made.position = position
        if identity in self.types:
            made.type = static_type(self.types[identity])
        return made

    def _made(
        self, fields: wire.Message, identity: int, scope: Mapping[str, int], depth: int, loops: int
    ) -> SyntaxNode:
        if 3 in fields:
            return syntax.Constant(_constant(wire.message(wire.octets(fields, 3))))
        if 4 in fields:
            return self._identifier(wire.text(wire.message(wire.octets(fields, 4)), 1), identity, scope)
        if 5 in fields:
            return self._select(wire.message(wire.octets(fields, 5)), identity, scope, depth, loops)
        if 6 in fields:
            return self._call(wire.message(wire.octets(fields, 6)), scope, depth, loops)
        if 7 in fields:
            body = wire.message(wire.octets(fields, 7))
            elements = tuple(self.node(each, scope, depth, loops) for each in wire.all_octets(body, 1))
            optional = frozenset(place for each in wire.all_octets(body, 2) for place in wire.packed(each))
            return syntax.ListLiteral(elements, optional)
        if 8 in fields:
            return self._map(wire.message(wire.octets(fields, 8)), identity, scope, depth, loops)
        if 9 in fields:
            return self._loop(wire.message(wire.octets(fields, 9)), identity, scope, depth, loops)
        raise RefusalError("the expression has a part of an unknown kind", self.positions.get(identity, 0))

    def _identifier(self, name: str, identity: int, scope: Mapping[str, int]) -> SyntaxNode:
        if name in scope:
            return syntax.Local(scope[name])
        if identity in self.references:
            name = wire.text(self.references[identity], 1).removeprefix(".")
        elif not self.checked:
            name = self._resolved(name) or name.removeprefix(".")
        return _variable_or_type(name, self.declared)

    def _resolved(self, name: str) -> str | None:
        """An unchecked name by the container's rules: the innermost namespace that declares it wins."""
        if name.startswith("."):
            return name[1:] if name[1:] in self.declared else None
        namespace = self.container
        while namespace:
            if f"{namespace}.{name}" in self.declared:
                return f"{namespace}.{name}"
            namespace = namespace.rpartition(".")[0]
        return name if name in self.declared else None

    def _select(
        self, body: wire.Message, identity: int, scope: Mapping[str, int], depth: int, loops: int
    ) -> SyntaxNode:
        field_name = wire.text(body, 2)
        if identity in self.references:
            name = wire.text(self.references[identity], 1).removeprefix(".")
            return _variable_or_type(name, self.declared)
        if not self.checked:
            qualified = _qualified_name(wire.octets(body, 1))
            if qualified is not None and qualified.split(".")[0] not in scope:
                name = f"{qualified}.{field_name}"
                resolved = self._resolved(name)
                if resolved is not None or name in _WELL_KNOWN_TYPE_NAMES:
                    return _variable_or_type(resolved or name, self.declared)
        operand = self.node(wire.octets(body, 1), scope, depth, loops)
        made = syntax.Has if wire.number(body, 3) else syntax.Select
        return made(operand, field_name)

    def _call(self, body: wire.Message, scope: Mapping[str, int], depth: int, loops: int) -> SyntaxNode:
        function = wire.text(body, 2)
        arguments = [self.node(each, scope, depth, loops) for each in wire.all_octets(body, 3)]
        if 1 not in body:
            return syntax.Call(function, tuple(arguments))
        target = wire.octets(body, 1)
        namespace = None if self.checked else _qualified_name(target)
        if namespace in ("math", "lists", "sets", "strings", "base64", "regex", "optional"):
            return syntax.Call(f"{namespace}.{function}", tuple(arguments))
        receiver = self.node(target, scope, depth, loops)
        return syntax.Call(function, (receiver, *arguments), member=True)

    def _map(
        self, body: wire.Message, identity: int, scope: Mapping[str, int], depth: int, loops: int
    ) -> SyntaxNode:
        name = wire.text(body, 1)
        if name:
            raise RefusalError(
                f"messages such as {name}{{...}} are not available", self.positions.get(identity, 0)
            )
        entries = []
        for data in wire.all_octets(body, 2):
            entry = wire.message(data)
            key = self.node(wire.octets(entry, 3), scope, depth, loops)
            value = self.node(wire.octets(entry, 4), scope, depth, loops)
            entries.append(syntax.MapEntry(key, value, bool(wire.number(entry, 5))))
        return syntax.MapLiteral(tuple(entries))

    def _slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def _loop(
        self, body: wire.Message, identity: int, scope: Mapping[str, int], depth: int, loops: int
    ) -> SyntaxNode:
        accumulator = wire.text(body, 3)
        if wire.text(body, 1) == "#unused":
            value = self.node(wire.octets(body, 4), scope, depth, loops)
            slot = self._slot()
            bound = self.node(wire.octets(body, 7), {**scope, accumulator: slot}, depth, loops)
            return syntax.Bind(slot, value, bound)
        if loops >= LOOPS_LIMIT:
            message = f"macros over lists and maps nest more than {LOOPS_LIMIT} deep"
            raise RefusalError(message, self.positions.get(identity, 0))
        source = self.node(wire.octets(body, 2), scope, depth, loops)
        names = [name for name in (wire.text(body, 1), wire.text(body, 8)) if name]
        slots = {name: self._slot() for name in names}
        result = self._slot()
        inner = {**scope, **slots, accumulator: result}
        step = self.node(wire.octets(body, 6), inner, depth, loops + 1)
        fold = _fold(source, tuple(slots.values()), step, wire.octets(body, 4), result)
        if fold is None:
            raise RefusalError(
                "the expression has a macro of an unknown kind", self.positions.get(identity, 0)
            )
        fold.rounds_cost = 1 + sum(1 for part in fold.body() for _ in syntax.walk(part))
        return fold


def _fold(
    source: SyntaxNode, slots: tuple[int, ...], step: SyntaxNode, initial: bytes, result: int
) -> syntax.Fold | None:
    if (arguments := syntax.operator(step, "_&&_")) is not None:
        return syntax.Fold(Loop.ALL, source, slots, condition=arguments[1])
    if (arguments := syntax.operator(step, "_||_")) is not None:
        return syntax.Fold(Loop.EXISTS, source, slots, condition=arguments[1])
    condition = None
    if (arguments := syntax.operator(step, "_?_:_")) is not None:
        condition, step = arguments[0], arguments[1]
    if (arguments := syntax.operator(step, "cel.@mapInsert")) is not None:
        if len(arguments) == 2:
            return syntax.Fold(Loop.MAP_ENTRIES, source, slots, condition, item=arguments[1])
        return syntax.Fold(Loop.MAP, source, slots, condition, item=arguments[2], key=arguments[1])
    arguments = syntax.operator(step, "_+_")
    if arguments is None or not (isinstance(arguments[0], syntax.Local) and arguments[0].slot == result):
        return None
    if 7 in wire.message(initial):
        element = arguments[1]
        if isinstance(element, syntax.ListLiteral) and len(element.elements) == 1:
            return syntax.Fold(Loop.LIST, source, slots, condition, item=element.elements[0])
        return None
    return syntax.Fold(Loop.EXISTS_ONE, source, slots, condition)


def _variable_or_type(name: str, declared: Mapping[str, Type]) -> SyntaxNode:
    if name not in declared and (name in _TYPE_NAMES or name in _WELL_KNOWN_TYPE_NAMES):
        return syntax.Constant(values.TypeValue(name))
    return syntax.Variable(name)


def _qualified_name(data: bytes) -> str | None:
    """`a.b.c` if the expression is nothing but that."""
    fields = wire.message(data)
    if 4 in fields:
        return wire.text(wire.message(wire.octets(fields, 4)), 1)
    if 5 in fields:
        select = wire.message(wire.octets(fields, 5))
        operand = _qualified_name(wire.octets(select, 1))
        return None if operand is None or wire.number(select, 3) else f"{operand}.{wire.text(select, 2)}"
    return None


def _constant(fields: wire.Message) -> object:
    if 2 in fields:
        return bool(wire.number(fields, 2))
    if 3 in fields:
        return wire.signed(wire.number(fields, 3))
    if 4 in fields:
        return values.Uint(wire.number(fields, 4))
    if 5 in fields:
        return wire.double(wire.octets(fields, 5))
    if 6 in fields:
        return wire.text(fields, 6)
    if 7 in fields:
        return wire.octets(fields, 7)
    return None


def _message_map(entries: list[bytes]) -> dict[int, wire.Message]:
    pairs = (wire.message(entry) for entry in entries)
    return {wire.number(pair, 1): wire.message(wire.octets(pair, 2)) for pair in pairs}


def _number_map(entries: list[bytes]) -> dict[int, int]:
    pairs = (wire.message(entry) for entry in entries)
    return {wire.number(pair, 1): wire.number(pair, 2) for pair in pairs}


_PRIMITIVES = ("dyn", "bool", "int", "uint", "double", "string", "bytes")
_SIMPLE_TYPES = {name: Type(name) for name in (*_PRIMITIVES, "any", "timestamp", "duration", "null", "type")}


def static_type(fields: wire.Message) -> Type:
    if 3 in fields or 4 in fields:
        return _SIMPLE_TYPES[_PRIMITIVES[wire.number(fields, 3) or wire.number(fields, 4)]]
    if 5 in fields:
        return _SIMPLE_TYPES[("dyn", "any", "timestamp", "duration")[wire.number(fields, 5)]]
    if 2 in fields:
        return _SIMPLE_TYPES["null"]
    if 6 in fields:
        return Type("list", _inner_types(wire.octets(fields, 6), 1))
    if 7 in fields:
        return Type("map", _inner_types(wire.octets(fields, 7), 1, 2))
    if 11 in fields:
        return _SIMPLE_TYPES["type"]
    if 14 in fields:
        abstract = wire.message(wire.octets(fields, 14))
        parameters = tuple(static_type(wire.message(each)) for each in wire.all_octets(abstract, 2))
        return Type(wire.text(abstract, 1).removesuffix("_type"), parameters)
    return DYN


def _inner_types(data: bytes, *numbers: int) -> tuple[Type, ...]:
    fields = wire.message(data)
    return tuple(static_type(wire.message(wire.octets(fields, number))) for number in numbers)
