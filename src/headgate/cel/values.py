"""CEL values in Python.

null, bool, int, double, string, bytes, list and map are the Python types one expects, taken by reference. A uint is
a `Uint`; a timestamp is a `datetime` and a duration a `timedelta`, of the subclasses below only when they carry
nanoseconds that the standard types cannot hold. Any other object passes through untouched: its fields are read by
`__cel_field__(name)`, which raises KeyError for a field that is not there. An object that answers `[name]` in the same
way is read at full speed, one that does not by the exact evaluator.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from headgate.cel.errors import EvaluationError, MissingKey
from headgate.cel.meter import Meter

INT_MINIMUM: Final = -(2**63)
INT_MAXIMUM: Final = 2**63 - 1
UINT_MAXIMUM: Final = 2**64 - 1

ELEMENT_STEPS: Final = 5
"""What it costs to compare one element of a list; it takes that many times as long as a simple operation."""

NANOSECONDS: Final = 1_000_000_000
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
TIMESTAMP_MINIMUM: Final = -62135596800 * NANOSECONDS
TIMESTAMP_MAXIMUM: Final = 253402300800 * NANOSECONDS - 1
DURATION_MAXIMUM: Final = 315576000000 * NANOSECONDS


class Uint(int):
    """An unsigned integer. As a subclass of int it equals and hashes like the int of the same value, as CEL asks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"


class Timestamp(datetime):
    """A timestamp with nanoseconds below its microseconds."""

    nanoseconds: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, datetime) and timestamp_nanoseconds(self) == timestamp_nanoseconds(other)

    def __hash__(self) -> int:
        return hash(timestamp_nanoseconds(self))


class Duration(timedelta):
    """A duration with nanoseconds below its microseconds."""

    nanoseconds: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, timedelta) and duration_nanoseconds(self) == duration_nanoseconds(other)

    def __hash__(self) -> int:
        return hash(duration_nanoseconds(self))


class Optional:
    """A value that may be absent, made by `optional.of`, `.?field` and the like."""

    __slots__ = ("_content",)

    def __init__(self, content: object) -> None:
        self._content = content

    @property
    def present(self) -> bool:
        return self._content is not _ABSENT

    @property
    def content(self) -> object:
        if self._content is _ABSENT:
            raise EvaluationError("optional.none() has no value")
        return self._content

    def __repr__(self) -> str:
        return f"optional.of({self._content!r})" if self.present else "optional.none()"


class _Absent:
    __slots__ = ()


_ABSENT: Final = _Absent()
NONE: Final = Optional(_ABSENT)


class TypeValue:
    """A type as a value, as `type(x)` gives it; two are equal if their names are."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


_kinds: dict[type, str] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    tuple: "list",
    dict: "map",
    datetime: "google.protobuf.Timestamp",
    Timestamp: "google.protobuf.Timestamp",
    timedelta: "google.protobuf.Duration",
    Duration: "google.protobuf.Duration",
    Optional: "optional_type",
    TypeValue: "type",
}

TIMESTAMP: Final = "google.protobuf.Timestamp"
DURATION: Final = "google.protobuf.Duration"
OBJECT: Final = "object"
NUMBERS: Final = frozenset(("int", "uint", "double"))


def kind(value: object) -> str:
    """The name of a value's CEL type; a Python type that CEL does not know is an `object`."""
    found = _kinds.get(type(value))
    return found if found is not None else _kind_of_relative(value)


def _kind_of_relative(value: object) -> str:
    for known in (bool, Uint, int, float, str, bytes, list, tuple, datetime, timedelta):
        if isinstance(value, known):
            return _kinds[known]
    return "map" if isinstance(value, Mapping) else OBJECT


def no_overload(function: str, *arguments: object) -> EvaluationError:
    kinds = ", ".join(kind(argument) for argument in arguments)
    return EvaluationError(f"no such overload: {function} applied to ({kinds})")


def checked_int(value: int) -> int:
    if INT_MINIMUM <= value <= INT_MAXIMUM:
        return value
    raise EvaluationError("integer overflow")


def checked_uint(value: int) -> Uint:
    if 0 <= value <= UINT_MAXIMUM:
        return Uint(value)
    raise EvaluationError("unsigned integer overflow")


def timestamp_nanoseconds(value: datetime) -> int:
    """Since the epoch. A naive datetime is taken as UTC."""
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    since = aware - EPOCH
    whole = (since.days * 86400 + since.seconds) * NANOSECONDS + since.microseconds * 1000
    return whole + (value.nanoseconds if isinstance(value, Timestamp) else 0)


def timestamp(nanoseconds: int) -> datetime:
    if not TIMESTAMP_MINIMUM <= nanoseconds <= TIMESTAMP_MAXIMUM:
        raise EvaluationError("timestamp out of range: the years 0001 to 9999 are allowed")
    microseconds, rest = divmod(nanoseconds, 1000)
    plain = EPOCH + timedelta(microseconds=microseconds)
    if not rest:
        return plain
    exact = Timestamp.combine(plain.date(), plain.timetz())
    exact.nanoseconds = rest
    return exact


