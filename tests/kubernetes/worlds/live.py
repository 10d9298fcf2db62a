"""A story on a real control plane, from one quiet instant to the next, and what was written in it.

The API server, the scheduler, the garbage collector and the operator are the real ones. People and nodes are the
story's: they act at the instants of the scenario, which come as soon as everybody has come to rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from typing import Any

from headgate.cluster.simulated import matching
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kubernetes import kubeconfig, objects
from headgate.kubernetes.discovery import UnknownKindError
from headgate.kubernetes.errors import AlreadyExistsError, ApiError
from headgate.kubernetes.resources import PODS, ApiResource
from headgate.operator.observation import summaries
from headgate.operator.running import graphs, translation, workloads
from headgate.operator.running.process import Operator, OperatorOptions
from headgate.simulate.model import steps
from headgate.simulate.workloads import operations
from headgate.simulate.workloads import sets as simulated_sets
from headgate.workload import defaults
from headgate.workload.plan.family import is_set
from kube import ControlPlane

from ..devices import of_class
from ..support import DEFINITIONS, until
from . import audit, quiet
from .acting import Actor
from .clock import OPERATOR, STORY, StoryClient, StoryClock
from .history import History
from .nodes import StoryNodes, Timers
from .statuses import StoryStatuses
from .stories import Story, made_up_kind

_PRIORITY_CLASSES = ApiResource(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", is_namespaced=False
)
_HEARD_SECONDS = 60.0
_DEVICES = 60
PLAYED = frozenset(
    {"apply", "delete", "patch", "workload", "killPod", "endPod", "crash", "snapshot", "explain"}
)
"""The steps that can be made real."""


class LiveWorld:
    def __init__(self, plane: ControlPlane, story: Story, namespace: str) -> None:
        self._plane = plane
        self._story = story
        self._namespace = namespace
        self._place = defaults.NAMESPACE if story.is_cluster_scoped else namespace
        """Where objects are that have a namespace."""
        scenario = story.scenario
        self._clock = StoryClock(scenario.start)
        access = kubeconfig.load(path=str(plane.kubeconfig))
        self._client, self._operator_client = (
            StoryClient.signed(access, self._clock, who, story.mark, is_all_marked=story.is_cluster_scoped)
            for who in (STORY, OPERATOR)
        )
        self._actor = Actor(self._client, self._clock, self._place)
        self._operator: Operator | None = None
        self._task: asyncio.Task[None] | None = None
        self._numbers = simulated_sets.RevisionNumbers()
        self._timers = Timers()
        self._nodes = StoryNodes(self._actor, self._timers, scenario.cluster, self._numbers.note)
        self._steps = sorted(
            ((step.at.resolve(scenario.start), number) for number, step in enumerate(scenario.timeline)),
            reverse=True,
        )
        self._statuses = StoryStatuses(self._actor, self._timers, scenario.cluster)
        self._watched: list[tuple[ApiResource, str]] = []
        self._made_up: set[str] = set()
        self._unserved = list(story.kinds)
        self._seen: list[Object] = []
        self._refused: list[str] = []

    async def play(self, end: Instant) -> History:
        try:
            async with contextlib.AsyncExitStack() as devices:
                for name in sorted(self._story.device_classes):
                    await devices.enter_async_context(of_class(self._client, name, _DEVICES))
                await self._prepare()
                await self._start_operator()
                await self._play(end)
        finally:
            await self._stop_operator()
            await self._operator_client.close()
            await self._client.close()
        left = {(item.kind, item.name): item for item in self._seen if item.name not in self._made_up}
        await audit.until_logged(self._plane, [item for item in self._seen if item.kind != "Pod"])
        written = await asyncio.to_thread(
            audit.writes, self._plane, self._namespace, self._story.mark, self._story.scenario.start
        )
        return History(written, left, self._clock.now, self._refused)

    async def _prepare(self) -> None:
        """The kinds that both worlds know from the beginning."""
        watched: list[tuple[str, str, str]] = []
        if self._story.kinds:
            watched += [(api_version, kind, "") for api_version, kind in graphs.WATCHED]
        if not self._story.kinds or ("grove.io/v1alpha1", "PodCliqueSet") in self._story.kinds:
            watched += workloads.WATCHED
            watched += workloads.WATCHED_WHERE_SERVED if self._story.device_classes else ()
        for api_version, kind, labels in watched:
            self._watched.append((await self._actor.resource(api_version, kind), labels))
        for api_version, kind in self._story.unknown_kinds:
            made = await self._client.create(DEFINITIONS, made_up_kind(api_version, kind))
            self._made_up.add(made["metadata"]["name"])
            await self._until_served(api_version, kind)
        for name in sorted(self._story.priority_classes):
            document = {"metadata": {"name": name}, "value": 0, "preemptionPolicy": "Never"}
            with contextlib.suppress(AlreadyExistsError):
                await self._client.create(_PRIORITY_CLASSES, document)

    async def _until_served(self, api_version: str, kind: str) -> None:
        async def is_served() -> bool:
            if self._operator is not None:
                quiet.hurry(self._operator.loops)
            return await self._served(api_version, kind) is not None

        await until(is_served, quiet.PATIENCE_SECONDS)

    async def _served(self, api_version: str, kind: str) -> ApiResource | None:
        try:
            return await self._actor.resource(api_version, kind)
        except UnknownKindError:
            return None

    async def _start_operator(self) -> None:
        options = OperatorOptions(
            lease_namespace=self._namespace,
            identity=f"operator-{uuid.uuid4()}",
            namespace=self._place,
            lease_seconds=60,
            health_port=None,
        )
        self._operator = Operator(self._operator_client, options, self._clock)
        self._task = asyncio.create_task(self._operator.run())

    async def _stop_operator(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _play(self, end: Instant) -> None:
        await self._settle()
        await self._instant(is_first=True)
        while True:
            await self._settle()
            upcoming = self._next_moment()
            if upcoming is None or upcoming > end:
                return
            self._clock.now = upcoming
            await self._instant()

    async def _settle(self) -> None:
        assert self._operator is not None
        for each in list(self._unserved):
            resource = await self._served(*each)
            if resource is not None:
                self._unserved.remove(each)
                known = {(other.group, other.kind) for other, _ in self._watched}
                if (resource.group, resource.kind) not in known:
                    self._watched.append((resource, ""))
        self._seen = await quiet.objects_when_quiet(self._client, self._place, self._operator, self._watched)
        self._actor.versions |= {item.uid: str(item.resource_version) for item in self._seen}
        self._nodes.look([item for item in self._seen if item.kind == "Pod"], self._clock.now)
        resources = {(resource.api_version, resource.kind): resource for resource, _ in self._watched}
        others = [item for item in self._seen if item.kind != "Pod"]
        self._statuses.look(others, resources, self._clock.now)

    def _next_moment(self) -> Instant | None:
        assert self._operator is not None
        moments = [at for loop in self._operator.loops for at in loop.runner.queue.requeues.values()]
        moments += [self._steps[-1][0]] if self._steps else []
        timer = self._timers.next_moment()
        moments += [timer] if timer is not None else []
        return max(min(moments), self._clock.now) if moments else None

    async def _instant(self, *, is_first: bool = False) -> None:
        """What nodes do comes first, then what people do, and the operator hears of all of it at once."""
        assert self._operator is not None
        news = self._operator_client.news
        news.hold()
        try:
            if is_first:
                for source in self._story.scenario.objects:
                    await self._attempt(source.place, self._put(source.document))
            await self._timers.run_due(self._clock.now)
            while self._steps and self._steps[-1][0] <= self._clock.now:
                step = self._story.scenario.timeline[self._steps.pop()[1]]
                await self._attempt(step.place, self._act(step))
            await self._until_heard()
        finally:
            news.release()
        for loop in self._operator.loops:
            loop.wake()

    async def _until_heard(self) -> None:
        news = self._operator_client.news
        waited = [each for each in self._actor.done if news.kinds[each[0].kind]]
        self._actor.done.clear()
        end = time.monotonic() + _HEARD_SECONDS
        while time.monotonic() < end:
            if all(news.has(uid, version) for _, uid, version in waited):
                return
            await asyncio.sleep(0.005)

    async def _attempt(self, place: str, action: Any) -> None:
        try:
            await action
        except ApiError:
            self._refused.append(place)

    async def _put(self, document: Any) -> None:
        name = document["apiVersion"], document["kind"]
        if name in self._unserved and await self._served(*name) is None:
            # The operator is about to bring that kind, and people wait for it.
            self._operator_client.news.release()
            await self._until_served(*name)
            await self._settle()
            self._actor.done.clear()
            self._operator_client.news.hold()
        await self._actor.put(document)
        await self._number(document["kind"], document["metadata"]["name"])

    async def _number(self, kind: str, name: str) -> None:
        if kind != "PodCliqueSet":
            return
        resource = next(resource for resource, _ in self._watched if resource.kind == kind)
        item = objects.read(await self._client.get(resource, name, self._namespace), resource)
        self._numbers.note(item.namespace, item.name, simulated_sets.revision_hash(item))

    async def _act(self, step: steps.Step) -> None:
        payload = step.payload
        match step.kind:
            case "apply":
                await self._put(payload)
            case "delete":
                resource = await self._resource_of(payload)
                await self._actor.delete(resource, payload.name)
            case "patch":
                await self._patch(payload)
            case "workload":
                await self._operate(payload)
            case "killPod":
                for item in self._chosen(payload, is_forced=payload.force):
                    grace = 0 if payload.force else None
                    await self._actor.delete(PODS, item.name, uid=item.uid, grace_seconds=grace)
            case "endPod":
                for item in self._chosen(payload):
                    await self._nodes.end(self._nodes.seen(item), payload.phase, payload.reason)
            case "crash":
                await self._stop_operator()
                await self._start_operator()
            case _:
                assert step.kind in PLAYED, f"{step.kind} cannot be played on a cluster"

    async def _resource_of(self, payload: steps.PatchStep | steps.DeleteStep) -> ApiResource:
        if payload.api_version is not None:
            return await self._actor.resource(payload.api_version, payload.kind)
        return next(resource for resource, _ in self._watched if resource.kind == payload.kind)

    async def _patch(self, payload: steps.PatchStep) -> None:
        resource = await self._resource_of(payload)
        patch = {key: value for key, value in payload.patch.items() if key != "status"}
        if patch:
            await self._actor.patch(resource, payload.name, patch)
            await self._number(payload.kind, payload.name)
        if "status" in payload.patch:
            status = {"status": payload.patch["status"]}
            await self._actor.patch(resource, payload.name, status, subresource="status")

    async def _operate(self, payload: steps.WorkloadStep) -> None:
        resource = next(resource for resource, _ in self._watched if resource.kind == "PodCliqueSet")
        item = objects.read(await self._client.get(resource, payload.name, self._namespace), resource)
        assert is_set(item)
        before, after = (
            translation.document(each, lambda *_: None)
            for each in (item, operations.edited(payload.action, item, summaries.of_set(item).state))
        )
        await self._actor.patch(resource, payload.name, translation.difference(before, after))
        await self._number("PodCliqueSet", payload.name)

    def _chosen(
        self, payload: steps.KillPodStep | steps.EndPodStep, *, is_forced: bool = False
    ) -> list[Object]:
        """As in a simulation: of those that match, the oldest; of equal age by name."""
        selector = matching.pod_selector(payload.match, "match")
        pods = [item for item in self._seen if item.kind == "Pod" and (is_forced or item.deleted_at is None)]
        chosen: list[Object] = []
        for item in sorted(pods, key=lambda item: (item.created_at, item.name)):
            seen = self._nodes.seen(item)
            bindings: dict[str, object] = {"pod": seen.document()}
            if seen.revision is not None:
                bindings["revision"] = seen.revision
            if len(chosen) < payload.count and selector.matches(bindings):
                chosen.append(item)
        return chosen
