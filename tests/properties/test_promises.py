"""Whatever happens to whatever fleet, every promise is kept. A failure prints the scenario that repeats it."""

from hypothesis import given

from headgate.fleet.rules import KIND_ALIASES, KINDS
from headgate.simulate.model.result import Result

from . import fleets, judging, rules, running
from .effort import examples
from .objects import POST_HOOK, PRE_HOOK, Document
from .recorded import Run


def test_fleets_have_rules_of_every_kind() -> None:
    assert {KIND_ALIASES.get(kind, kind) for kind in rules.KINDS} | {"deploymentBracket"} == set(KINDS)


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


def _stages_wait_for_hooks(document: Document) -> bool:
    """A new version of a hook runs where a cycle comes, and opens none. Where an environment has to succeed with it before
    the next one may, that one waits until something else opens cycles: as it should, and perhaps for ever."""
    spec = document["spec"]
    rules = [rule for one in spec["objects"] if one["kind"] == "Policy" for rule in one["spec"]["rules"]]
    published = {step["publish"]["deployment"] for step in spec["timeline"] if "publish" in step}
    is_staged = any("environmentProgression" in rule for rule in rules)
    has_brackets = any("deploymentBracket" in rule for rule in rules)
    return is_staged and has_brackets and not published.isdisjoint((PRE_HOOK, POST_HOOK))


def _converges(document: Document) -> None:
    result = running.play(document)
    _assert_promises(document, result)
    if _stages_wait_for_hooks(document):
        return
    assert result.converged, (
        f"not converged: {[(unit.target, unit.state, unit.reason) for unit in result.waiting]}"
    )
    for sentence in judging.behind(Run(document, result)):
        raise AssertionError(f"behind: {sentence}")
