"""`omit()`: a field of a template that is left out."""

from headgate import cel


class Omitted:
    __slots__ = ()

    def __repr__(self) -> str:
        return "omit()"


OMITTED = Omitted()

FUNCTIONS = (cel.Function("omit", (), cel.DYN, lambda: OMITTED),)