def duration_nanoseconds(value: timedelta) -> int:
    whole = (value.days * 86400 + value.seconds) * NANOSECONDS + value.microseconds * 1000
    return whole + (value.nanoseconds if isinstance(value, Duration) else 0)


def duration(nanoseconds: int) -> timedelta:
    if not -DURATION_MAXIMUM <= nanoseconds <= DURATION_MAXIMUM:
        raise EvaluationError("duration out of range: at most 315576000000 seconds are allowed")
    microseconds, rest = divmod(nanoseconds, 1000)
    if not rest:
        return timedelta(microseconds=microseconds)
    exact = Duration(microseconds=microseconds)
    exact.nanoseconds = rest
    return exact


def duration_difference(nanoseconds: int) -> timedelta:
    """A duration that arithmetic made: it is held to 64 bits of nanoseconds, about 292 years."""
    return duration(checked_int(nanoseconds))


class _Missing:
    __slots__ = ()


MISSING: Final = _Missing()


def find(mapping: Mapping[object, object], key: object) -> object:
    """The value under a key by CEL equality, or MISSING.

    Python takes True and 1 for the same key and CEL does not, hence the second look.
    """
    if type(key) is str:
        return mapping.get(key, MISSING)
    if not is_key(key):
        raise EvaluationError(f"unsupported key type: {kind(key)}")
    found = mapping.get(key, MISSING)
    if found is MISSING or key not in (0, 1):
        return found
    of_bool = type(key) is bool
    return next(
        (value for each, value in mapping.items() if each == key and (type(each) is bool) is of_bool), MISSING
    )


def is_key(value: object) -> bool:
    """Whether a map can be asked for it."""
    return kind(value) in NUMBERS or kind(value) in ("bool", "string")


def missing_key(key: object) -> MissingKey:
    return MissingKey(f"no such key: {shown_key(key)}")


def shown_key(key: object) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    text = repr(key[:100] if isinstance(key, str | bytes) else key)
    return text if len(text) <= 100 else text[:100] + "..."


def as_compared(left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers as CEL compares them: as doubles if one is a double, so that large integers lose digits."""
    if type(left) is float or type(right) is float:
        return float(left), float(right)
    return left, right


def equal(meter: Meter, left: object, right: object) -> bool:
    """CEL equality: numbers compare across their types, values of different types are unequal, NaN equals nothing."""
    left_kind, right_kind = kind(left), kind(right)
    if left_kind in NUMBERS and right_kind in NUMBERS:
        compared_left, compared_right = as_compared(left, right)
        return bool(compared_left == compared_right)
    if left_kind != right_kind:
        return False
    if left_kind == "list":
        return _equal_lists(meter, left, right)  # type: ignore[arg-type]
    if left_kind == "map":
        return _equal_maps(meter, left, right)  # type: ignore[arg-type]
    if left_kind == TIMESTAMP:
        return timestamp_nanoseconds(left) == timestamp_nanoseconds(right)  # type: ignore[arg-type]
    if left_kind == "optional_type":
        return _equal_optionals(meter, left, right)  # type: ignore[arg-type]
    if left_kind in ("string", "bytes"):
        meter.charge_characters(min(len(left), len(right)))  # type: ignore[arg-type]
    return left is right or bool(left == right)


def _equal_lists(meter: Meter, left: list[object], right: list[object]) -> bool:
    if len(left) != len(right):
        return False
    meter.charge(ELEMENT_STEPS * len(left))
    return all(equal(meter, a, b) for a, b in zip(left, right))


def _equal_maps(meter: Meter, left: Mapping[object, object], right: Mapping[object, object]) -> bool:
    if len(left) != len(right):
        return False
    meter.charge(2 * ELEMENT_STEPS * len(left))
    for key, value in left.items():
        other = find(right, key)
        if other is MISSING or not equal(meter, value, other):
            return False
    return True


def _equal_optionals(meter: Meter, left: Optional, right: Optional) -> bool:
    if not (left.present and right.present):
        return left.present is right.present
    return equal(meter, left.content, right.content)


def canonical(meter: Meter, value: object) -> object:
    """A hashable stand-in: two values are CEL-equal if and only if their stand-ins are equal."""
    name = kind(value)
    if name in ("string", "bytes", "null_type"):
        return value
    if name in NUMBERS:
        return value if value == value else object()
    if name == "list":
        meter.charge(ELEMENT_STEPS * len(value))  # type: ignore[arg-type]
        return ("list", tuple(canonical(meter, each) for each in value))  # type: ignore[attr-defined]
    if name == "map":
        meter.charge(2 * ELEMENT_STEPS * len(value))  # type: ignore[arg-type]
        pairs = value.items()  # type: ignore[attr-defined]
        return ("map", frozenset((canonical(meter, key), canonical(meter, each)) for key, each in pairs))
    if name == TIMESTAMP:
        return (name, timestamp_nanoseconds(value))  # type: ignore[arg-type]
    if name == "optional_type":
        return (name, value.present and (canonical(meter, value.content),))  # type: ignore[attr-defined]
    if name == OBJECT:
        return (name, value if type(value).__hash__ is not None else id(value))
    return (name, value)
