"""A length of time as people write it."""

import msgspec

from headgate.kernel import instants


class Span(msgspec.Struct, frozen=True):
    """A length of virtual time, written like `8m` or `1h30m`."""

    microseconds: int

    @classmethod
    def from_document(cls, value: object) -> "Span":
        if not isinstance(value, str):
            raise ValueError(f"must be a duration such as 45s, 8m or 1h30m, not {value!r}")
        return cls(instants.parse_duration(value))

    def to_document(self) -> str:
        return instants.show_duration(self.microseconds)
