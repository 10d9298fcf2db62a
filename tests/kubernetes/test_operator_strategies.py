"""The examples of update strategies on a real control plane: what is replaced, and in which order, by its audit log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headgate.kubernetes.resources import Document
from headgate.workload import labels
from kube import ControlPlane

from . import judging, operating
from .operating import clique, pod_set
from .operating import operating as operator_of
from .support import is_ready, play, until

SURGE = {"maxUnavailable": 0, "maxSurge": 1}
AT_ONCE = {"maxUnavailable": 2, "maxSurge": 0}
Build = Callable[[str, str], Document]
"""The set in a namespace, with an image."""


def _pods(namespace: str, image: str) -> Document:
    return pod_set("llm", namespace, 1, [clique("worker", 3, image, strategy=SURGE)])


def _groups(available: int) -> Build:
    def build(namespace: str, image: str) -> Document:
        group = {
            "name": "sg",
            "cliqueNames": ["worker"],
            "replicas": 3,
            "minAvailable": available,
            "updateStrategy": SURGE,
        }
        return pod_set("llm", namespace, 1, [clique("worker", 1, image)], [group])

    return build


def _replicas(count: int, budget: dict[str, int]) -> Build:
    def build(namespace: str, image: str) -> Document:
        strategy = {"type": "ReplicaRecreate", "rollingUpdate": budget}
        return pod_set("llm", namespace, count, [clique("worker", 1, image)], strategy=strategy)

    return build


ONE_BY_ONE = ["+3", "-0", "+0", "-1", "+1", "-2", "+2", "-3"]
"""One is made beside the others, each of these is replaced in turn, and the one more goes."""


@pytest.mark.parametrize(
    ("build", "label", "count", "steps"),
    [
        pytest.param(_pods, labels.POD_INDEX, 3, ONE_BY_ONE, id="pods-with-surge"),
        pytest.param(
            _groups(3), labels.SCALING_GROUP_REPLICA_INDEX, 3, ONE_BY_ONE, id="group-in-its-base-gang"
        ),
        pytest.param(
            _groups(2), labels.SCALING_GROUP_REPLICA_INDEX, 3, ONE_BY_ONE, id="group-with-scaled-gangs"
        ),
        pytest.param(
            _replicas(3, SURGE), labels.PCS_REPLICA_INDEX, 3, ONE_BY_ONE, id="three-replicas-with-surge"
        ),
        pytest.param(
            _replicas(2, SURGE),
            labels.PCS_REPLICA_INDEX,
            2,
            ["+2", "-0", "+0", "-1", "+1", "-2"],
            id="two-replicas-with-surge",
        ),
        pytest.param(
            _replicas(2, AT_ONCE),
            labels.PCS_REPLICA_INDEX,
            2,
            ["+0", "+1", "-0", "-1"],
            id="two-replicas-at-once",
        ),
    ],
)
def test_an_update_takes_the_steps_of_its_strategy(
    control_plane: ControlPlane, kube_namespace: str, build: Build, label: str, count: int, steps: list[str]
) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)

            async def is_all(image: str) -> bool:
                pods = await operating.pods_of(client, "llm", namespace)
                return operating.images(pods) == {image} and sum(map(is_ready, pods)) == len(pods) == count

            async with operator_of(control_plane, namespace):
                await operating.apply(client, build(namespace, "v1"))
                await until(lambda: is_all("v1"), 60)
                await operating.apply(client, build(namespace, "v2"))
                await until(lambda: len(taken()) >= len(steps), 60)
                await until(lambda: is_all("v2"))
                await until(lambda: operating.is_updated(client, "llm", namespace))

    def taken() -> list[str]:
        return _steps(control_plane, namespace, label)[count:]

    play(story(), 150)
    assert (sorted(taken()) if steps == sorted(steps) else taken()) == steps


def _steps(plane: ControlPlane, namespace: str, label: str) -> list[str]:
    """Which unit's pod was made or deleted, one after the other."""
    found: list[tuple[judging.Moment, str]] = []
    for life in judging.lives(plane, namespace):
        found.append((life.began, f"+{life.labels[label]}"))
        found += [(life.going, f"-{life.labels[label]}")] if life.going is not None else []
    return [step for _, step in sorted(found)]
