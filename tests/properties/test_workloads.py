"""Whatever set, edit, scaling, fault, lag or restart: the promises are kept, and a restart is not seen in the result."""

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from . import running, workloads
from .choosing import Chooser
from .effort import examples

Document = dict[str, Any]


def scenarios() -> st.SearchStrategy[Document]:
    return st.integers(0, 2**32).map(lambda seed: workloads.scenario(Chooser(Random(seed))))


@examples(160)
@given(scenarios())
def test_no_promise_is_broken(document: Document) -> None:
    running.holds(_keeps_its_promises, document)


@examples(40)
@given(scenarios())
def test_restarts_of_the_planner_change_nothing(document: Document) -> None:
    """Without lag: a planner that is told late sees other things after a restart, which lists everything afresh."""
    running.holds(_is_the_same_with_crashes, document)


@examples(20)
@given(scenarios())
def test_the_same_scenario_twice_gives_equal_bytes(document: Document) -> None:
    running.holds(_is_repeatable, document)


def _keeps_its_promises(document: Document) -> None:
    for broken in running.play(document).violations:
        raise AssertionError(f"{broken.promise}: {broken.message}")


def _is_the_same_with_crashes(document: Document) -> None:
    spec = document["spec"]
    calm_cluster = {
        key: value for key, value in spec["cluster"].items() if key not in ("lag", "crashAtWrites")
    }
    calm = {**document, "spec": {**spec, "cluster": calm_cluster}}
    crashing_cluster = {**calm_cluster, "crashAtWrites": list(range(3, 600, 7))}
    crashing = {**document, "spec": {**spec, "cluster": crashing_cluster}}
    assert _pods(calm) == _pods(crashing)


def _pods(document: Document) -> list[tuple[Any, ...]]:
    """All that is seen of a pod but its name, which a clique that came a pass later may draw otherwise."""
    return sorted(
        tuple(str(value) for key, value in pod.items() if key != "name")
        for pod in running.play(document).document()["pods"]
    )


def _is_repeatable(document: Document) -> None:
    assert running.play(document).to_json() == running.play(document).to_json()
