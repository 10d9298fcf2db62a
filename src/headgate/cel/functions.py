"""Functions and methods that a user of this package adds to the language."""

from collections.abc import Callable
from dataclasses import dataclass

from headgate.cel.types import Type


@dataclass(frozen=True, slots=True)
class Function:
    """A global function, or with `member=True` a method whose receiver is the first parameter.

    `call` gets its arguments by reference and should be a pure function of them: an evaluation may call it again.
    It reports a failure as an EvaluationError; a ValueError, TypeError, LookupError or ArithmeticError becomes one.
    """

    name: str
    parameters: tuple[Type, ...]
    result: Type
    call: Callable[..., object]
    member: bool = False

    def accepts(self, arguments: tuple[object, ...]) -> bool:
        return len(arguments) == len(self.parameters) and all(
            parameter.accepts(argument) for parameter, argument in zip(self.parameters, arguments)
        )
