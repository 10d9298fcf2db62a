"""Whatever set, edit, scaling, fault, lag or restart: the promises are kept, and a restart is not seen in the result."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.simulate.model.result import Result

from . import running, sharing, workloads
from .choosing import CHOOSERS
from .effort import examples

Document = dict[str, Any]


def scenarios() -> st.SearchStrategy[Document]:
    return CHOOSERS.map(workloads.scenario)


@examples(160)
@given(scenarios())
def test_no_promise_is_broken(document: Document) -> None:
    running.holds(_keeps_its_promises, document)


@examples(40)
@given(scenarios().map(sharing.shared))
def test_no_promise_is_broken_where_devices_are_shared(document: Document) -> None:
    running.holds(_has_its_claims, document)


@examples(30)
@given(scenarios())
def test_restarts_of_the_planner_are_not_seen(document: Document) -> None:
    """Without lag: every pod comes, starts and goes at the same moment, wherever the planner died."""
    running.holds(_is_the_same_with_crashes, document)


@examples(20)
@given(scenarios())
def test_restarts_of_a_planner_that_is_told_late_do_not_change_the_end(document: Document) -> None:
    """The way differs: a planner that starts lists everything, and so knows what it would have been told later."""
    running.holds(_ends_the_same_with_crashes, document)


@examples(20)
@given(scenarios())
def test_the_same_scenario_twice_gives_equal_bytes(document: Document) -> None:
    running.holds(_is_repeatable, document)


def _keeps_its_promises(document: Document) -> None:
    for broken in running.play(document).violations:
        raise AssertionError(f"{broken.promise}: {broken.message}")


def _has_its_claims(document: Document) -> None:
    """Also that every pod which is there in the end has all claims that it names."""
    result = running.play(document)
    for broken in result.violations:
        raise AssertionError(f"{broken.promise}: {broken.message}")
    if not result.converged:
        return
    written = result.document()
    live = {
        item["name"]
        for item in written["objects"]
        if item["kind"] == "ResourceClaim" and item["deletedAt"] is None
    }
    named = {name for pod in written["pods"] if pod["deletedAt"] is None for name in pod["claims"]}
    assert named <= live


def _is_the_same_with_crashes(document: Document) -> None:
    calm, crashing = _calm_and_crashing(document, lag={})
    assert _lives(calm) == _lives(crashing)


def _ends_the_same_with_crashes(document: Document) -> None:
    lag = document["spec"].get("cluster", {}).get("lag", "5s")
    calm, crashing = _calm_and_crashing(document, lag={"lag": lag})
    if calm.converged and crashing.converged:
        assert _standing(calm) == _standing(crashing)


def _calm_and_crashing(document: Document, lag: Document) -> tuple[Result, Result]:
    spec = document["spec"]
    given = {key: value for key, value in spec["cluster"].items() if key not in ("lag", "crashAtWrites")}
    calm = running.play({**document, "spec": {**spec, "cluster": {**given, **lag}}})
    crashes = {"crashAtWrites": list(range(3, 600, 7))}
    crashing = running.play({**document, "spec": {**spec, "cluster": {**given, **lag, **crashes}}})
    for broken in crashing.violations:
        raise AssertionError(f"{broken.promise}: {broken.message}")
    return calm, crashing


def _lives(result: Result) -> list[tuple[str, ...]]:
    """All that is seen of a pod but its name, which a clique that came a pass later may draw otherwise."""
    return sorted(
        tuple(str(value) for key, value in pod.items() if key != "name") for pod in result.document()["pods"]
    )


def _standing(result: Result) -> list[tuple[Any, ...]]:
    return sorted(
        (pod["pcsReplica"], pod["pcsg"] or "", pod["pcsgReplica"] or 0, pod["clique"], pod["index"])
        for pod in result.document()["pods"]
        if pod["deletedAt"] is None
    )


def _is_repeatable(document: Document) -> None:
    assert running.play(document).to_json() == running.play(document).to_json()
