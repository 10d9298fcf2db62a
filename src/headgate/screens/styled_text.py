"""Text of one style; a line is several."""

import msgspec


class StyledText(msgspec.Struct, frozen=True):
    text: str
    style: str = ""


Line = list[StyledText]
