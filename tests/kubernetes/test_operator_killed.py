"""Processes of the operator that are killed at any moment: what was promised holds, by what the API server saw."""

from __future__ import annotations

import asyncio
import random
import signal

import kube
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError, NotFoundError
from headgate.kubernetes.resources import LEASES, Document
from headgate.operator.installation import settings
from kube import ControlPlane

from . import judging, operating
from .operating import clique, pod_set
from .processes import processes
from .support import is_ready, play, until

PODS = 6
KILLS = 5


def wanted(namespace: str, image: str) -> Document:
    """Pods take a moment to become ready, so that there is something to interrupt."""
    strategy = {"maxUnavailable": 1, "maxSurge": 0}
    slow = {"headgate.test/ready-after": "300ms"}
    main = clique("main", PODS, image, available=PODS - 1, strategy=strategy, annotations=slow)
    return pod_set("web", namespace, 1, [main])


async def is_all(client: Client, namespace: str, image: str) -> bool:
    pods = await operating.pods_of(client, "web", namespace)
    return operating.images(pods) == {image} and sum(map(is_ready, pods)) == len(pods) == PODS


def test_a_roll_goes_on_whoever_is_killed_and_never_takes_a_pod_too_many(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    namespace, chance = kube_namespace, random.Random(7)

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            with processes(control_plane, namespace) as found:
                await operating.apply(client, wanted(namespace, "v1"))
                await until(lambda: is_all(client, namespace, "v1"), 60)
                await operating.apply(client, wanted(namespace, "v2"))
                for _ in range(KILLS):
                    await asyncio.sleep(chance.uniform(0.2, 2.5))
                    found.kill(chance.randrange(2))
                await until(lambda: is_all(client, namespace, "v2"), 120)

    play(story(), 400)
    assert not judging.shortages(control_plane, namespace, PODS - 1)
    assert not judging.doubled(control_plane, namespace)


def test_a_leader_that_is_ended_gives_its_lease_back(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)

            async def holder() -> str:
                try:
                    lease = await client.get(LEASES, settings.LEASE, kube_namespace)
                except NotFoundError:
                    return ""
                return str(lease["spec"].get("holderIdentity") or "")

            with processes(control_plane, kube_namespace) as found:
                await until(holder, 60)
                first = await holder()
                for process in found.running:
                    process.send_signal(signal.SIGTERM)

                async def is_free() -> bool:
                    return await holder() == ""

                await until(is_free, 30)
                assert first
                # One that was still starting has no ear for the signal yet, and simply ends by it.
                endings = [process.wait(20) for process in found.running]
                assert 0 in endings
                assert set(endings) <= {0, -signal.SIGTERM}

    play(story(), 120)


def test_a_roll_goes_on_after_the_api_server_was_killed(kube_session: kube.Session) -> None:
    """Watches break, writes are lost on their way, the lease cannot be renewed; then all is there again."""
    with kube_session.private(4) as plane, kube.fresh_namespace(plane) as namespace:

        async def story() -> None:
            async with plane.client() as client:
                await operating.install(client)
                async with operating.operating(plane, namespace):
                    await operating.apply(client, wanted(namespace, "v1"))
                    await until(lambda: is_all(client, namespace, "v1"), 60)
                    await operating.apply(client, wanted(namespace, "v2"))
                    await until(lambda: _has_begun(client, namespace))
                    await asyncio.to_thread(plane.restart, immediate=True)
                    await until(lambda: _is_all_at_last(client, namespace), 240)

        play(story(), 400)
        assert not judging.shortages(plane, namespace, PODS - 1)
        assert not judging.doubled(plane, namespace)


async def _has_begun(client: Client, namespace: str) -> bool:
    return "v2" in operating.images(await operating.pods_of(client, "web", namespace))


async def _is_all_at_last(client: Client, namespace: str) -> bool:
    try:
        return await is_all(client, namespace, "v2")
    except ApiError:
        return False
