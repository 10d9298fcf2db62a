"""The functions of the language, by name."""

from headgate.cel.library import conversions, encoders, lists, math, operators, regex, strings, times
from headgate.cel.library.registry import Implementation

STANDARD: dict[str, Implementation] = {
    name: implementation
    for module in (operators, conversions, strings, math, lists, encoders, regex, times)
    for name, implementation in module.library.implementations.items()
}
MIXED_NUMBERS: dict[str, Implementation] = STANDARD | operators.mixed_library.implementations
