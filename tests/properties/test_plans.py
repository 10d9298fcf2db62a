"""What a plan shows is what happens, whatever the fleet was doing when the plan was made."""

from hypothesis import given

from headgate.simulate import plan_equals_apply, scenario

from . import fleets, running
from .effort import examples
from .objects import Document


@examples(150)
@given(fleets.scenarios())
def test_every_moment_goes_as_it_was_planned(document: Document) -> None:
    """With agents that fail, crashes, and objects that come and go before, at and after the planned moment."""
    running.holds(_goes_as_planned, document)


def _goes_as_planned(document: Document) -> None:
    _, violations = plan_equals_apply.check(scenario.read(document))
    for broken in violations:
        raise AssertionError(f"{broken.promise}: {broken.message}")
