"""`omit()`: a field of a template that is left out."""

from headgate import cel
from headgate.cel.plain import OMITTED

__all__ = ["FUNCTIONS", "OMITTED"]

FUNCTIONS = (cel.Function("omit", (), cel.DYN, lambda: OMITTED),)
