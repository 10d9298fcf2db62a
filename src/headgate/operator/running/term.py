"""One term of a leader: everything is listed anew, and the controllers run until the leadership is over."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from headgate.cluster.runner import Runner
from headgate.graph.controller import GraphPlan
from headgate.graph.reconcile.accepted_graphs import is_definition
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.fencing import FencedClient
from headgate.kubernetes.lease import DeposedError, Election, Leadership
from headgate.kubernetes.resources import ApiResource
from headgate.operator.installation import settings
from headgate.operator.running import ending, graphs, workloads
from headgate.operator.running.events import EventRecorder
from headgate.operator.running.feed import ObjectFeed
from headgate.operator.running.loop import AnyLoop, ControllerLoop
from headgate.operator.running.meter import OperatorMeter
from headgate.operator.running.pace import WritePace
from headgate.operator.running.resting import RestingStatuses
from headgate.operator.running.signals import ClusterSignals
from headgate.operator.running.watches import Watches
from headgate.operator.running.writing import ObjectWriter
from headgate.workload.plan.planner import WorkloadPlan

logger = logging.getLogger(__name__)

_PATIENCE = instants.seconds(1)
"""How long a pass whose write was refused waits for news at first."""
_REQUEUE_SECONDS = 5.0
_LOOK_FOR_OPTIONAL_KINDS_SECONDS = 60.0


Clock = Callable[[], Instant]
_Watched = tuple[str, str, str]
"""apiVersion, kind and label selector."""


def wall_clock() -> Instant:
    return time.time_ns() // 1_000


class Term:
    """Nothing of an earlier term is remembered: its caches may not have its last writes yet.

    Each controller hears and writes for itself: what the one lists of a kind need not be what the other does.
    """

    def __init__(
        self,
        client: Client,
        discovery: Discovery,
        election: Election,
        meter: OperatorMeter,
        pace: WritePace,
        namespace: str = "",
        clock: Clock = wall_clock,
        *,
        signals_namespace: str,
    ) -> None:
        self._client = client
        self._discovery = discovery
        self._clock = clock
        self._fenced = FencedClient(client, election)
        self._meter = meter
        self._pace = pace
        self._namespace = namespace
        self._signals_namespace = signals_namespace
        self.problem: str | None = "the objects of the cluster are not listed yet"
        """What keeps it from working, as a sentence."""
        self.loops: tuple[AnyLoop, ...] = ()
        self._recorder = EventRecorder(client, settings.NAME, election.identity, clock)
        self._watches: list[Watches] = []
        self._signals: ClusterSignals | None = None

    async def run(self, leadership: Leadership) -> None:
        """Ends when the leadership is lost."""
        try:
            await first_end(self._control(), self._recorder.run(), self._measure(), leadership.lost.wait())
        except DeposedError as error:
            logger.warning("%s", error)
        finally:
            for watches in self._watches:
                await watches.close()

    def problems(self) -> list[str]:
        unheard = (problem for watches in self._watches for problem in watches.problems())
        signals = self._signals.reflector.problem if self._signals is not None else None
        return [each for each in (self.problem, signals, *unheard) if each is not None]

    async def _control(self) -> None:
        own, graph_feed = (
            ObjectFeed((workloads.MANAGER,), self._clock),
            ObjectFeed((graphs.MANAGER,), self._clock),
        )
        watches = Watches(self._client, own, self._namespace, workloads.read)
        graph_watches = Watches(self._client, graph_feed, self._namespace)
        self._watches = [watches, graph_watches]
        for api_version, kind, labels in workloads.WATCHED:
            watches.start(await self._served(api_version, kind), labels)
        absent = await self._watch_where_served(watches, workloads.WATCHED_WHERE_SERVED)
        for api_version, kind in graphs.WATCHED:
            graph_watches.start(await self._served(api_version, kind))
        await watches.listed()
        await graph_watches.listed()
        preparation = graphs.GraphPreparation(
            self._client, self._discovery, graph_watches, self._recorder, self._signals_namespace
        )
        self._signals = preparation.signals
        # A gate may let through what no signal forbids, so all of them are known before anything is decided.
        heard = asyncio.create_task(preparation.signals.reflector.run())
        try:
            await preparation.signals.reflector.listed.wait()
            loop = self._workload_loop(watches, own)
            graph_loop = self._graph_loop(preparation, graph_watches, graph_feed)
            self.loops = (loop, graph_loop)
            self.problem = None
            logger.info("all is listed; the controllers begin")
            await first_end(loop.run(), graph_loop.run(), self._watch_later(watches, absent))
        finally:
            await ending.end([heard])
            await preparation.close()

    async def _served(self, api_version: str, kind: str) -> ApiResource:
        while True:
            try:
                return await self._discovery.find(api_version, kind)
            except UnknownKindError as error:
                self.problem = f"{error}; `headgate operator manifests` prints what has to be installed"
                logger.warning("%s", self.problem)
                await asyncio.sleep(_REQUEUE_SECONDS)

    async def _watch_where_served(self, watches: Watches, kinds: Iterable[_Watched]) -> list[_Watched]:
        """Says which of them the cluster does not serve."""
        absent: list[_Watched] = []
        for api_version, kind, labels in kinds:
            try:
                watches.start(await self._discovery.find(api_version, kind), labels)
            except UnknownKindError:
                absent.append((api_version, kind, labels))
        return absent

    async def _watch_later(self, watches: Watches, absent: list[_Watched]) -> None:
        """A cluster that is upgraded serves them one day; until the end of the term."""
        while True:
            await asyncio.sleep(_LOOK_FOR_OPTIONAL_KINDS_SECONDS)
            try:
                absent = await self._watch_where_served(watches, absent)
            except ApiError as error:
                logger.info("what the cluster serves is not told: %s", error)

    def _workload_loop(self, watches: Watches, feed: ObjectFeed) -> ControllerLoop[WorkloadPlan]:
        runner = Runner(watches, workloads.controller(), _PATIENCE)
        writer = ObjectWriter(
            self._fenced,
            self._discovery,
            runner.cache,
            watches,
            feed,
            self._pace,
            manager=workloads.MANAGER,
            by=runner.controller.name,
            read=workloads.read,
        )
        loop = ControllerLoop("workloads", runner, writer, self._recorder, self._meter, self._clock)
        feed.listen(loop.observe)
        feed.when_restored(loop.replaced)
        return loop

    def _graph_loop(
        self, preparation: graphs.GraphPreparation, watches: Watches, feed: ObjectFeed
    ) -> ControllerLoop[GraphPlan]:
        controller = preparation.controller
        runner: Runner[GraphPlan] = Runner(watches, controller, _PATIENCE)
        writer = ObjectWriter(
            self._fenced,
            self._discovery,
            runner.cache,
            watches,
            feed,
            self._pace,
            manager=graphs.MANAGER,
            by=controller.name,
            applied=controller.applied,
        )
        loop: ControllerLoop[GraphPlan] = ControllerLoop(
            "graphs",
            runner,
            writer,
            self._recorder,
            self._meter,
            self._clock,
            preparation.prepare,
            is_definition,
            resting=RestingStatuses(),
        )
        preparation.drive(loop)
        feed.listen(loop.observe)
        feed.when_restored(loop.replaced)
        return loop

    async def _measure(self) -> None:
        while True:
            kinds = sum(len(watches) for watches in self._watches)
            self._meter.watches(kinds, sum(len(watches.problems()) for watches in self._watches))
            await asyncio.sleep(1.0)


async def first_end(*coroutines: Coroutine[Any, Any, Any]) -> None:
    """Until one of them ends; the others are ended with it. What it raised is raised."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await ending.end(tasks)
