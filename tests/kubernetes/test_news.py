"""What a reflector hears becomes requests of a controller, by the runner that simulations use too."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Enqueue
from headgate.cluster.port import ObjectChange
from headgate.cluster.runner import Runner
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, Object
from headgate.kubernetes import objects
from headgate.kubernetes.reflector import Reflector
from kube import ControlPlane

from .support import CONFIG_MAPS, config_map, play, running, until


class EmptyPlan(msgspec.Struct, frozen=True):
    actions: tuple[Action, ...] = ()
    requeue_at: Instant | None = None

    def waiting(self) -> tuple[Reason, ...]:
        return ()


class Counting:
    """Plans nothing, and remembers what it was asked about."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def watches(self, item: Object) -> bool:
        return True

    def index(self, item: Object) -> str | None:
        return item.labels.get("of")

    def rank(self, request: Key) -> int:
        return 0

    def restarted(self, cache: ObjectCache, enqueue: Enqueue) -> None:
        self.cache = cache

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        return () if is_own_status else (item.key,)

    def reconcile(self, request: Key, now: Instant) -> EmptyPlan:
        self.asked.append(request.name)
        return EmptyPlan()


def test_an_own_write_is_known_at_once_and_no_news_when_it_comes_back(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        controller = Counting()
        runner: Runner[EmptyPlan] = Runner([], controller, patience=1)  # type: ignore[arg-type]
        async with control_plane.client() as client:
            reflector = Reflector(client, CONFIG_MAPS, runner, namespace=kube_namespace)
            async with running(reflector.run()):
                await reflector.listed.wait()
                list(runner.passes(0))
                controller.asked.clear()
                written = await client.create(
                    CONFIG_MAPS, config_map("own", kube_namespace), manager="counting"
                )
                own = objects.read(written, CONFIG_MAPS)
                runner.observe(ObjectChange("added", own, None, 0, "counting"))
                list(runner.passes(0))
                await client.create(CONFIG_MAPS, config_map("other", kube_namespace))
                await until(lambda: Key("", "ConfigMap", kube_namespace, "other") in _keys(controller.cache))
                list(runner.passes(0))
                assert controller.asked == ["own", "other"]
                await client.delete(CONFIG_MAPS, "other", kube_namespace)
                await until(lambda: bool(runner.queue))
                list(runner.passes(0))
                assert controller.asked == ["own", "other", "other"]

    play(story())


def _keys(cache: ObjectCache) -> set[Key]:
    return {item.key for item in cache}
