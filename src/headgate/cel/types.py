"""The static types with which variables and functions are declared."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.cel.core import values


@dataclass(frozen=True, slots=True)
class Type:
    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})" if self.parameters else self.name

    def accepts(self, value: object) -> bool:
        """Whether a value may be passed for this type; elements of lists and maps are not looked at."""
        return self.name == "dyn" or values.kind(value) == _kind_names.get(self.name, self.name)


_kind_names = {
    "null": "null_type",
    "timestamp": values.TIMESTAMP,
    "duration": values.DURATION,
    "optional": "optional_type",
}

BOOL = Type("bool")
INT = Type("int")
UINT = Type("uint")
DOUBLE = Type("double")
STRING = Type("string")
BYTES = Type("bytes")
TIMESTAMP = Type("timestamp")
DURATION = Type("duration")
DYN = Type("dyn")
NULL = Type("null")


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(content: Type) -> Type:
    return Type("optional", (content,))
