"""Whatever happens to whatever fleet, every promise is kept. A failure prints the scenario that repeats it."""

from hypothesis import given

from headgate.simulate.result import Result

from . import fleets, judging, running
from .effort import examples
from .objects import Document
from .recorded import Run


@examples(400)
@given(fleets.scenarios())
def test_no_promise_is_broken_and_the_output_agrees(document: Document) -> None:
    """The simulator checks the promises after every step; what the output shows is judged once more on its own."""
    running.holds(_keeps_its_promises, document)


@examples(100)
@given(fleets.peaceful_scenarios())
def test_with_faults_over_and_gates_open_the_fleet_converges(document: Document) -> None:
    running.holds(_converges, document)


def _keeps_its_promises(document: Document) -> None:
    _assert_promises(document, running.play(document))


def _assert_promises(document: Document, result: Result) -> None:
    for broken in result.violations:
        raise AssertionError(f"{broken.promise}: {broken.message}")
    for warned in result.warnings:
        assert "never ends" not in warned.message, warned.message
    for sentence in judging.wrong(Run(document, result)):
        raise AssertionError(sentence)


def _converges(document: Document) -> None:
    result = running.play(document)
    _assert_promises(document, result)
    assert result.converged, (
        f"not converged: {[(unit.target, unit.state, unit.reason) for unit in result.waiting]}"
    )
    for sentence in judging.behind(Run(document, result)):
        raise AssertionError(f"behind: {sentence}")
