"""Crashes, extra looks and another order of the same things must not be seen in the result."""

import copy
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headgate.simulate.result import Result

from . import fleets, running
from .effort import examples
from .objects import Document


@examples(30)
@given(fleets.scenarios())
def test_the_same_scenario_twice_gives_equal_bytes(document: Document) -> None:
    with running.repeatable(document):
        assert running.play(document).to_json() == running.play(copy.deepcopy(document)).to_json()


@examples(80)
@given(fleets.scenarios(), st.data())
def test_crashes_at_any_moment_change_nothing(document: Document, data: st.DataObject) -> None:
    """At the moments of decisions, and at moments at which nothing else happens."""
    calm = running.play(document)
    moments = running.moments(calm)
    chosen = data.draw(st.lists(st.sampled_from(moments), unique=True, max_size=12)) if moments else []
    chosen += data.draw(st.lists(st.integers(0, running.span_seconds(calm)), max_size=3))
    stormy = running.with_crashes(document, chosen)
    with running.repeatable(stormy, "The same scenario with its crashes left out gives another result."):
        running.assert_same(calm, running.play(stormy))


@examples(60)
@given(fleets.scenarios())
def test_an_engine_that_keeps_only_what_it_wrote_decides_the_same(document: Document) -> None:
    with running.repeatable(document, "An engine that reads its state back before every decision differs."):
        calm = running.play(document)
        running.assert_same(calm, running.play_with(running.ForgetfulEngine, document))


@examples(60)
@given(fleets.scenarios())
def test_a_second_look_at_everything_finds_nothing_to_do(document: Document) -> None:
    with running.repeatable(document, "An engine that looks at every unit after every decision differs."):
        calm = running.play(document)
        running.assert_same(calm, running.play_with(running.LookingEngine, document))


@examples(40)
@given(fleets.scenarios(), st.randoms(use_true_random=False))
def test_the_order_of_objects_of_a_kind_does_not_matter(document: Document, chance: Random) -> None:
    with running.repeatable(document, "With the objects of each kind in another order the result differs."):
        result = running.play(document)
        if any(refused.step.startswith("objects") for refused in result.rejected):
            return
        objects = document["spec"]["objects"]
        order = {kind: number for number, kind in enumerate(dict.fromkeys(item["kind"] for item in objects))}
        shuffled = chance.sample(objects, len(objects))
        shuffled.sort(key=lambda item: order[item["kind"]])
        other = {**document, "spec": {**document["spec"], "objects": shuffled}}
        assert result.to_json() == running.play(other).to_json()


@examples(40)
@given(fleets.scenarios())
def test_publications_of_one_instant_commute(document: Document) -> None:
    """Of different deployments; which version is newer is decided by time and id, not by who came first."""
    steps = fleets.steps_of(document)
    swapped = fleets.with_publications_swapped(steps)
    other = {**document, "spec": {**document["spec"], "timeline": swapped}}
    with running.repeatable(
        document, "With publications of one instant in another order the result differs."
    ):
        assert running.without_places(running.play(document)) == running.without_places(running.play(other))


@examples(40)
@given(fleets.scenarios(), st.integers(0, 60))
def test_a_run_that_is_cut_shows_what_the_longer_run_shows(document: Document, minutes: int) -> None:
    cut = {**document, "spec": {**document["spec"], "until": f"+{minutes}m"}}
    with running.repeatable(document, f"Cut after {minutes} minutes it shows something else."):
        whole, part = running.play(document), running.play(cut)
        assert _started(part) == [job for job in _started(whole) if job[1] <= part.end]


def _started(result: Result) -> list[tuple[str, int, str]]:
    return [(job.target, job.created_at, job.tag) for job in result.ordered_jobs()]
