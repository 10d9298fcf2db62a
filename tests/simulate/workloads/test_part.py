"""The cluster in a scenario: manifests, steps, and what the result says, with a planner that knows no budgets."""

from typing import Any

import pytest

from . import trivial
from .little import after, clique, group, lives, new_image, play_trivially, pod_clique_set

WEB = clique("web", 2)


def promises(result: Any) -> set[str]:
    return {violation.promise for violation in result.violations}


def test_pods_have_the_moments_of_their_lives() -> None:
    kill = {"at": "+1m", "killPod": {"match": "pod.index == 1"}}
    result = play_trivially(kill, objects=[pod_clique_set(WEB)], until="+1m20s")
    assert lives(result)[:2] == [
        ("0.web.0", "r1", "0s", "1s", "31s", None, None),
        ("0.web.1", "r1", "0s", "1s", "31s", "1m", "1m10s"),
    ]


def test_a_pod_of_a_group_says_where_it_stands() -> None:
    objects = [pod_clique_set(clique("p"), groups=(group("prefill", "p", replicas=2),), replicas=2)]
    result = play_trivially(objects=objects)
    last = max(result.pods, key=lambda pod: (pod["pcsReplica"], pod["pcsgReplica"]))
    assert {
        key: last[key] for key in ("pcs", "pcsReplica", "pcsg", "pcsgReplica", "clique", "index", "gang")
    } == {
        "pcs": "llm",
        "pcsReplica": 1,
        "pcsg": "prefill",
        "pcsgReplica": 1,
        "clique": "p",
        "index": 0,
        "gang": "llm-1-prefill-0",
    }
    assert result.converged


def test_going_back_to_an_earlier_content_is_the_earlier_revision() -> None:
    steps = [new_image("app:2", WEB), new_image("app:3", WEB, at="+10m"), new_image("app:2", WEB, at="+15m")]
    result = play_trivially(*steps, objects=[pod_clique_set(WEB)])
    assert [pod["revision"] for pod in result.pods] == [1, 1, 2, 2, 3, 3, 2, 2]


def test_an_invalid_set_is_recorded_with_all_its_problems() -> None:
    broken = pod_clique_set(clique("web", 2, minAvailable=3), strategy={"type": "Sideways"})
    result = play_trivially(objects=[broken, pod_clique_set(WEB, name="good")])
    refused = result.document()["rejected"]
    assert [item["step"] for item in refused] == ["objects[0]"]
    assert {error["path"] for error in refused[0]["errors"]} == {
        "spec.updateStrategy.type",
        "spec.template.cliques[0].spec.minAvailable",
    }
    assert {pod["pcs"] for pod in result.pods} == {"good"}


def test_a_scenario_whose_budget_is_exceeded_fails_by_its_limits() -> None:
    """As with a planner that heeds no budget: both pods are replaced at once."""
    expect = [{"name": "no budget is exceeded", "that": "result.budgets.withinLimits()"}]
    result = play_trivially(new_image("app:2", WEB), objects=[pod_clique_set(WEB)], expect=expect)
    [expected] = result.expectations
    assert not expected.passed
    assert "result.budgets is [" in expected.message


def test_an_edit_that_may_not_be_made_is_refused_and_changes_nothing() -> None:
    result = play_trivially(new_image("app:2", clique("other")), objects=[pod_clique_set(WEB)])
    assert [item.step for item in result.rejected] == ["timeline[0].patch"]
    assert len(result.pods) == 2


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ({"patch": {"kind": "PodCliqueSet", "name": "nobody", "patch": {}}}, "name"),
        ({"delete": {"kind": "PodCliqueSet", "name": "nobody"}}, "name"),
        ({"killPod": {"match": "pod.clique == 'nobody'"}}, "match"),
        ({"killPod": {"match": "pod.clique =="}}, "match"),
        ({"cordon": {"nodes": 1}}, "nodes"),
        ({"patch": {"kind": "PodCliqueSet", "name": "llm", "patch": {"kind": "Pod"}}}, "patch.kind"),
    ],
)
def test_a_step_that_cannot_be_done_is_refused(step: dict[str, Any], path: str) -> None:
    result = play_trivially({"at": "+1m", **step}, objects=[pod_clique_set(WEB)])
    assert [error.path for item in result.rejected for error in item.errors] == [path]


def test_a_patch_without_a_namespace_needs_exactly_one_match() -> None:
    other = pod_clique_set(WEB)
    other["metadata"]["namespace"] = "elsewhere"
    patch: dict[str, Any] = {"kind": "PodCliqueSet", "name": "llm", "patch": {"spec": {"replicas": 2}}}
    unclear = {"at": "+1m", "patch": patch}
    clear = {"at": "+1m", "patch": {**patch, "namespace": "elsewhere"}}
    result = play_trivially(unclear, clear, objects=[pod_clique_set(WEB), other])
    assert [item.step for item in result.rejected] == ["timeline[0].patch"]
    assert len(result.pods) == 6


