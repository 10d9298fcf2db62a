"""The judge of the pods' stories is fair: to writes whose entries stand in another order, and to those whose are lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kube import ControlPlane

from . import judging

NAMESPACE = "here"
KILLED: dict[str, Any] = {}


def entry(
    verb: str, pod: str, version: int | None, *, ready: bool = False, going: bool = False
) -> dict[str, Any]:
    """`pod` is its name and its index, as in a1."""
    metadata: dict[str, Any] = {"name": pod, "uid": f"uid-{pod}"}
    if version is not None:
        metadata["resourceVersion"] = str(version)
    if going:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
    document = {
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"hostname": f"web-{pod[-1]}"},
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }
    return {
        "stage": "ResponseComplete",
        "verb": verb,
        "requestURI": f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}",
        "requestReceivedTimestamp": "2026-01-01T00:00:00Z",
        "objectRef": {"resource": "pods", "namespace": NAMESPACE, "name": pod},
        "responseStatus": {"code": 200},
        "responseObject": document,
    }


def created(pod: str, version: int) -> dict[str, Any]:
    return entry("create", pod, version)


def became_ready(pod: str, version: int) -> dict[str, Any]:
    return entry("patch", pod, version, ready=True)


def deleted(pod: str, version: int | None) -> dict[str, Any]:
    return entry("delete", pod, version, ready=True, going=True)


@pytest.fixture
def plane(tmp_path: Path) -> ControlPlane:
    return ControlPlane(tmp_path, 0)


def write(plane: ControlPlane, *entries: dict[str, Any]) -> None:
    start = [created("a0", 1), created("a1", 2), became_ready("a0", 3), became_ready("a1", 4)]
    plane.audit_file.write_text("".join(json.dumps(each) + "\n" for each in [*start, *entries]))


def test_a_pod_that_two_deleted_is_missed_once(plane: ControlPlane) -> None:
    replaced = [deleted("a0", 5), deleted("a0", None), created("b0", 6), became_ready("b0", 7)]
    write(plane, *replaced, deleted("a1", 8))
    assert judging.shortages(plane, NAMESPACE, 1) == []


def test_a_pod_that_two_deleted_together_served_until_then(plane: ControlPlane) -> None:
    """The second is answered with the version that the pod had before."""
    replaced = [deleted("a1", 5), created("b1", 6), became_ready("b1", 7)]
    write(plane, *replaced, deleted("a0", 8), deleted("a0", 3))
    assert judging.shortages(plane, NAMESPACE, 1) == []
    assert judging.doubled(plane, NAMESPACE) == []


def test_a_second_pod_that_goes_before_the_first_is_back_is_one_too_many(plane: ControlPlane) -> None:
    write(plane, deleted("a0", 5), created("b0", 6), deleted("a1", 7), became_ready("b0", 8))
    assert judging.shortages(plane, NAMESPACE, 1) == ["a1 was deleted at (0, 7) when 0 others were available"]


def test_versions_say_the_order_and_not_the_entries(plane: ControlPlane) -> None:
    write(plane, created("b0", 6), deleted("a0", 5), deleted("a1", 8), became_ready("b0", 7))
    assert judging.shortages(plane, NAMESPACE, 1) == []
    assert judging.doubled(plane, NAMESPACE) == []


def test_two_pods_of_one_hostname_are_told(plane: ControlPlane) -> None:
    write(plane, created("b0", 5))
    assert judging.doubled(plane, NAMESPACE) == ["a0 and b0 both had the hostname web-0"]


def test_what_a_killed_server_did_not_write_down_is_no_fault(plane: ControlPlane) -> None:
    """The end of a0 and the beginning of b0 are nowhere."""
    write(plane, KILLED, became_ready("b0", 9), deleted("a1", 10), created("b1", 11))
    assert judging.shortages(plane, NAMESPACE, 1) == []
    assert judging.doubled(plane, NAMESPACE) == []


def test_a_server_that_was_killed_excuses_nothing_that_came_later(plane: ControlPlane) -> None:
    write(
        plane,
        KILLED,
        became_ready("a0", 9),
        deleted("a0", 10),
        created("b0", 11),
        created("c0", 12),
        deleted("a1", 13),
    )
    assert len(judging.shortages(plane, NAMESPACE, 1)) == 1
    assert judging.doubled(plane, NAMESPACE) == ["b0 and c0 both had the hostname web-0"]
