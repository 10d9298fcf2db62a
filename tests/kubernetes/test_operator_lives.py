"""Operators that are killed a hundred times, in the midst of what they do: what was promised holds all the time, by what
the API server saw."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest

import kube
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import PODS, ApiResource, Document
from headgate.workload import labels
from kube import ControlPlane

from . import judging, operating
from .lives import Lives, lives
from .operating import clique, pod_set
from .support import CONFIG_MAPS, is_ready, play, until
from .test_operator_graphs import GRAPHS

KILLS_OF_PODS, KILLS_OF_REPLICAS, KILLS_OF_WAVES = 20, 20, 60
COUNT = 4
LETTERS = "abcdef"
RAFTS = ApiResource("kro.run", "v1alpha1", "Raft", "rafts")
Apply = Callable[[int], Awaitable[object]]
IsAt = Callable[[int], Awaitable[bool]]


def test_enough_of_them_are_killed() -> None:
    assert KILLS_OF_PODS + KILLS_OF_REPLICAS + KILLS_OF_WAVES >= 100


class Versions:
    """A next one as soon as everything is at the last."""

    def __init__(self, apply: Apply, is_at: IsAt) -> None:
        self._apply, self._is_at = apply, is_at
        self.latest = 0

    async def go_on(self) -> None:
        if self.latest == 0 or await self._is_at(self.latest):
            self.latest += 1
            await self._apply(self.latest)

    async def arrived(self) -> bool:
        return await self._is_at(self.latest)


def _of_pods(client: Client, build: Callable[[str], Document], namespace: str) -> Versions:
    async def apply(version: int) -> None:
        await operating.apply(client, build(f"v{version}"))

    async def is_at(version: int) -> bool:
        pods = await operating.pods_of(client, "web", namespace)
        is_new = operating.images(pods) == {f"v{version}"}
        return is_new and sum(map(is_ready, pods)) == len(pods) == COUNT

    return Versions(apply, is_at)


async def _changed_by_all_of(found: Lives, versions: Versions, kills: int) -> None:
    """All is there before the first of them is killed."""
    await versions.go_on()
    await until(versions.arrived, 60)
    await found.pass_away(kills, versions.go_on)
    await until(versions.arrived, 60)


def test_pods_are_replaced_one_by_one(control_plane: ControlPlane, kube_namespace: str) -> None:
    def build(image: str) -> Document:
        strategy = {"maxUnavailable": 1, "maxSurge": 0}
        main = clique("main", COUNT, image, available=COUNT - 1, strategy=strategy)
        return pod_set("web", kube_namespace, 1, [main])

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            versions = _of_pods(client, build, kube_namespace)
            async with lives(control_plane, kube_namespace, client, PODS) as found:
                await found.begin()
                await _changed_by_all_of(found, versions, KILLS_OF_PODS)

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
            versions = _of_pods(client, build, kube_namespace)
            async with lives(control_plane, kube_namespace, client, PODS) as found:
                await found.begin()
                await _changed_by_all_of(found, versions, KILLS_OF_REPLICAS)

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


def _raft() -> Document:
    template = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "raft-${letter}"},
        "data": {"version": "${string(schema.spec.version)}"},
    }
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": "raft"},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": "Raft", "spec": {"version": "integer"}},
            "resources": [
                {
                    "id": "maps",
                    "forEach": [{"letter": f"${{{list(LETTERS)}}}"}],
                    "propagateWhen": ["${linearlyUpdated(each, maps, 2)}"],
                    "template": template,
                }
            ],
        },
    }


def test_waves_follow_each_other(plane: ControlPlane) -> None:
    """Two objects at a time, in their order, each to each version once, and none ever goes back."""
    with kube.fresh_namespace(plane) as namespace:

        async def story() -> None:
            async with plane.client() as client:
                await operating.install(client)

                async def apply(version: int) -> None:
                    document = {
                        "apiVersion": "kro.run/v1alpha1",
                        "kind": "Raft",
                        "metadata": {"name": "raft", "namespace": namespace},
                        "spec": {"version": version},
                    }
                    await client.apply(RAFTS, document, manager="people", force=True)

                async def is_at(version: int) -> bool:
                    found = (await client.list(CONFIG_MAPS, namespace)).items
                    ours = [each for each in found if each["metadata"]["name"].startswith("raft-")]
                    said = [each["data"]["version"] for each in ours]
                    return said == [str(version)] * len(LETTERS)

                async def is_served() -> bool:
                    try:
                        await client.list(RAFTS)
                    except ApiError:
                        return False
                    return True

                versions = Versions(apply, is_at)
                async with lives(plane, namespace, client, CONFIG_MAPS, is_impatient=True) as found:
                    await client.apply(GRAPHS, _raft(), manager="people", force=True)
                    await found.begin()
                    await until(is_served, 60)
                    await _changed_by_all_of(found, versions, KILLS_OF_WAVES)

        play(story(), 300)
        written = [
            (int(entry.document["data"]["version"]), entry.name[-1])
            for entry in judging.entries(plane, namespace, "configmaps")
            if entry.name.startswith("raft-") and entry.verb != "delete"
        ]
    fresh = list(dict.fromkeys(written))
    assert [version for version, _ in fresh] == sorted(version for version, _ in fresh)
    for version in {version for version, _ in fresh}:
        letters = [letter for number, letter in fresh if number == version]
        waves = [set(letters[start : start + 2]) for start in range(0, len(LETTERS), 2)]
        assert waves == [set("ab"), set("cd"), set("ef")], version
