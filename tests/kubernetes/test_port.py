"""A real cluster by the suite of the port, as `tests/cluster/test_port.py` has it of the simulated one."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from cluster.counting import Counting, EmptyPlan
from cluster.port_cases import CASES, NAMES, WRITER, Case
from headgate.cluster import port
from headgate.cluster.runner import Runner
from headgate.kernel.objects import Action, Object
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.fencing import FencedClient
from headgate.kubernetes.lease import Election
from headgate.kubernetes.resources import ApiResource
from headgate.operator.running.feed import ObjectFeed
from headgate.operator.running.pace import WritePace
from headgate.operator.running.watches import Watches
from headgate.operator.running.writing import ObjectWriter
from kube import ControlPlane

from .support import CONFIG_MAPS, defined, play, running, until

MANAGER = "headgate-tests"
_OF_EVERY_NAMESPACE = "kube-root-ca.crt"


class RealCluster:
    """As a term of the operator has it: watches tell a feed, that a runner, and a writer goes by what that knows."""

    def __init__(self, client: Client, gates: ApiResource, namespace: str, election: Election) -> None:
        self.gates = gates.api_version
        self.namespace = namespace
        self._client = client
        self._resources = {resource.kind: resource for resource in (gates, CONFIG_MAPS)}
        self.listened = ObjectFeed((MANAGER,), lambda: time.time_ns() // 1_000)
        self._watches = Watches(client, self.listened, namespace)
        controller = Counting()
        controller.name = WRITER
        self._runner: Runner[EmptyPlan] = Runner(self._watches, controller, patience=1)
        self.listened.listen(self._runner.observe)
        self.heard = self._runner.cache
        self._writer = ObjectWriter(
            FencedClient(client, election),
            Discovery(client.transport),
            self.heard,
            self._watches,
            self.listened,
            WritePace(),
            manager=MANAGER,
            by=WRITER,
        )

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[RealCluster]:
        for resource in self._resources.values():
            self._watches.start(resource)
        try:
            await self._watches.listed()
            yield self
        finally:
            await self._watches.close()

    async def write(self, action: Action) -> None:
        await port.write(self._writer, action)

    async def annotate(self, item: Object) -> None:
        patch = {"metadata": {"annotations": {"example.com/seen": "yes"}}}
        await self._client.patch(
            self._resources[item.kind], item.name, self.namespace, patch, manager="somebody"
        )

    async def remove(self, item: Object) -> None:
        await self._client.delete(self._resources[item.kind], item.name, self.namespace, uid=item.uid)

    async def listed(self) -> Sequence[Object]:
        feed = ObjectFeed((), lambda: 0)
        watches = Watches(self._client, feed, self.namespace)
        for resource in self._resources.values():
            watches.start(resource)
        await watches.listed()
        found = [item for item in watches if item.name != _OF_EVERY_NAMESPACE]
        await watches.close()
        return found

    async def until(self, condition: Callable[[], bool]) -> None:
        await until(condition)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_real_cluster(case: Case, control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with (
            control_plane.client() as client,
            defined(client, f"{kube_namespace}.example.com") as gates,
        ):
            election = Election(client, namespace=kube_namespace, name="port", identity="tests")
            async with running(election.run()):
                await election.elected()
                cluster = RealCluster(client, gates, kube_namespace, election)
                async with cluster.watched():
                    await case(cluster)

    play(story())
