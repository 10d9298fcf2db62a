"""The budget of one evaluation, in steps.

A step is about one evaluated operation. Loops are charged before they run, for all their rounds at once, and what
is produced or searched is charged by its size, so that an expression ends within the budget even where a single
operation would be large.
"""

from headgate.cel.core.errors import BudgetExceeded

DEFAULT_STEPS = 1_000_000
SELECTOR_STEPS = 20_000
"""Selectors are asked of every resource there is; one that takes longer than this is false of it."""
CHARACTERS_PER_STEP = 16


class Meter:
    __slots__ = ("limit", "remaining")

    def __init__(self, steps: int = DEFAULT_STEPS) -> None:
        self.limit = steps
        self.remaining = steps

    def charge(self, steps: int) -> None:
        self.remaining -= steps
        if self.remaining < 0:
            raise BudgetExceeded(f"the evaluation would take more than {self.limit} steps")

    def charge_characters(self, characters: int) -> None:
        self.charge(characters // CHARACTERS_PER_STEP)

    @property
    def used(self) -> int:
        return self.limit - self.remaining
