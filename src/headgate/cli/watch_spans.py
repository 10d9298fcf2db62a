"""Text of one style; a line is several."""

import msgspec


class Span(msgspec.Struct, frozen=True):
    text: str
    style: str = ""


Line = list[Span]
