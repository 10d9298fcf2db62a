"""Crashes, extra looks and another order of the same things must not be seen in the result."""

import copy
from functools import partial
from pathlib import Path
from random import Random

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from headgate.fleet.engine.engine import Engine
from headgate.simulate.model.result import Result

from . import fleets, running
from .effort import examples
from .objects import Document

ONE_INSTANT = sorted((Path(__file__).parents[1] / "scenarios/one-instant").glob("who-*.yaml"))


@examples(30)
@given(fleets.scenarios())
def test_the_same_scenario_twice_gives_equal_bytes(document: Document) -> None:
    running.holds(_is_repeatable, document)


def _is_repeatable(document: Document) -> None:
    assert running.play(document).to_json() == running.play(copy.deepcopy(document)).to_json(), (
        "twice differs"
    )


@examples(150)
@given(fleets.scenarios(), st.integers(0, 2**32))
def test_crashes_at_any_moment_change_nothing(document: Document, seed: int) -> None:
    """At moments of decisions, and at moments at which nothing else happens."""
    running.holds(partial(_survives_crashes, seed=seed), document, "With crashes it gives another result.")


def _survives_crashes(document: Document, seed: int) -> None:
    calm = running.play(document)
    moments = running.moments(calm)
    chance = Random(seed)
    chosen = chance.sample(moments, min(len(moments), 12))
    chosen += [chance.randint(0, running.span_seconds(calm)) for _ in range(3)]
    running.assert_same(calm, running.play(running.with_crashes(document, sorted(chosen))))


@examples(120)
@given(fleets.scenarios())
def test_an_engine_that_keeps_only_what_it_wrote_decides_the_same(document: Document) -> None:
    check = partial(_is_the_same_with, running.ForgetfulEngine)
    running.holds(check, document, "An engine that reads its state back before every decision differs.")


@examples(120)
@given(fleets.scenarios())
def test_a_second_look_at_everything_finds_nothing_to_do(document: Document) -> None:
    check = partial(_is_the_same_with, running.LookingEngine)
    running.holds(check, document, "An engine that looks at every unit after every decision differs.")


@pytest.mark.parametrize("file", ONE_INSTANT, ids=lambda file: file.stem)
@pytest.mark.parametrize("engine", [running.ForgetfulEngine, running.LookingEngine])
def test_who_is_looked_at_first_in_one_instant_is_the_same_for_all(engine: type[Engine], file: Path) -> None:
    _is_the_same_with(engine, yaml.safe_load(file.read_text()))


def _is_the_same_with(engine: type[Engine], document: Document) -> None:
    running.assert_same(running.play(document), running.play_with(engine, document))


@examples(60)
@given(fleets.scenarios(), st.integers(0, 2**32))
def test_the_order_of_objects_of_a_kind_does_not_matter(document: Document, seed: int) -> None:
    check = partial(_is_the_same_in_any_order, seed=seed)
    running.holds(check, document, "With the objects of each kind in another order the result differs.")


def _is_the_same_in_any_order(document: Document, seed: int) -> None:
    result = running.play(document)
    if any(refused.step.startswith("objects") for refused in result.rejected):
        return
    objects = document["spec"]["objects"]
    order = {kind: number for number, kind in enumerate(dict.fromkeys(item["kind"] for item in objects))}
    shuffled = Random(seed).sample(objects, len(objects))
    shuffled.sort(key=lambda item: order[item["kind"]])
    other = {**document, "spec": {**document["spec"], "objects": shuffled}}
    running.assert_same(result, running.play(other))


@examples(60)
@given(fleets.scenarios())
def test_publications_of_one_instant_commute(document: Document) -> None:
    """Of different deployments; which version is newer is decided by time and id, not by who came first."""
    running.holds(
        _commutes, document, "With publications of one instant in another order the result differs."
    )


def _commutes(document: Document) -> None:
    swapped = fleets.with_publications_swapped(fleets.steps_of(document))
    other = {**document, "spec": {**document["spec"], "timeline": swapped}}
    one, two = running.without_places(running.play(document)), running.without_places(running.play(other))
    assert one == two, f"swapped: {running.difference(repr(one), repr(two))}"


@examples(60)
@given(fleets.scenarios(), st.integers(0, 60))
def test_a_run_that_is_cut_shows_what_the_longer_run_shows(document: Document, minutes: int) -> None:
    running.holds(partial(_begins_the_same, minutes=minutes), document, f"Cut after {minutes} minutes.")


def _begins_the_same(document: Document, minutes: int) -> None:
    cut = {**document, "spec": {**document["spec"], "until": f"+{minutes}m"}}
    whole, part = running.play(document), running.play(cut)
    expected = [job for job in _started(whole) if job[1] <= part.end]
    assert _started(part) == expected, f"cut: {_started(part)} became {expected}"


def _started(result: Result) -> list[tuple[str, int, str]]:
    return [(job.target, job.created_at, job.tag) for job in result.ordered_jobs()]
