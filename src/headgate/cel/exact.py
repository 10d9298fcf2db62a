"""Evaluation with the exact error semantics of CEL, as a tree of closures.

A run-time error is an EvaluationError. `&&` and `||` absorb it when the other side decides, `all` and `exists` when
another element decides, `?:` evaluates one branch only; everything else is strict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headgate.cel import syntax
from headgate.cel.calls import Callees
from headgate.cel.core import access, values
from headgate.cel.core.errors import BudgetExceeded, EvaluationError, MissingKey
from headgate.cel.core.meter import Meter
from headgate.cel.core.values import Optional
from headgate.cel.syntax import Loop, SyntaxNode


class Frame(Meter):
    """The state of one evaluation."""

    __slots__ = ("bindings", "slots")

    def __init__(self, bindings: Mapping[str, object], slots: int, steps: int) -> None:
        super().__init__(steps)
        self.bindings = bindings
        self.slots: list[Any] = [None] * slots


Evaluator = Callable[[Frame], Any]


def evaluator(node: SyntaxNode, callees: Callees) -> Evaluator:
    build = _ExactBuilder(callees).build(node)

    def evaluate(frame: Frame) -> object:
        try:
            return build(frame)
        except RecursionError:
            raise BudgetExceeded("a value nests too deep to be evaluated") from None

    return evaluate


class _ExactBuilder:
    def __init__(self, callees: Callees) -> None:
        self._callees = callees
        self._bound: dict[int, Evaluator] = {}

    def build(self, node: SyntaxNode) -> Evaluator:
        match node:
            case syntax.Constant(value=value):
                return lambda frame: value
            case syntax.Variable(name=name):
                return _variable(name)
            case syntax.Local(slot=slot):
                return self._local(slot)
            case syntax.Select(operand=operand, field_name=name):
                return _select(self.build(operand), name)
            case syntax.Has(operand=operand, field_name=name):
                return _has(self.build(operand), name)
            case syntax.Call():
                return self._call(node)
            case syntax.ListLiteral(elements=elements, optional=optional):
                return _list([self.build(each) for each in elements], optional)
            case syntax.MapLiteral(entries=entries):
                return _map(
                    [(self.build(each.key), self.build(each.value), each.optional) for each in entries]
                )
            case syntax.Bind():
                return self._bind(node)
            case syntax.Fold():
                return self._fold(node)
        raise AssertionError(node)

    def _call(self, node: syntax.Call) -> Evaluator:
        arguments = [self.build(each) for each in node.arguments]
        match node.function, arguments:
            case "_&&_", [left, right]:
                return _decided_by(False, left, right)
            case "_||_", [left, right]:
                return _decided_by(True, left, right)
            case "_?_:_", [condition, then, otherwise]:
                return _choice(condition, then, otherwise)
            case "or", [operand, otherwise]:
                return _or(operand, otherwise)
            case "orValue", [operand, otherwise]:
                return _or_value(operand, otherwise)
        implementation = self._callees.implementation(node.function, node.member, len(arguments))
        return _strict(implementation.call, arguments, implementation.metered)

    def _bind(self, node: syntax.Bind) -> Evaluator:
        self._bound[node.slot] = self.build(node.value)
        return _bind(node.slot, self.build(node.body))

    def _local(self, slot: int) -> Evaluator:
        value = self._bound.get(slot)
        return _bound_local(slot, value) if value is not None else lambda frame: frame.slots[slot]

    def _fold(self, node: syntax.Fold) -> Evaluator:
        rounds = _rounds(self.build(node.source), node.slots, node.rounds_cost)
        always: Evaluator = lambda frame: True  # noqa: E731
        condition = self.build(node.condition) if node.condition is not None else always
        item = self.build(node.item) if node.item is not None else always
        match node.loop:
            case Loop.ALL:
                return _quantifier(rounds, condition, False)
            case Loop.EXISTS:
                return _quantifier(rounds, condition, True)
            case Loop.EXISTS_ONE:
                return lambda frame: sum(access.truth(condition(frame)) for _ in rounds(frame)) == 1
            case Loop.LIST:
                return lambda frame: [item(frame) for _ in rounds(frame) if access.truth(condition(frame))]
            case Loop.MAP if node.key is not None:
                key = self.build(node.key)
                return lambda frame: access.map_from(
                    (key(frame), item(frame)) for _ in rounds(frame) if access.truth(condition(frame))
                )
            case Loop.MAP_ENTRIES:
                return lambda frame: access.merged(
                    item(frame) for _ in rounds(frame) if access.truth(condition(frame))
                )
        raise AssertionError(node)


def _variable(name: str) -> Evaluator:
    def variable(frame: Frame) -> object:
        try:
            return frame.bindings[name]
        except KeyError:
            raise MissingKey(f"no such attribute: {name}") from None

    return variable


def _select(operand: Evaluator, name: str) -> Evaluator:
    return lambda frame: access.field(operand(frame), name)


def _has(operand: Evaluator, name: str) -> Evaluator:
    return lambda frame: access.has_field(operand(frame), name)


def _strict(call: Callable[..., Any], arguments: list[Evaluator], metered: bool) -> Evaluator:
    match arguments:
        case [first, second] if metered:
            return lambda frame: call(frame, first(frame), second(frame))
        case [first, second]:
            return lambda frame: call(first(frame), second(frame))
        case [first] if not metered:
            return lambda frame: call(first(frame))
    if metered:
        return lambda frame: call(frame, *[argument(frame) for argument in arguments])
    return lambda frame: call(*[argument(frame) for argument in arguments])


def _decided_by(decisive: bool, left: Evaluator, right: Evaluator) -> Evaluator:
    """`&&`, which false decides, or `||`, which true decides, on either side and whatever the other is."""

    def combined(frame: Frame) -> object:
        try:
            first = access.truth(left(frame))
        except BudgetExceeded:
            raise
        except EvaluationError as error:
            if _outvoted(error, right, frame, decisive):
                return decisive
            raise
        return decisive if first is decisive else access.truth(right(frame))

    return combined


def _outvoted(error: EvaluationError, other: Evaluator, frame: Frame, decisive: bool) -> bool:
    """Whether the other side decides; where both fail, the first failure is the one to report."""
    try:
        return other(frame) is decisive
    except BudgetExceeded:
        raise
    except EvaluationError:
        raise error from None


def _choice(condition: Evaluator, then: Evaluator, otherwise: Evaluator) -> Evaluator:
    return lambda frame: then(frame) if access.truth(condition(frame)) else otherwise(frame)


def _or(operand: Evaluator, otherwise: Evaluator) -> Evaluator:
    def either(frame: Frame) -> object:
        first = optional(operand(frame))
        return first if first.present else optional(otherwise(frame))

    return either


def _or_value(operand: Evaluator, otherwise: Evaluator) -> Evaluator:
    def value(frame: Frame) -> object:
        first = optional(operand(frame))
        return first.content if first.present else otherwise(frame)

    return value


def optional(value: object) -> Optional:
    if isinstance(value, Optional):
        return value
    raise values.no_overload("or", value)


def _list(elements: list[Evaluator], optional_places: frozenset[int]) -> Evaluator:
    if not optional_places:
        return lambda frame: [element(frame) for element in elements]

    def made(frame: Frame) -> list[object]:
        made_values: list[object] = []
        for place, element in enumerate(elements):
            value = element(frame)
            if place not in optional_places:
                made_values.append(value)
            elif optional(value).present:
                made_values.append(optional(value).content)
        return made_values

    return made


def _map(entries: list[tuple[Evaluator, Evaluator, bool]]) -> Evaluator:
    def evaluated(frame: Frame) -> Iterator[tuple[object, object]]:
        for key, value, is_optional in entries:
            name, content = key(frame), value(frame)
            if not is_optional:
                yield name, content
            elif optional(content).present:
                yield name, optional(content).content

    return lambda frame: access.map_from(evaluated(frame))


class _Unset:
    __slots__ = ()


_UNSET = _Unset()


def _bind(slot: int, body: Evaluator) -> Evaluator:
    def bound(frame: Frame) -> object:
        frame.slots[slot] = _UNSET
        return body(frame)

    return bound


def _bound_local(slot: int, value: Evaluator) -> Evaluator:
    """A bound name is evaluated when it is first read, and only once, also when that fails."""

    def local(frame: Frame) -> object:
        known = frame.slots[slot]
        if known is _UNSET:
            try:
                known = value(frame)
            except EvaluationError as error:
                known = error
            frame.slots[slot] = known
        if isinstance(known, EvaluationError):
            raise known
        return known

    return local


def _rounds(source: Evaluator, slots: tuple[int, ...], rounds_cost: int) -> Callable[[Frame], Iterator[None]]:
    """Puts the variables of each round in their slots before it yields."""
    if len(slots) == 1:
        (only,) = slots

        def over_elements(frame: Frame) -> Iterator[None]:
            for element in access.elements(frame, source(frame), rounds_cost):
                frame.slots[only] = element
                yield

        return over_elements
    first, second = slots

    def over_pairs(frame: Frame) -> Iterator[None]:
        for place, element in access.pairs(frame, source(frame), rounds_cost):
            frame.slots[first] = place
            frame.slots[second] = element
            yield

    return over_pairs


def _quantifier(rounds: Callable[[Frame], Iterator[None]], condition: Evaluator, decisive: bool) -> Evaluator:
    """`all`, which a false element decides, or `exists`, which a true one decides, whatever fails before it."""

    def decided(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        for _ in rounds(frame):
            try:
                if access.truth(condition(frame)) is decisive:
                    return decisive
            except BudgetExceeded:
                raise
            except EvaluationError as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return not decisive

    return decided
