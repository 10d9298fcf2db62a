"""Operators that are killed a hundred times, in the midst of what they do: what was promised holds all the time, by what
the API server saw."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kube
from headgate.kubernetes.resources import PODS, Document
from headgate.workload import labels
from kube import ControlPlane

from . import judging, operating, versions
from .lives import Lives, lives
from .operating import clique, pod_set
from .support import CONFIG_MAPS, play, until
from .versions import Versions

KILLS_OF_PODS, KILLS_OF_REPLICAS, KILLS_OF_WAVES = 20, 20, 60
COUNT = 4


def test_enough_of_them_are_killed() -> None:
    assert KILLS_OF_PODS + KILLS_OF_REPLICAS + KILLS_OF_WAVES >= 100


async def _changed_by_all_of(found: Lives, changing: Versions, kills: int) -> None:
    """All is there before the first of them is killed."""
    await changing.go_on()
    await until(changing.arrived, 60)
    await found.pass_away(kills, changing.go_on)
    await until(changing.arrived, 60)


def test_pods_are_replaced_one_by_one(control_plane: ControlPlane, kube_namespace: str) -> None:
    def build(image: str) -> Document:
        strategy = {"maxUnavailable": 1, "maxSurge": 0}
        main = clique("main", COUNT, image, available=COUNT - 1, strategy=strategy)
        return pod_set("web", kube_namespace, 1, [main])

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            images = versions.of_pods(client, build, kube_namespace, COUNT)
            async with lives(control_plane, kube_namespace, client, PODS) as found:
                await found.begin()
                await _changed_by_all_of(found, images, KILLS_OF_PODS)

    play(story(), 300)
    assert not judging.shortages(control_plane, kube_namespace, COUNT - 1)
    assert not judging.doubled(control_plane, kube_namespace)


def test_replicas_are_replaced_whole(control_plane: ControlPlane, kube_namespace: str) -> None:
    """Two replicas of two pods each, with one more beside them: never fewer than two whole ones, never a mixed one."""

    def build(image: str) -> Document:
        budget = {"maxUnavailable": 0, "maxSurge": 1}
        strategy = {"type": "ReplicaRecreate", "rollingUpdate": budget}
        return pod_set("web", kube_namespace, 2, [clique("main", 2, image)], strategy=strategy)

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            images = versions.of_pods(client, build, kube_namespace, COUNT)
            async with lives(control_plane, kube_namespace, client, PODS) as found:
                await found.begin()
                await _changed_by_all_of(found, images, KILLS_OF_REPLICAS)

    play(story(), 300)
    assert not judging.doubled(control_plane, kube_namespace)
    assert not judging.mixtures(
        control_plane, kube_namespace, labels.PCS_REPLICA_INDEX, labels.POD_TEMPLATE_HASH
    )


@pytest.fixture
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    """Definitions are for a whole cluster."""
    with kube_session.private() as found:
        yield found


def test_waves_follow_each_other(plane: ControlPlane) -> None:
    with kube.fresh_namespace(plane) as namespace:

        async def story() -> None:
            async with plane.client() as client:
                await operating.install(client)
                raft = versions.of_raft(client, namespace)
                async with lives(plane, namespace, client, CONFIG_MAPS, is_impatient=True) as found:
                    await versions.define_raft(client)
                    await found.begin()
                    await versions.raft_is_served(client)
                    await _changed_by_all_of(found, raft, KILLS_OF_WAVES)

        play(story(), 300)
        versions.assert_waves(plane, namespace)
