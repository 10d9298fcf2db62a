"""Whatever happens to whatever fleet, every promise is kept. A failure prints the scenario that repeats it."""

from hypothesis import given

from . import fleets, judging, running
from .effort import examples
from .objects import Document


@examples(250)
@given(fleets.scenarios())
def test_no_promise_is_broken_and_the_output_agrees(document: Document) -> None:
    """The simulator checks the promises after every step; what the output shows is judged once more on its own."""
    with running.repeatable(document):
        result = running.play(document)
        assert [f"{broken.promise}: {broken.message}" for broken in result.violations] == []
        assert not [warned for warned in result.warnings if "never ends" in warned.message]
        assert list(judging.wrong(judging.Run(document, result.document()))) == []


@examples(100)
@given(fleets.peaceful_scenarios())
def test_with_faults_over_and_gates_open_the_fleet_converges(document: Document) -> None:
    with running.repeatable(document):
        result = running.play(document)
        assert [f"{broken.promise}: {broken.message}" for broken in result.violations] == []
        assert result.converged, [f"{unit.target} is {unit.state}: {unit.reason}" for unit in result.waiting]
        found = judging.Run(document, result.document())
        assert list(judging.wrong(found)) == []
        assert list(judging.behind(found)) == []