def test_a_deleted_set_takes_everything_with_it() -> None:
    result = play_trivially(
        {"at": "+1m", "delete": {"kind": "PodCliqueSet", "name": "llm"}}, objects=[pod_clique_set(WEB)]
    )
    assert all(pod["goneAt"] is not None for pod in result.pods)
    assert all(item["deletedAt"] is not None for item in result.objects)
    assert result.converged
    assert promises(result) == set()


def test_objects_are_listed_with_their_writes_and_when_they_were_ready() -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 1},
    }
    behavior = {"match": "object.kind == 'Deployment'", "status": {"after": "45s", "set": {"ok": True}}}
    patch = {"kind": "Deployment", "name": "web", "patch": {"spec": {"replicas": 2}}}
    delete = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    result = play_trivially(
        {"at": "+1m", "patch": patch},
        {"at": "+5m", "delete": delete},
        objects=[deployment],
        cluster={"behaviors": [behavior]},
    )
    (entry,) = result.objects
    assert [after(result, write["at"]) for write in entry["writes"]] == ["0s", "1m"]
    assert [after(result, moment) for moment in entry["readyAt"]] == ["45s", "1m45s"]
    assert after(result, entry["deletedAt"]) == "5m"


def test_a_change_of_a_condition_is_recorded_once() -> None:
    condition = {"type": "Ready", "status": "True", "reason": "Up", "message": "it is up"}
    behavior = {"match": "true", "status": {"after": "45s", "set": {"conditions": [condition]}}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {}}
    patch = {"kind": "Deployment", "name": "web", "patch": {"spec": {"replicas": 2}}}
    result = play_trivially(
        {"at": "+5m", "patch": patch}, objects=[deployment], cluster={"behaviors": [behavior]}
    )
    assert [{**item, "at": after(result, item["at"])} for item in result.conditions] == [
        {"at": "45s", "kind": "Deployment", "name": "web", **condition}
    ]


def test_a_snapshot_shows_the_status_of_every_object_and_pod() -> None:
    result = play_trivially({"at": "+10s", "snapshot": {}}, objects=[pod_clique_set(WEB)])
    (snapshot,) = result.document()["snapshots"]
    kinds = [item["kind"] for item in snapshot["objects"]]
    assert sorted(set(kinds)) == ["Pod", "PodClique", "PodCliqueSet", "PodGang", "Service"]
    pod = next(item for item in snapshot["objects"] if item["kind"] == "Pod")
    assert pod["status"]["scheduled"] is True
    assert pod["status"]["ready"] is False


def test_the_run_ends_when_only_crashes_repeat() -> None:
    result = play_trivially(objects=[pod_clique_set(WEB)], cluster={"behaviors": [{"crashAfter": "20s"}]})
    assert not result.was_cut
    assert (result.end - result.start) // 1_000_000 < 3600


def test_a_planner_that_takes_too_much_is_caught() -> None:
    result = play_trivially(new_image("app:2", WEB), objects=[pod_clique_set(WEB)])
    assert promises(result) == {"BudgetNeverExceeded", "UniqueHostname"}
    use = next(
        item for item in result.document()["budgets"] if item["kind"] == "maxUnavailable" and item["peak"]
    )
    assert (use["scope"], use["peak"], use["limit"]) == ("llm-0-web", 2, 1)
    assert after(result, use["peakAt"]) == "5m"


def test_a_planner_that_mixes_versions_is_caught() -> None:
    objects = [pod_clique_set(WEB, strategy={"type": "ReplicaRecreate"})]
    assert "NoVersionMix" in promises(play_trivially(new_image("app:2", WEB), objects=objects))


def test_a_planner_that_changes_two_replicas_at_once_is_caught() -> None:
    objects = [pod_clique_set(clique("web"), replicas=2)]
    assert "OneReplicaAtATime" in promises(play_trivially(new_image("app:2", clique("web")), objects=objects))


def test_a_planner_that_does_not_stop_when_paused_is_caught() -> None:
    objects = [pod_clique_set(WEB, strategy={"paused": True})]
    assert "StopIsAbsolute" in promises(play_trivially(new_image("app:2", WEB), objects=objects))


def test_a_planner_that_leaves_something_behind_is_caught() -> None:
    scale = {"kind": "PodCliqueSet", "name": "llm", "patch": {"spec": {"replicas": 1}}}
    result = play_trivially({"at": "+5m", "patch": scale}, objects=[pod_clique_set(WEB, replicas=2)])
    assert "NothingLeaked" in promises(result)


def test_a_planner_that_stops_without_a_reason_is_caught() -> None:
    objects = [pod_clique_set(WEB)]
    result = play_trivially(objects=objects, cluster={"nodes": 1})
    assert promises(result) == {"NoStuckWithoutReason"}, "lack of room is a fault that is not over"


def test_a_planner_that_leaves_work_undone_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trivial, "_pods", lambda *_: iter(()))
    assert "MonotoneProgress" in promises(play_trivially(objects=[pod_clique_set(WEB)]))


def test_equal_scenarios_give_equal_bytes_and_another_seed_other_names() -> None:
    def play(seed: int) -> str:
        return play_trivially(
            new_image("app:2", WEB), objects=[pod_clique_set(WEB)], seed=seed, cluster={"lag": "5s"}
        ).to_json()

    assert play(1) == play(1)
    assert play(1) != play(2)
