"""What people ask of a set on a timeline: pause, resume, abort, explain."""

from typing import Any

import pytest

from headgate.kernel.problems import Rejected
from headgate.simulate import scenario

from ..small import document
from .little import after, clique, new_image, play, pod_clique_set

WEB = clique("web", 3)


def order(action: str, at: str) -> dict[str, Any]:
    return {"at": at, "workload": {"action": action, "name": "llm"}}


def test_a_paused_set_takes_nothing_down_until_it_is_resumed() -> None:
    result = play(
        new_image("app:2", WEB),
        order("pause", "+5m30s"),
        order("resume", "+20m"),
        objects=[pod_clique_set(WEB)],
    )
    deleted = sorted(after(result, pod["deletedAt"]) or "" for pod in result.pods if pod["deletedAt"])
    assert deleted == ["20m", "20m41s", "5m"]
    assert result.converged
    assert result.violations == []


def test_an_aborted_update_leaves_the_rest_as_it_is() -> None:
    result = play(new_image("app:2", WEB), order("abort", "+5m30s"), objects=[pod_clique_set(WEB)])
    assert sorted(pod["revision"] for pod in result.pods if pod["deletedAt"] is None) == [1, 1, 2]
    assert not result.converged
    assert result.violations == []
    assert [(item.target, item.state) for item in result.waiting] == [("llm", "held")]


def test_an_explanation_says_what_is_waited_for() -> None:
    stuck = {"behaviors": [{"match": "revision == 2", "never": "ready"}]}
    ask = {"at": "+20m", "explain": {"workload": "llm"}}
    result = play(new_image("app:2", WEB), ask, objects=[pod_clique_set(WEB)], cluster=stuck)
    (explained,) = result.document()["explanations"]
    assert (explained["target"], explained["state"]) == ("llm", "updating")
    named = [line["message"] for line in explained["rules"] if line["type"] == "UnitBreached"]
    assert len(named) == 1
    assert "scheduled and not ready" in named[0]


def test_a_set_that_is_not_there_cannot_be_explained_or_paused() -> None:
    steps = [{"at": "+1m", "explain": {"workload": "nobody"}}, {**order("pause", "+1m")}]
    steps[1]["workload"]["name"] = "nobody"
    result = play(*steps, objects=[pod_clique_set(WEB)])
    assert [item.step for item in result.rejected] == ["timeline[0].explain", "timeline[1].workload"]


@pytest.mark.parametrize("asked", [{}, {"target": "a/b/c", "workload": "llm"}])
def test_an_explanation_is_of_a_target_or_of_a_workload(asked: dict[str, str]) -> None:
    with pytest.raises(Rejected, match="needs exactly one of target"):
        scenario.read(document({"at": "+1m", "explain": asked}))


def test_an_unknown_order_is_refused_with_the_scenario() -> None:
    with pytest.raises(Rejected, match="allowed are pause, resume, abort"):
        scenario.read(document(order("stop", "+1m")))


def test_a_crash_of_the_planner_leaves_no_trace() -> None:
    crashes = [{"at": f"+{second}s", "crash": "engine"} for second in (300, 305, 311, 341)]
    plain = play(new_image("app:2", WEB), objects=[pod_clique_set(WEB)])
    crashed = play(new_image("app:2", WEB), *crashes, objects=[pod_clique_set(WEB)])
    assert crashed.violations == []
    assert crashed.document()["pods"] == plain.document()["pods"]


@pytest.mark.parametrize("lag", ["1s", "15s", "2m"])
def test_late_notifications_delay_an_update_and_break_nothing(lag: str) -> None:
    result = play(
        new_image("app:2", WEB),
        objects=[pod_clique_set(WEB)],
        cluster={"lag": lag, "crashAtWrites": [4, 9, 20, 31]},
    )
    assert result.converged
    assert result.violations == []
    assert sorted(pod["revision"] for pod in result.pods if pod["deletedAt"] is None) == [2, 2, 2]
