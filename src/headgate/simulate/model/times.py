"""How a scenario writes a moment: it may count from the start."""

from datetime import datetime

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant


class When(msgspec.Struct, frozen=True):
    """A moment, absolute or from the start of the scenario: exactly one of the two is set."""

    absolute: Instant | None = None
    offset: int | None = None

    @classmethod
    def from_document(cls, value: object) -> "When":
        if isinstance(value, datetime) and value.tzinfo is not None:
            return cls(absolute=instants.from_datetime(value))
        if not isinstance(value, str):
            raise ValueError(f'must be a time such as 2026-03-01T09:00:00Z or "+20h", not {value!r}')
        if value.startswith("+"):
            return cls(offset=instants.parse_duration(value[1:]))
        try:
            return cls(absolute=instants.parse(value))
        except ValueError as error:
            raise ValueError(f'{error}, or "+20h" from the start') from None

    def to_document(self) -> str:
        if self.offset is not None:
            return "+" + instants.show_duration(self.offset)
        assert self.absolute is not None
        return instants.show(self.absolute)

    def resolve(self, start: Instant) -> Instant:
        if self.offset is not None:
            return start + self.offset
        assert self.absolute is not None
        return self.absolute
