"""Evaluation at the speed of Python, as generated source, for as long as no error is met.

Python's `and`, `or` and `if` agree with CEL whenever nothing fails: what a decided left side skips, CEL would absorb.
So the source is plain Python. Whatever goes wrong in it raises, and the caller turns to the exact evaluator.

A selector asks for less than a value: whether the expression is true. There an error in a term without logic of its
own just means that the term is not true, so that a missing key never needs the exact evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headgate.cel import syntax
from headgate.cel.calls import Callees
from headgate.cel.core import access, equality, values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import SELECTOR_STEPS, Meter
from headgate.cel.syntax import Loop, SyntaxNode

DEPTH_LIMIT = 60
"""Of nested parentheses, well below what the Python compiler takes."""

SHORT_LIST = 8
"""Members up to which a tuple is searched faster than a set."""

Fast = Callable[[Mapping[str, object], Meter], Any]
Test = Callable[[Mapping[str, object]], bool]

_INTEGER_FUNCTIONS = frozenset(("size", "_+_", "_-_", "_*_", "_/_", "_%_"))
_COMPARISONS = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_BOOL_FUNCTIONS = frozenset((*_COMPARISONS, "_==_", "_!=_", "@in", "!_", "_&&_", "_||_")) | frozenset(
    ("startsWith", "endsWith", "contains", "matches", "hasValue")
)
_ABSORBING = frozenset(("_&&_", "_||_"))


class NotGeneratedError(Exception):
    """The node is left to the exact evaluator."""


def value_function(root: SyntaxNode, callees: Callees) -> Fast | None:
    """The value of the expression, or any exception at all."""
    source = _Source(callees)
    try:
        body = source.value(root)
    except NotGeneratedError:
        return None
    function: Fast = source.compiled(f"def run(e, m):\n return {body}\n")
    return function


def truth_function(root: SyntaxNode, callees: Callees, exactly: Test, *, wanted: bool = True) -> Test:
    """Whether the expression is `wanted`, as `exactly` says where the source cannot."""
    source = _Source(callees)
    body: list[str] = []
    try:
        terms = syntax.terms(root, "_||_" if wanted else "_&&_")
        for term in terms:
            test = source.is_true(term) if wanted else source.is_false(term)
            body += _attempt(test, certain=not _absorbs(term, "_&&_" if wanted else "_||_"))
    except NotGeneratedError:
        return exactly
    lines = [
        "def run(e):",
        *([f" m = Meter({SELECTOR_STEPS})"] if source.metered else []),
        *body,
        " return False",
    ]
    source.names |= {"exactly": exactly, "Meter": Meter, "EvaluationError": EvaluationError}
    test_function: Test = source.compiled("\n".join(lines) + "\n")
    return test_function


def _attempt(test: str, *, certain: bool) -> list[str]:
    """One term of a disjunction; where an error in it decides nothing (`certain`), the next term is tried."""
    lines = [" try:", f"  if {test}: return True"]
    if certain:
        lines += [" except (KeyError, EvaluationError): pass"]
    return [*lines, " except Exception: return exactly(e)"]


def _absorbs(node: SyntaxNode, chain: str) -> bool:
    """Whether an error in the node can be outvoted by another part of it.

    In a conjunction that is to be true, or a disjunction that is to be false, none can: it takes all of its terms.
    An error in a bound value does not count where the name is not read.
    """
    return any(
        (isinstance(part, syntax.Call) and part.function in _ABSORBING)
        or (isinstance(part, syntax.Fold) and part.loop in (Loop.ALL, Loop.EXISTS))
        or isinstance(part, syntax.Bind)
        for term in syntax.terms(node, chain)
        for part in syntax.walk(term)
    )


class _Source:
    def __init__(self, callees: Callees) -> None:
        self._callees = callees
        self._depth = 0
        self._loops = 0
        self.metered = False
        self.names: dict[str, Any] = {
            "has": _has,
            "truth": access.truth,
            "equal": equality.equal,
            "is_member": _is_member,
            "size": access.size,
            "elements": access.elements,
            "pairs": access.pairs,
            "map_from": access.map_from,
            "merged": access.merged,
            "or_value": _or_value,
        }

    def compiled(self, text: str) -> Any:
        exec(compile(text, "<cel>", "exec"), self.names)
        return self.names["run"]

    def _named(self, value: object) -> str:
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def _meter(self) -> str:
        self.metered = True
        return "m"

    def is_true(self, node: SyntaxNode) -> str:
        """Source that is True if the node is true, and False if it is anything else."""
        match node:
            case syntax.Call(function="_&&_", arguments=(left, right)):
                return f"({self.is_true(left)} and {self.is_true(right)})"
            case syntax.Call(function="_||_", arguments=(left, right)):
                return f"({self.is_true(left)} or {self.is_true(right)})"
            case syntax.Call(function="!_", arguments=(operand,)):
                return self.is_false(operand)
        return self.value(node) if self._is_bool(node) else f"({self.value(node)} is True)"

    def is_false(self, node: SyntaxNode) -> str:
        match node:
            case syntax.Call(function="_&&_", arguments=(left, right)):
                return f"({self.is_false(left)} or {self.is_false(right)})"
            case syntax.Call(function="_||_", arguments=(left, right)):
                return f"({self.is_false(left)} and {self.is_false(right)})"
            case syntax.Call(function="!_", arguments=(operand,)):
                return self.is_true(operand)
        return f"(not {self.value(node)})" if self._is_bool(node) else f"({self.value(node)} is False)"

    def condition(self, node: SyntaxNode) -> str:
        """Source that is a bool or raises."""
        value = self.value(node)
        if self._is_bool(node):
            return value
        if _is_quick(node):
            return f"({value} is True or {value} is not False and truth({value}))"
        return f"truth({value})"

    def value(self, node: SyntaxNode) -> str:
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise NotGeneratedError
        try:
            return self._value(node)
        finally:
            self._depth -= 1

    def _value(self, node: SyntaxNode) -> str:
        match node:
            case syntax.Constant(value=value):
                return self._constant(value)
            case syntax.Variable(name=name):
                return f"e[{name!r}]"
            case syntax.Local(slot=slot):
                return f"v{slot}"
            case syntax.Select(operand=operand, field_name=name):
                return self._field(operand, name)
            case syntax.Has(operand=operand, field_name=name):
                return f"has({self.value(operand)}, {name!r})"
            case syntax.Call():
                return self._call(node)
            case syntax.ListLiteral(elements=elements, optional=optional) if not optional:
                return f"[{', '.join(self.value(each) for each in elements)}]"
            case syntax.MapLiteral(entries=entries) if not any(entry.optional for entry in entries):
                pairs = "".join(f"({self.value(entry.key)}, {self.value(entry.value)})," for entry in entries)
                return f"map_from(({pairs}))"
            case syntax.Bind(slot=slot, value=value, body=body) if not _is_costly(value):
                return f"(lambda v{slot}: {self.value(body)})({self.value(value)})"
            case syntax.Fold():
                return self._fold(node)
        raise NotGeneratedError

    def _field(self, operand: SyntaxNode, name: str) -> str:
        if _is_literal(operand) or isinstance(operand, syntax.Fold):
            raise NotGeneratedError  # never a map, and the Python compiler warns of it
        return f"{self.value(operand)}[{name!r}]"

    def _constant(self, value: object) -> str:
        if type(value) in (bool, str, bytes, type(None)) or (type(value) is int and value >= 0):
            return repr(value)
        return self._named(value)

    def _call(self, node: syntax.Call) -> str:
        if self._is_custom(node):
            return self._library_call(node)
        match node.function, node.arguments:
            case "_&&_", (left, right):
                return f"({self.condition(left)} and {self.condition(right)})"
            case "_||_", (left, right):
                return f"({self.condition(left)} or {self.condition(right)})"
            case "!_", (operand,):
                return f"(not {self.condition(operand)})"
            case "_?_:_", (condition, then, otherwise):
                return f"({self.value(then)} if {self.condition(condition)} else {self.value(otherwise)})"
            case "_==_", (left, right):
                return self._equality(left, right, "")
            case "_!=_", (left, right):
                return self._equality(left, right, "not ")
            case "_[_]", (operand, syntax.Constant(value=str(key))):
                return self._field(operand, key)
            case "@in", (element, syntax.ListLiteral() as container) if _distinctive(container):
                return self._membership(element, container)
            case (("startsWith" | "endsWith" as method), (operand, syntax.Constant(value=str(text)))):
                return f"str.{method.lower()}({self.value(operand)}, {text!r})"
            case "contains", (operand, syntax.Constant(value=str(text))) if not self._loops:
                return f"str.__contains__({self.value(operand)}, {text!r})"
            case "orValue", (operand, syntax.Constant(value=value)):
                return f"or_value({self.value(operand)}, {self._constant(value)})"
            case "size", (operand,):
                return f"size({self.value(operand)})"
            case (("or" | "orValue"), _):
                raise NotGeneratedError
        if node.function in _COMPARISONS and self._same_plain_type(*node.arguments):
            left, right = node.arguments
            return f"({self.value(left)} {_COMPARISONS[node.function]} {self.value(right)})"
        return self._library_call(node)

    def _library_call(self, node: syntax.Call) -> str:
        implementation = self._callees.implementation(node.function, node.member, len(node.arguments))
        arguments = [self.value(argument) for argument in node.arguments]
        if implementation.metered:
            arguments.insert(0, self._meter())
        return f"{self._named(implementation.call)}({', '.join(arguments)})"

    def _equality(self, left: SyntaxNode, right: SyntaxNode, negation: str) -> str:
        if isinstance(left, syntax.Constant):
            left, right = right, left
        if isinstance(right, syntax.Constant) and _is_distinctive(right.value) and not _is_literal(left):
            operator = "is" if right.value is None or isinstance(right.value, bool) else "=="
            test = f"{self.value(left)} {operator} {self._constant(right.value)}"
            return f"({negation}{test})" if negation else f"({test})"
        if self._same_plain_type(left, right):
            return f"({negation}{self.value(left)} == {self.value(right)})"
        return f"({negation}equal({self._meter()}, {self.value(left)}, {self.value(right)}))"

    def _membership(self, element: SyntaxNode, container: syntax.ListLiteral) -> str:
        members = tuple(each.value for each in container.elements if isinstance(each, syntax.Constant))
        if len(members) <= SHORT_LIST:
            return f"({self.value(element)} in {self._named(members)})"
        return f"is_member({self.value(element)}, {self._named(frozenset(members))})"

    def _is_custom(self, node: syntax.Call) -> bool:
        return self._callees.is_custom(node.function, node.member, len(node.arguments))

    def _is_bool(self, node: SyntaxNode) -> bool:
        """Whether what is generated for the node is a Python bool or an exception, so that it needs no check."""
        match node:
            case syntax.Has() | syntax.Constant(value=True | False):
                return True
            case syntax.Call(function=function):
                return function in _BOOL_FUNCTIONS and not self._is_custom(node)
            case syntax.Fold(loop=loop):
                return loop in (Loop.ALL, Loop.EXISTS, Loop.EXISTS_ONE)
        return False

    def _same_plain_type(self, left: SyntaxNode, right: SyntaxNode) -> bool:
        """Whether Python compares the two as CEL does, by their static types.

        Only what an operation made is believed: a variable may be bound to anything.
        """
        return left.type == right.type and self._is_made_integer(left) and self._is_made_integer(right)

    def _is_made_integer(self, node: SyntaxNode) -> bool:
        if node.type.name != "int":
            return False
        made = (
            isinstance(node, syntax.Call)
            and node.function in _INTEGER_FUNCTIONS
            and not self._is_custom(node)
        )
        return made or isinstance(node, syntax.Constant)

    def _fold(self, node: syntax.Fold) -> str:
        source = f"{self._meter()}, {self.value(node.source)}, {node.rounds_cost}"
        if len(node.slots) == 1:
            loop = f"for v{node.slots[0]} in elements({source})"
        else:
            loop = f"for v{node.slots[0]}, v{node.slots[1]} in pairs({source})"
        self._loops += 1
        made = self._loop(node, loop)
        self._loops -= 1
        return made

    def _loop(self, node: syntax.Fold, loop: str) -> str:
        condition = self.condition(node.condition) if node.condition is not None else ""
        chosen = f"{loop} if {condition}" if condition else loop
        match node.loop:
            case Loop.ALL:
                return f"all({condition} {loop})"
            case Loop.EXISTS:
                return f"any({condition} {loop})"
            case Loop.EXISTS_ONE:
                return f"(len([1 {chosen}]) == 1)"
            case Loop.LIST if node.item is not None:
                return f"[{self.value(node.item)} {chosen}]"
            case Loop.MAP if node.item is not None and node.key is not None:
                return f"map_from([({self.value(node.key)}, {self.value(node.item)}) {chosen}])"
            case Loop.MAP_ENTRIES if node.item is not None:
                return f"merged([{self.value(node.item)} {chosen}])"
        raise NotGeneratedError


def _is_distinctive(value: object) -> bool:
    """Whether Python's equality with this constant is CEL's, whatever the other side; 0 and 1 also equal bools."""
    if type(value) in (str, bytes, bool, type(None)):
        return True
    return isinstance(value, int | float) and value not in (0, 1) and abs(value) < 2**53


def _is_literal(node: SyntaxNode) -> bool:
    return isinstance(node, syntax.Constant | syntax.ListLiteral)


def _distinctive(container: syntax.ListLiteral) -> bool:
    return not container.optional and all(
        isinstance(each, syntax.Constant) and _is_distinctive(each.value) and not isinstance(each.value, bool)
        for each in container.elements
    )


def _is_costly(node: SyntaxNode) -> bool:
    """A bound value is evaluated only when it is used; one that does not matter for its cost may be evaluated anyway."""
    return any(isinstance(part, syntax.Fold) for part in syntax.walk(node))


def _is_quick(node: SyntaxNode) -> bool:
    """Whether reading the node again takes less time than a call."""
    match node:
        case syntax.Local() | syntax.Select(operand=syntax.Local() | syntax.Select(operand=syntax.Local())):
            return True
    return False


def _has(operand: object, name: str) -> bool:
    return name in operand if type(operand) is dict else access.has_field(operand, name)


def _is_member(element: object, members: frozenset[object]) -> bool:
    try:
        return element in members
    except TypeError:
        return False


def _or_value(operand: object, otherwise: object) -> object:
    if isinstance(operand, values.Optional):
        return operand.content if operand.present else otherwise
    raise values.no_overload("orValue", operand)
