"""Small words over a source of chance, so that a generator reads as what it generates."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

Item = TypeVar("Item")

STEP_SECONDS = 30
"""Moments and durations are multiples of this, so that many things happen in one instant."""


class Chooser:
    """Chooses evenly: half of what hypothesis draws by itself is small or repeated, and then little happens in a fleet."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    def number(self, least: int, most: int) -> int:
        return self._chance.randint(least, most)

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def one(self, options: Sequence[Item]) -> Item:
        return options[self.number(0, len(options) - 1)]

    def some(self, options: Sequence[Item], percent: int = 50) -> list[Item]:
        """A part of the options, in their order."""
        return [option for option in options if self.chance(percent)]

    def weighted(self, options: dict[Item, int]) -> Item:
        place = self.number(0, sum(options.values()) - 1)
        for option, weight in options.items():
            place -= weight
            if place < 0:
                return option
        raise AssertionError("the weights are used up")

    def several(self, make: Callable[[], Item], least: int, most: int) -> list[Item]:
        """Mostly long lists; short ones are found as well."""
        found = [make() for _ in range(least)]
        while len(found) < most and self.chance(90):
            found.append(make())
        return found

    def seconds(self, most_steps: int) -> int:
        """Mostly on the grid on which all else happens too."""
        odd = self.number(1, 29) if self.chance(8) else 0
        return self.number(0, most_steps) * STEP_SECONDS + odd


CHOOSERS = st.lists(st.booleans(), min_size=64, max_size=64).map(
    lambda bits: Chooser(Random(int("".join("1" if bit else "0" for bit in bits), 2)))
)
"""Seeded by hypothesis, so that a run can be repeated. Most of the integers that it draws from a large range are small, so
that every run would look at the same few; and it tries constants that it finds in whatever modules are loaded, so that the
same seed would give other examples."""
