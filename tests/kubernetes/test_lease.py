"""One leader among several, by a Lease on a real API server; and the writes of one that leads no more."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.cluster.port import Conflict
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ConflictError
from headgate.kubernetes.fencing import FencedClient
from headgate.kubernetes.lease import DeposedError, Election
from headgate.kubernetes.resources import LEASES
from kube import ControlPlane

from .support import CONFIG_MAPS, config_map, play, running


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def candidate(client: Client, namespace: str, identity: str, clock: Clock, **options: Any) -> Election:
    given: dict[str, Any] = {"duration_seconds": 15, "steady": clock} | options
    return Election(client, namespace=namespace, name="operator", identity=identity, **given)


def test_of_two_candidates_one_leads_until_it_is_silent_for_too_long(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        clock = Clock()
        async with control_plane.client() as client:
            one, two = (candidate(client, kube_namespace, name, clock) for name in ("one", "two"))
            await one.step()
            await two.step()
            assert one.leadership is not None
            assert (two.leadership, two.leader) == (None, "one")
            for _ in range(5):
                clock.now += 9
                await one.step()
                await two.step()
            assert one.leadership is not None
            clock.now += 11
            assert one.leadership is None
            await two.step()
            assert two.leadership is None
            clock.now += 4
            await two.step()
            assert two.leadership is not None
            assert two.leadership.term == 1
            await one.step()
            assert (one.leadership, one.leader) == (None, "two")
            lease = (await client.get(LEASES, "operator", kube_namespace))["spec"]
            assert (lease["holderIdentity"], lease["leaseTransitions"]) == ("two", 1)

    play(story())


def test_a_leader_that_ends_gives_its_lease_back(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        clock = Clock()
        async with control_plane.client() as client:
            one, two = (candidate(client, kube_namespace, name, clock) for name in ("one", "two"))
            async with running(one.run()):
                leadership = await one.elected()
            assert leadership.lost.is_set()
            await two.step()
            assert two.leadership is not None

    play(story())


def test_the_writes_of_a_deposed_leader_are_refused(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        clock, slow_clock = Clock(), Clock()
        async with control_plane.client() as client:
            old = candidate(client, kube_namespace, "old", slow_clock)
            new = candidate(client, kube_namespace, "new", clock)
            late, current = FencedClient(client, old), FencedClient(client, new)
            await old.step()
            seen = await late.create(CONFIG_MAPS, config_map("a", kube_namespace, x="1"), manager="m")
            other = await late.create(CONFIG_MAPS, config_map("b", kube_namespace), manager="m")
            await new.step()
            clock.now += (
                16  # nothing is heard of the old one: its machine stands still, and its clock with it
            )
            await new.step()
            uid = seen["metadata"]["uid"]
            await current.apply(
                CONFIG_MAPS, config_map("a", kube_namespace, x="2"), manager="m", uid=uid, force=True
            )
            await current.delete(CONFIG_MAPS, "b", kube_namespace, uid=other["metadata"]["uid"])
            again = await current.create(CONFIG_MAPS, config_map("b", kube_namespace), manager="m")

            # The old leader wakes up with its writes in hand, and believes that it leads.
            assert old.leadership is not None
            with pytest.raises(ConflictError):
                await late.update(CONFIG_MAPS, seen | {"data": {"x": "1"}}, manager="m")
            version = seen["metadata"]["resourceVersion"]
            with pytest.raises(ConflictError):
                await late.apply(
                    *(CONFIG_MAPS, config_map("a", kube_namespace, x="1")),
                    manager="m",
                    uid=uid,
                    resource_version=version,
                    force=True,
                )
            with pytest.raises(ConflictError):
                await late.delete(CONFIG_MAPS, "b", kube_namespace, uid=other["metadata"]["uid"])
            slow_clock.now += 16
            with pytest.raises(DeposedError, match="old does not lead") as deposed:
                await late.create(CONFIG_MAPS, config_map("c", kube_namespace), manager="m")
            assert isinstance(deposed.value, Conflict)
            with pytest.raises(ValueError, match=r"needs metadata\.resourceVersion"):
                await current.update(CONFIG_MAPS, config_map("a", kube_namespace), manager="m")

            assert (await client.get(CONFIG_MAPS, "a", kube_namespace))["data"] == {"x": "2"}
            kept = await client.get(CONFIG_MAPS, "b", kube_namespace)
            assert kept["metadata"]["uid"] == again["metadata"]["uid"]

    play(story())
