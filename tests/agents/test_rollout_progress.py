"""How far a set or an instance is, by its status alone: what counts as done, as held, and as failed."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.agents import graph, workload


def pod_set(reason: str, truth: str = "True", available: str = "True", **status: Any) -> dict[str, Any]:
    conditions = [
        {"type": "Available", "status": available, "message": "1 of 2 replicas are available"},
        {"type": "Progressing", "status": truth, "reason": reason, "message": f"it is {reason}"},
    ]
    return {
        "metadata": {"generation": 3},
        "spec": {"replicas": 2},
        "status": {"observedGeneration": 3, "conditions": conditions, **status},
    }


UNDER_WAY = {"rollingUpdateProgress": {"revision": "b"}}
OVER = {"rollingUpdateProgress": {"revision": "b", "updateEndedAt": "2026-03-01T09:00:00Z"}}


def aborted(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, "metadata": {**found["metadata"], "annotations": {"headgate.dev/abort": "b@3"}}}


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (pod_set("Started"), "done"),
        (pod_set("Started", available="False"), "moving"),
        (pod_set("Updating", **UNDER_WAY), "moving"),
        (pod_set("UpdateComplete", **OVER), "done"),
        (pod_set("UpdateComplete", available="False", **OVER), "moving"),
        (pod_set("UpdateComplete", observedGeneration=2, **OVER), "moving"),
        (pod_set("Paused", "Unknown", **UNDER_WAY), "held"),
        (pod_set("OnDelete", updatedReplicas=1, **OVER), "held"),
        (pod_set("OnDelete", updatedReplicas=2, **OVER), "done"),
        (aborted(pod_set("Aborted", "False", **OVER)), "failed"),
        (pod_set("Aborted", "False", **OVER), "moving"),
        (pod_set("ProgressDeadlineExceeded", "False", **UNDER_WAY), "failed"),
        (pod_set("ProgressDeadlineExceeded", "False", rolledBack={"from": "b"}, **UNDER_WAY), "moving"),
        (pod_set("RolledBack", rolledBack={"from": "b"}, **OVER), "failed"),
        (pod_set("Invalid", "False"), "failed"),
        ({"metadata": {"generation": 1}, "spec": {}}, "moving"),
    ],
)
def test_a_set_is_done_when_all_that_was_applied_is_new_and_available(
    found: dict[str, Any], state: str
) -> None:
    assert workload.progress_of(found).state == state


def instance(
    is_ready: bool, is_propagated: bool, *conditions: dict[str, str], **marks: str
) -> dict[str, Any]:
    own = {"observedGeneration": 3, "isReady": is_ready, "isPropagated": is_propagated, "revision": 4}
    return {
        "metadata": {"generation": 3, "annotations": dict(marks)},
        "status": {"headgate": own, "conditions": list(conditions)},
    }


WAITS = {"type": "ResourcesPropagated", "status": "Unknown", "message": "3 of 8 at revision 4"}
UNREADY = {"type": "ResourcesReady", "status": "False", "message": "db: Pod db is not ready"}
UNRESOLVED = {"type": "GraphResolved", "status": "False", "message": "db: no such field"}


@pytest.mark.parametrize(
    ("found", "state", "said"),
    [
        (instance(True, True), "done", "all of it is at revision 4 and ready"),
        (instance(True, False, WAITS), "moving", "3 of 8 at revision 4"),
        (instance(False, False, WAITS, UNREADY), "moving", "3 of 8 at revision 4; db: Pod db is not ready"),
        (instance(False, True, UNREADY, UNRESOLVED), "moving", "db: no such field"),
        (instance(False, False), "moving", "not all of it is propagated; not all of it is ready"),
        (
            instance(True, False, WAITS, **{"headgate.dev/propagation": "paused"}),
            "held",
            "3 of 8 at revision 4; its propagation is paused by somebody, who has to resume it",
        ),
        ({"metadata": {"generation": 1}}, "moving", "waiting for the operator to take it up"),
    ],
)
def test_an_instance_is_done_when_it_is_propagated_and_ready(
    found: dict[str, Any], state: str, said: str
) -> None:
    progress = graph.progress_of(found)
    assert (progress.state, progress.message) == (state, said)
