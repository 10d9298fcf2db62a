"""An operator whose requests fail at random, in every way that requests can: it arrives, and keeps its promises on the way,
by what the API server saw."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator

import pytest
from aiohttp import web

import kube
from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import NAMESPACES, Document
from kube import ControlPlane

from . import judging, operating, versions
from .faults import PATIENCE_SECONDS, FaultyProxy, Illness, faulty
from .operating import clique, operating_through, pod_set
from .support import play, until
from .versions import Versions

COUNT = 4


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    """That of the whole run, which is printed."""
    return int(pytestconfig.option.hypothesis_seed)


async def _changed_through_all_faults(proxy: FaultyProxy, changing: Versions, times: int) -> None:
    """From version to version, at least once, until everything that can go wrong did so many times."""
    while changing.latest < 2 or not proxy.has_dealt_all(times):
        await changing.go_on()
        await until(changing.arrived, 60)


def test_pods_are_replaced_one_by_one(control_plane: ControlPlane, kube_namespace: str, seed: int) -> None:
    def build(image: str) -> Document:
        strategy = {"maxUnavailable": 1, "maxSurge": 0}
        main = clique("main", COUNT, image, available=COUNT - 1, strategy=strategy)
        return pod_set("web", kube_namespace, 1, [main])

    async def story() -> None:
        async with control_plane.client() as client, faulty(control_plane, seed) as (proxy, through):
            await operating.install(client)
            async with operating_through(through, kube_namespace):
                images = versions.of_pods(client, build, kube_namespace, COUNT)
                await _changed_through_all_faults(proxy, images, 2)

    play(story(), 120)
    assert not judging.shortages(control_plane, kube_namespace, COUNT - 1)
    assert not judging.doubled(control_plane, kube_namespace)


@pytest.fixture
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    """Definitions are for a whole cluster."""
    with kube_session.private() as found:
        yield found


def test_waves_follow_each_other(plane: ControlPlane, seed: int) -> None:
    with kube.fresh_namespace(plane) as namespace:

        async def story() -> None:
            async with plane.client() as client, faulty(plane, seed) as (proxy, through):
                await operating.install(client)
                async with operating_through(through, namespace):
                    await versions.define_raft(client)
                    await versions.raft_is_served(client)
                    raft = versions.of_raft(client, namespace)
                    await _changed_through_all_faults(proxy, raft, 3)

        play(story(), 120)
        versions.assert_waves(plane, namespace)


async def _nonsense(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="<html>welcome to the hotel's network</html>", content_type="text/html")


async def _broken(_: web.BaseRequest) -> web.StreamResponse:
    return web.json_response({"kind": "Status", "message": "etcd has no leader", "code": 500}, status=500)


async def _shapeless(_: web.BaseRequest) -> web.StreamResponse:
    return web.json_response({"items": "none"})


async def _slow(_: web.BaseRequest) -> web.StreamResponse:
    await asyncio.sleep(PATIENCE_SECONDS * 2)
    return web.Response(status=504)


@pytest.mark.parametrize(
    ("illness", "said"),
    [
        (_nonsense, "is not JSON"),
        (_broken, "etcd has no leader"),
        (_shapeless, ""),
        (_slow, "is silent for"),
    ],
    ids=["nonsense", "5xx", "another shape", "slow"],
)
def test_a_kind_that_is_answered_badly_is_named_and_its_objects_stay_as_they_are(
    control_plane: ControlPlane, kube_namespace: str, illness: Illness, said: str
) -> None:
    """Pods are asked for in vain when the operator begins, while a set is there that has changed meanwhile: it does not
    take them for gone. When they are answered for again, the change is made."""
    namespace = kube_namespace

    def build(image: str) -> Document:
        return pod_set("web", namespace, 1, [clique("main", 2, image)])

    async def story() -> None:
        async with control_plane.client() as client, faulty(control_plane, 0) as (proxy, through):
            proxy.is_well = True
            await operating.install(client)
            images = versions.of_pods(client, build, namespace, 2)
            async with operating_through(through, namespace):
                await images.go_on()
                await until(images.arrived, 60)
            first = await _uids(client, namespace)
            proxy.ill["/pods"] = illness
            async with operating_through(through, namespace) as operator:
                await images.go_on()

                def is_named() -> bool:
                    return any(each.startswith("pods: ") and said in each for each in operator.problems())

                await until(is_named, 60)
                assert await _uids(client, namespace) == first
                proxy.ill.clear()
                await until(images.arrived, 60)
                await until(lambda: not operator.problems(), 60)

    play(story(), 120)
    assert not judging.doubled(control_plane, namespace)


async def _uids(client: Client, namespace: str) -> set[str]:
    return {pod["metadata"]["uid"] for pod in await operating.pods_of(client, "web", namespace)}


def test_a_cluster_that_is_restored_from_an_older_copy_is_taken_as_it_is(kube_session: kube.Session) -> None:
    """The operator knows pods and objects that never were, by then, and an end of things that are there again. It builds
    from what there is: the old version is rolled to what the set says now, which is the old one too, and nothing is
    deleted for what was known before."""
    with kube_session.private(4) as plane, kube.fresh_namespace(plane) as namespace:
        copy = plane.folder / "etcd-copy"

        def build(image: str) -> Document:
            return pod_set("web", namespace, 1, [clique("main", 2, image)])

        async def story() -> None:
            async with plane.client() as client:
                await operating.install(client)
                images = versions.of_pods(client, build, namespace, 2)
                async with operating.operating(plane, namespace):
                    await images.go_on()
                    await until(images.arrived, 60)
                    await until(lambda: operating.is_updated(client, "web", namespace), 60)
                    first = await _uids(client, namespace)
                    await asyncio.to_thread(plane.stop, immediate=True)
                    shutil.copytree(plane.folder / "etcd", copy)
                    await asyncio.to_thread(plane.start)

                    await images.go_on()
                    await until(images.arrived, 60)
                    await _age(client)
                    assert not first & await _uids(client, namespace)
                    await asyncio.to_thread(plane.stop, immediate=True)
                    shutil.rmtree(plane.folder / "etcd")
                    copy.rename(plane.folder / "etcd")
                    await asyncio.to_thread(plane.start)

                    assert await _uids(client, namespace) == first
                    # It has seen the set as it is now when it follows a change of it.
                    document = build("v1")
                    document["spec"]["replicas"] = 2
                    await operating.apply(client, document)

                    async def is_grown() -> bool:
                        return len(await _uids(client, namespace)) == 4

                    await until(is_grown, 60)
                    await until(lambda: operating.is_updated(client, "web", namespace), 60)
                    pods = await operating.pods_of(client, "web", namespace)
                    assert operating.images(pods) == {"v1"}
                    assert first < await _uids(client, namespace)

        play(story(), 200)


async def _age(client: Client) -> None:
    """More happens than a start makes happen, so that the present after it lies in the past."""
    for number in range(300):
        await client.patch(NAMESPACES, "default", "", {"metadata": {"labels": {"count": str(number)}}})
