"""Nodes handed in as resources: all of them, with their labels, and no longer than they are there."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import kube
from docs import pages
from headgate.agents import cluster_resources
from headgate.agents.cluster_resources import ClusterFacts, Nodes
from headgate.agents.node_holds import NODES
from headgate.kubernetes.errors import ApiError, ForbiddenError
from service.client import Client
from service.conftest import new_workspace
from service.server import Server

from .imitation import Imitation, says
from .nodes import OWN_NODES, farm
from .support import play, until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("discovery"))
    found.start()
    yield found
    found.stop()


@pytest.fixture
def fleet(server: Server) -> Client:
    return new_workspace(server)


class Command:
    def __init__(self, server: Server, fleet: Client, plane: kube.ControlPlane, namespace: str) -> None:
        self._words = [
            *("discover", "kubernetes", "--kubeconfig", str(plane.kubeconfig), "--cluster", "east"),
            *("--selector", f"{OWN_NODES}={namespace}"),
            *("--server", server.address, "--token", server.token, "--workspace", fleet.workspace or ""),
        ]

    def run(self, *words: str) -> tuple[int, str]:
        return pages.run([*self._words, *words], Path.cwd())

    def start(self, log: Path, *words: str) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "headgate", *self._words, *words],
                stdout=output,
                stderr=subprocess.STDOUT,
            )


def names(fleet: Client) -> list[str]:
    return sorted(one["name"] for one in fleet.expect(200, "GET", "/v1/resources").json["items"])


def test_nodes_come_with_their_labels_and_go_with_them(
    server: Server, fleet: Client, control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    command = Command(server, fleet, control_plane, kube_namespace)

    async def story() -> None:
        async with farm(control_plane, kube_namespace) as it:
            first, second = it.nodes
            assert await asyncio.to_thread(command.run) == (0, "kubernetes-east: 2 resources, 2 new\n")
            found: dict[str, Any] = fleet.expect(200, "GET", f"/v1/resources/{first}").json
            assert found["kind"] == "KubernetesNode"
            assert found["metadata"][OWN_NODES] == kube_namespace
            assert (found["metadata"]["cluster"], found["config"]["node"]) == ("east", first)
            assert found["config"]["clusterUid"]
            assert await asyncio.to_thread(command.run) == (0, "kubernetes-east: 2 resources\n")
            await it.client.delete(NODES, second)
            assert await asyncio.to_thread(command.run) == (0, "kubernetes-east: 1 resources, 1 gone\n")
            assert names(fleet) == [first]
            await it.client.delete(NODES, first)
            code, said = await asyncio.to_thread(command.run)
            assert (code, "nothing was handed in" in said) == (1, True)
            assert names(fleet) == [first]
            assert (await asyncio.to_thread(command.run, "--allow-empty"))[0] == 0
            assert names(fleet) == []

    play(story())


def test_the_cluster_itself_is_a_resource(
    server: Server, fleet: Client, control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    command = Command(server, fleet, control_plane, kube_namespace)
    assert command.run("--clusters", "--prefix", "k8s-")[0] == 0
    [found] = fleet.expect(200, "GET", "/v1/resources").json["items"]
    assert (found["name"], found["kind"]) == ("k8s-east", "KubernetesCluster")
    assert found["metadata"]["kubernetes/version"].startswith("v1.")


def test_a_watch_hands_in_what_comes_and_goes_until_it_is_ended(
    server: Server, fleet: Client, control_plane: kube.ControlPlane, kube_namespace: str, tmp_path: Path
) -> None:
    command = Command(server, fleet, control_plane, kube_namespace)

    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            process = command.start(tmp_path / "log", "--watch")
            try:
                await until(lambda: names(fleet) == it.nodes)
                await it.add_nodes(1)
                await until(lambda: names(fleet) == it.nodes)
                await it.client.delete(NODES, it.nodes[0])
                await until(lambda: names(fleet) == it.nodes[1:])
                process.terminate()
                assert await asyncio.to_thread(process.wait, 30) == 0
            finally:
                process.kill()
                process.wait()

    play(story())


def test_the_service_itself_hands_in_what_comes_and_goes_also_after_a_crash(
    control_plane: kube.ControlPlane, kube_namespace: str, tmp_path: Path
) -> None:
    [context] = [each["name"] for each in yaml.safe_load(control_plane.kubeconfig.read_text())["contexts"]]
    service = Server(
        tmp_path,
        "--discover",
        f"{context}=east",
        "--discover-prefix",
        "{cluster}-",
        environment={"KUBECONFIG": str(control_plane.kubeconfig)},
    )

    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:

            def has(*wanted: str) -> bool:
                found = names(service.admin())
                own = [name for name in found if kube_namespace in name]
                return "east-east" in found and own == [f"east-{name}" for name in wanted]

            await until(lambda: has(*it.nodes))
            await it.add_nodes(1)
            await until(lambda: has(*it.nodes))
            await asyncio.to_thread(service.kill)
            await it.client.delete(NODES, it.nodes[0])
            await asyncio.to_thread(service.start)
            await until(lambda: has(it.nodes[1]), 60)
            log = service.admin().expect(200, "GET", "/v1/audit").json["items"]
            assert {entry["user"] for entry in log if entry["kind"] == "Resource"} == {"discovery"}

    service.start()
    try:
        play(story(), 120)
    finally:
        service.stop()


def test_a_kubeconfig_or_a_context_that_is_not_there_is_said(tmp_path: Path) -> None:
    code, said = pages.run(
        ["discover", "kubernetes", "--kubeconfig", str(tmp_path / "none"), "--server", "http://127.0.0.1:1"],
        tmp_path,
    )
    assert (code, "there is no such file" in said) == (2, True)


def test_a_cluster_that_cannot_be_asked_is_not_taken_for_an_empty_one() -> None:
    page = {"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}]}
    gone = {"kind": "Status", "code": 410, "message": "too old"}
    line = '{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n'

    async def story() -> None:
        answers = [says(200, page), says(200, line), says(200, page), says(410, gone)]
        answers += [says(200, "<html>"), says(403, {"message": "no"}), says(200, page)]
        imitation = Imitation(*answers)
        noticed: list[ApiError] = []
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        found: list[list[str]] = []
        async with imitation.client() as client:
            states = cluster_resources.following(client, noticed=noticed.append, sleep=sleep)
            async for nodes in states:
                found.append(sorted(nodes))
                if len(found) == 3:
                    break
            await states.aclose()
        assert found == [["a"], ["a"], ["a"]]
        assert len(noticed) == len(waits) == 2

    play(story())


def test_what_is_refused_from_the_beginning_ends_the_watch() -> None:
    async def story() -> None:
        async with Imitation(says(403, {"message": "no"})).client() as client:
            with pytest.raises(ForbiddenError):
                await anext(cluster_resources.following(client))

    play(story())


def test_a_node_is_described_by_its_labels_and_what_it_says_of_itself() -> None:
    nodes: Nodes = {
        "a": {
            "metadata": {"name": "a", "labels": {"pool": "web", "cluster": "theirs"}},
            "status": {"nodeInfo": {"kubeletVersion": "v1.36.3", "osImage": "Linux"}},
        }
    }
    facts = ClusterFacts("east", "uid-1", "v1.36.3", "east-")
    assert cluster_resources.of_nodes(nodes.values(), facts) == [
        {
            "name": "east-a",
            "kind": "KubernetesNode",
            "identifier": "uid-1/node/a",
            "metadata": {
                "pool": "web",
                "cluster": "east",
                "kubernetes/kubelet": "v1.36.3",
                "kubernetes/os": "Linux",
            },
            "config": {"node": "a", "clusterUid": "uid-1"},
        }
    ]
