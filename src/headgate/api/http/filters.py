"""`cel=` of lists: an expression over one object of the list, bound by the name of its kind."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from headgate import cel
from headgate.api.http.calls import Refusal
from headgate.fleet.model import expressions
from headgate.kernel import instants
from headgate.kernel.problems import Problem

STEPS_AN_OBJECT = 20_000
LONGEST_TEXT = 4_000


class Filter:
    def __init__(self, variable: str, program: cel.Program) -> None:
        self.variable = variable
        self._program = program

    def holds(self, view: Mapping[str, object], around: Mapping[str, object] | None = None) -> bool:
        """As for selectors, an object that lacks what the expression reads does not match. `around` are the objects that it
        is made of."""
        try:
            return (
                self._program.evaluate({**(around or {}), self.variable: view}, steps=STEPS_AN_OBJECT) is True
            )
        except cel.BudgetExceeded:
            raise _refused(
                [("cel", f"takes more than {STEPS_AN_OBJECT} steps for one {self.variable}; make it simpler")]
            ) from None
        except cel.EvaluationError:
            return False


def condition(text: str | None, variable: str, around: tuple[str, ...] = ()) -> Filter | None:
    """None without a filter; a malformed one is refused with the place in its text."""
    if text is None:
        return None
    if len(text) > LONGEST_TEXT:
        raise _refused([("cel", f"has {len(text)} characters; allowed are {LONGEST_TEXT}")])
    problems: list[Problem] = []
    # A list shows more of its objects than selectors may read: any field of the answer can be asked for.
    program = expressions.compiled(_environment(variable, *around), text, "cel", problems)
    if program is None:
        raise _refused([(one.path, one.message) for one in problems])
    return Filter(variable, program)


def with_times(document: Mapping[str, object]) -> dict[str, object]:
    """A written document as a filter sees it: its own times can be compared."""
    return {
        key: instants.to_datetime(instants.parse(value))
        if isinstance(value, str) and (key == "at" or key.endswith("At"))
        else value
        for key, value in document.items()
    }


@functools.cache
def _environment(*variables: str) -> cel.CelEnvironment:
    return cel.CelEnvironment(dict.fromkeys(variables, cel.DYN))


def _refused(errors: list[tuple[str, str]]) -> Refusal:
    return Refusal(422, "The filter is invalid", f"{errors[0][0]}: {errors[0][1]}", tuple(errors))
