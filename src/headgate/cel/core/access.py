"""Reading parts of values: fields, indexes, presence, size, and the elements that a macro walks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from headgate.cel.core import equality, values
from headgate.cel.core.equality import MISSING
from headgate.cel.core.errors import EvaluationError, MissingKey
from headgate.cel.core.meter import Meter
from headgate.cel.core.values import NONE, Optional


def field(operand: object, name: str) -> object:
    value = _field(operand, name)
    if value is MISSING:
        raise values.missing_key(name)
    return value


def has_field(operand: object, name: str) -> bool:
    value = _field(operand, name)
    if isinstance(operand, Optional):
        return isinstance(value, Optional) and value.present
    return value is not MISSING


def optional_field(operand: object, name: object) -> Optional:
    if not isinstance(name, str):
        raise values.no_overload("?.", operand, name)
    value = _field(operand, name)
    if isinstance(operand, Optional):
        return cast(Optional, value)
    return NONE if value is MISSING else Optional(value)


def _field(operand: object, name: str) -> object:
    """The field, or MISSING. A field of an optional is an optional."""
    if type(operand) is dict:
        return operand.get(name, MISSING)
    if isinstance(operand, Mapping):
        return operand.get(name, MISSING)
    if isinstance(operand, Optional):
        return optional_field(operand.content, name) if operand.present else NONE
    reader = getattr(operand, "__cel_field__", None)
    if reader is None:
        raise EvaluationError(f"a value of type {values.kind(operand)} has no fields, so no {name!r}")
    try:
        return reader(name)
    except KeyError:
        return MISSING


def index(operand: object, key: object) -> object:
    if isinstance(operand, Optional):
        return optional_index(operand, key)
    element = _element(operand, key)
    if element is not MISSING:
        return element
    if values.kind(operand) == "list":
        raise MissingKey(f"index out of range: {values.render_key(key)}")
    raise values.missing_key(key)


def optional_index(operand: object, key: object) -> Optional:
    if isinstance(operand, Optional):
        return optional_index(operand.content, key) if operand.present else NONE
    if isinstance(operand, Mapping) and not equality.is_key(key):
        return NONE
    element = _element(operand, key)
    return NONE if element is MISSING else Optional(element)


def _element(operand: object, key: object) -> object:
    name = values.kind(operand)
    if name == "map":
        return equality.find(cast(Mapping[object, object], operand), key)
    if name == "list":
        if values.kind(key) not in values.NUMBERS or key != key or cast(float, key) % 1:
            raise values.no_overload("_[_]", operand, key)
        sequence, place = cast(Sequence[object], operand), int(cast(float, key))
        return sequence[place] if 0 <= place < len(sequence) else MISSING
    if name == values.OBJECT and isinstance(key, str):
        return _field(operand, key)
    raise values.no_overload("_[_]", operand, key)


def contains_element(meter: Meter, element: object, container: object) -> bool:
    name = values.kind(container)
    if name == "map":
        return equality.find(cast(Mapping[object, object], container), element) is not MISSING
    if name != "list":
        raise values.no_overload("in", element, container)
    sequence = cast(Sequence[object], container)
    if type(element) is str:
        meter.charge(len(sequence) // 4)
        return element in sequence
    meter.charge(equality.ELEMENT_STEPS * len(sequence))
    return any(equality.equal(meter, element, each) for each in sequence)


def size(operand: object) -> int:
    if values.kind(operand) in ("string", "bytes", "list", "map"):
        return len(cast(Sequence[object], operand))
    raise values.no_overload("size", operand)


def elements(meter: Meter, source: object, rounds_cost: int) -> Iterable[Any]:
    """What a macro of one variable walks: the elements of a list or the keys of a map. Charged before the first."""
    if values.kind(source) not in ("list", "map"):
        raise EvaluationError(f"a value of type {values.kind(source)} cannot be walked; a list or a map can")
    walked = cast(Sequence[object], source)
    meter.charge(len(walked) * rounds_cost)
    return walked


def pairs(meter: Meter, source: object, rounds_cost: int) -> Iterable[tuple[Any, Any]]:
    """What a macro of two variables walks: index and element, or key and value."""
    walked = elements(meter, source, rounds_cost)
    return walked.items() if isinstance(walked, Mapping) else enumerate(walked)


def map_from(entries: Iterable[tuple[object, object]]) -> Mapping[object, object]:
    """A map of entries, each key of an allowed type and there only once."""
    made: dict[object, object] = {}
    beside: MixedMap | None = None
    for key, value in entries:
        if values.kind(key) not in ("bool", "int", "uint", "string"):
            raise EvaluationError(f"a key of type {values.kind(key)} is not allowed in a map")
        if beside is None and key in made and equality.find(made, key) is MISSING:
            beside = MixedMap(made)
        if beside is not None:
            if key in beside:
                raise EvaluationError(f"duplicate key in map: {values.render_key(key)}")
            beside.add(key, value)
            continue
        if key in made:
            raise EvaluationError(f"duplicate key in map: {values.render_key(key)}")
        made[key] = value
    return made if beside is None else beside


class MixedMap(Mapping[object, object]):
    """A map that has both a bool and the number that Python takes for the same key: `{1: 'a', true: 'b'}`."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[object, object]) -> None:
        self._entries = {_distinct(key): (key, value) for key, value in entries.items()}

    def add(self, key: object, value: object) -> None:
        self._entries[_distinct(key)] = (key, value)

    def __getitem__(self, key: object) -> object:
        return self._entries[_distinct(key)][1]

    def __iter__(self) -> Iterator[object]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)


def _distinct(key: object) -> tuple[bool, object]:
    return type(key) is bool, key


def merged(maps: Iterable[object]) -> Mapping[object, object]:
    """All entries of several maps."""
    return map_from(entry for each in maps for entry in _entries(each))


def _entries(operand: object) -> Iterable[tuple[object, object]]:
    if not isinstance(operand, Mapping):
        raise values.no_overload("transformMapEntry", operand)
    return operand.items()


def truth(value: object) -> bool:
    """The value, if it is a bool."""
    if value is True or value is False:
        return value
    raise EvaluationError(f"no such overload: a bool is needed, not {values.kind(value)}")
