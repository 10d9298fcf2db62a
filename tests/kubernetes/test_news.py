"""What a reflector hears becomes requests of a controller, by the runner that simulations use too."""

from __future__ import annotations

from cluster.counting import Counting, EmptyPlan
from headgate.cluster.cache import ObjectCache
from headgate.cluster.port import ObjectChange
from headgate.cluster.runner import Runner
from headgate.kernel.objects import Key
from headgate.kubernetes import objects
from headgate.kubernetes.reflector import Reflector
from kube import ControlPlane

from .support import CONFIG_MAPS, config_map, play, running, until


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
