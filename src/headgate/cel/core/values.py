"""CEL values in Python.

null, bool, int, double, string, bytes, list and map are the Python types one expects, taken by reference. A uint is
a `Uint`; a timestamp is a `datetime` and a duration a `timedelta`, of the subclasses below only when they carry
nanoseconds that the standard types cannot hold. Any other object passes through untouched: its fields are read by
`__cel_field__(name)`, which raises KeyError for a field that is not there, and `string()` of it is what its
`__cel_string__()` gives, if it has that. An object that answers `[name]` in the same
way is read at full speed, one that does not by the exact evaluator.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from headgate.cel.core.errors import EvaluationError, MissingKey

INT_MINIMUM: Final = -(2**63)
INT_MAXIMUM: Final = 2**63 - 1
UINT_MAXIMUM: Final = 2**64 - 1

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
    known = _kinds.get(type(value))
    return known if known is not None else _kind_of_relative(value)


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


def missing_key(key: object) -> MissingKey:
    return MissingKey(f"no such key: {render_key(key)}")


def render_key(key: object) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    text = repr(key[:100] if isinstance(key, str | bytes) else key)
    return text if len(text) <= 100 else text[:100] + "..."
