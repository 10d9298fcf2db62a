"""A version of the fleet that is a set of pods or a graph: rolled out by a real server, killed in between, and explained
from the target down to the pod."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs import pages
from headgate.cli import exit_codes
from kube import ControlPlane
from service.server import Server

from . import operating
from .operating import SETS, clique, pod_set
from .operating import operating as operator_of
from .support import play, until
from .test_cluster_commands import Commands

TARGET = "api/prod/east"


class Fleet:
    """A server with one deployment on one resource, and the command line of whoever uses it."""

    def __init__(self, folder: Path, plane: ControlPlane) -> None:
        self._folder = folder
        self.server = Server(folder / "server", environment={"KUBECONFIG": str(plane.kubeconfig)})

    async def run(self, *words: str, token: str = "") -> tuple[int, str]:
        given = [*words, "--server", self.server.address, "--token", token or self.server.token]
        return await asyncio.to_thread(pages.run, given, self._folder)

    async def do(self, *words: str, token: str = "") -> str:
        code, printed = await self.run(*words, token=token)
        assert code == exit_codes.OK, f"{words}\n{printed}"
        return printed

    async def apply(self, agent: dict[str, Any]) -> None:
        spec = {"resourceSelector": "true"}
        documents = [
            ("Resource", "east", {"kind": "Cluster"}),
            ("Environment", "prod", spec),
            ("JobAgent", "cluster", agent),
            ("Deployment", "api", {**spec, "jobAgent": "cluster"}),
        ]
        text = yaml.safe_dump_all(
            {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
            for kind, name, spec in documents
        )
        (self._folder / "fleet.yaml").write_text(text)
        await self.do("apply", "-f", str(self._folder / "fleet.yaml"))

    async def explained(self, token: str = "") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await self.do("explain", TARGET, "-o", "json", token=token))
        return found

    async def is_state(self, state: str, current: str | None = None) -> bool:
        found = await self.explained()
        return found["state"] == state and current in (None, found["current"])

    async def crash(self) -> None:
        await asyncio.to_thread(self.server.kill)
        await asyncio.to_thread(self.server.start)


@pytest.fixture
def fleet(tmp_path: Path, control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    for name in ("HEADGATE_URL", "HEADGATE_TOKEN", "HEADGATE_WORKSPACE", "HEADGATE_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEADGATE_CONFIG", str(tmp_path / "config.yaml"))
    made = Fleet(tmp_path, control_plane)
    made.server.start()
    yield made
    made.server.stop()


def below(found: dict[str, Any]) -> dict[str, Any]:
    """What the cluster says, under the job."""
    [job] = [each for each in found["tree"]["children"] if each["subject"].startswith("job ")]
    [tree] = job["children"]
    result: dict[str, Any] = tree
    return result


def parts(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield tree
    for child in tree["children"]:
        yield from parts(child)


def test_a_version_is_rolled_out_through_crashes_and_explained_down_to_the_pod(
    control_plane: ControlPlane, kube_namespace: str, fleet: Fleet
) -> None:
    made = pod_set("web", kube_namespace, 1, [clique("front", 2, "${version.tag}")])
    made["spec"]["template"]["cliques"][0]["annotations"] = {
        "headgate.test/ready-after": "${version.tag == 'v2' ? '1h' : '0s'}"
    }
    agent = {
        "type": "workload",
        "config": {"setTemplate": {"metadata": made["metadata"], "spec": made["spec"]}},
    }

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            async with operator_of(control_plane, kube_namespace):
                await fleet.apply(agent)
                await fleet.do("publish", "api", "v1")
                await until(lambda: fleet.is_state("upToDate", "v1"), 120)
                assert below(await fleet.explained())["state"] == "done"

                await fleet.do("publish", "api", "v2")

                async def is_stuck() -> bool:
                    found = await fleet.explained()
                    return "not ready since" in str((found["job"] or {}).get("message"))

                await until(is_stuck, 120)
                await fleet.crash()
                await until(is_stuck, 120)
                generation = (await client.get(SETS, "web", kube_namespace))["metadata"]["generation"]
                assert generation == 2, "a server that comes back applies nothing again"

                viewer = await fleet.do("token", "create", "reader", "--role", "viewer", "-o", "json")
                seen = below(await fleet.explained(token=json.loads(viewer)["secret"]))
                assert (seen["level"], seen["subject"]) == ("workload", "PodCliqueSet web")
                pods = [each for each in parts(seen) if each["subject"].startswith("pod web-0-front-")]
                assert any(each["state"] == "scheduled, not ready" for each in pods)
                assert kube_namespace not in json.dumps(seen)
                printed = await fleet.do("explain", TARGET)
                assert "PodCliqueSet web: updating" in printed
                assert "scheduled, not ready" in printed

                done = await Commands(control_plane, kube_namespace).run("workload", "abort", "web")
                assert done.exit_code == exit_codes.OK
                await fleet.do("publish", "api", "v3")
                await until(lambda: fleet.is_state("upToDate", "v3"), 120)
                assert operating.images(await operating.pods_of(client, "web", kube_namespace)) == {"v3"}

    play(story(), 400)
