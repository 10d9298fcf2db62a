"""base64.*"""

from __future__ import annotations

import base64
import binascii

from headgate.cel.core import arithmetic, values
from headgate.cel.core.errors import EvaluationError
from headgate.cel.core.meter import Meter
from headgate.cel.library import checks
from headgate.cel.library.registry import Library

library = Library()


@library.metered("base64.encode", 1)
def _encode(meter: Meter, value: object) -> str:
    if not isinstance(value, bytes):
        raise values.no_overload("base64.encode", value)
    arithmetic.produced_text(meter, 2 * len(value))
    return base64.b64encode(value).decode("ascii")


@library.metered("base64.decode", 1)
def _decode(meter: Meter, value: object) -> bytes:
    text = checks.text("base64.decode", value)
    arithmetic.produced_text(meter, len(text))
    padded = text + "=" * (-len(text) % 4)
    try:
        return base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        raise EvaluationError(f"{values.render_key(text)} is not base64") from None
