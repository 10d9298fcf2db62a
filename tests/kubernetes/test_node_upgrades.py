"""Ten nodes get two upgrades, each drained once for both, two at a time, against a real disruption budget: as the page
says it, judged by what the API server saw."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import kube
from docs import pages
from docs import server as documented
from headgate.agents.kubernetes_job import JOBS
from headgate.agents.node_holds import NODES as NODE_KIND
from headgate.kubernetes.client import Client
from service.server import Server

from . import fleet
from .support import BUDGETS, play, until

PAGE = pages.ROOT / "docs" / "kubernetes" / "node-upgrades.md"
NODES = [f"node-{number:03d}" for number in range(10)]


@pytest.fixture
def ten_nodes(kube_session: kube.Session) -> Iterator[kube.ControlPlane]:
    with kube_session.private(nodes=10) as plane:
        yield plane


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ten_nodes: kube.ControlPlane) -> Path:
    """Of somebody whose kubectl reaches the cluster, with the files of the page."""
    for name in ("HEADGATE_URL", "HEADGATE_TOKEN", "HEADGATE_WORKSPACE", "HEADGATE_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEADGATE_CONFIG", str(tmp_path / "config.yaml"))
    monkeypatch.setenv("KUBECONFIG", str(ten_nodes.kubeconfig))
    for block in pages.blocks_of(PAGE):
        if block.file_name is not None:
            pages.write_file(block, tmp_path)
    return tmp_path


def judge(plane: kube.ControlPlane) -> None:
    """The promises of the page, by the audit log."""
    seen = fleet.Seen(plane)
    cordons = seen.cordons()
    assert sorted(name for _, name, is_cordoned in cordons if is_cordoned) == NODES
    assert sorted(name for _, name, is_cordoned in cordons if not is_cordoned) == NODES
    assert 1 <= seen.most_cordoned_at_once() <= 2
    assert len(seen.evicted()) == len(set(seen.evicted()))
    assert seen.deleted_pods() == []
    out = {name: [version for version, node, _ in cordons if node == name] for name in NODES}
    jobs = sorted(seen.jobs())
    assert sorted(target for _, _, target in jobs) == sorted(
        f"{deployment}/prod/{name}" for deployment in ("kubelet", "os-patch") for name in NODES
    )
    for version, node, _ in jobs:
        begin, end = out[node]
        assert begin < version < end, f"a Job was made on {node} while it was not cordoned"


def test_the_page_is_followed_on_a_real_control_plane(folder: Path, ten_nodes: kube.ControlPlane) -> None:
    with documented.running(folder):
        for block in pages.blocks_of(PAGE):
            if block.language == "console":
                for command in pages.commands_of(block):
                    follow(command, folder, ten_nodes)
    judge(ten_nodes)
    assert fleet.Seen(ten_nodes).evicted(), "nothing had to leave any node"


def follow(command: pages.Command, folder: Path, plane: kube.ControlPlane) -> None:
    words = shlex.split(command.line)
    if words[0] == "kubectl":
        arguments = [str(folder / word) if word.endswith(".yaml") else word for word in words[1:]]
        done = plane.kubectl(*arguments)
        code, printed = done.returncode, done.stdout + done.stderr
    else:
        assert words[0] == "headgate", command.line
        code, printed = pages.run(words[1:], folder)
    assert code == 0, f"{command.line}\n{printed}"
    assert pages.is_printed_alike(command.printed, printed), f"{command.line}\n{printed}"


class Service:
    """A server of one's own, with the command line of whoever uses it."""

    def __init__(self, folder: Path) -> None:
        self.server = Server(folder / "server")
        self._folder = folder

    def __call__(self, *words: str) -> str:
        given = [*words, "--server", self.server.address, "--token", self.server.token]
        code, printed = pages.run(given, self._folder)
        assert code == 0, f"{words}\n{printed}"
        return printed

    async def do(self, *words: str) -> str:
        return await asyncio.to_thread(self, *words)

    def crash(self) -> None:
        self.server.kill()
        self.server.start()


@pytest.fixture
def headgate(folder: Path, ten_nodes: kube.ControlPlane) -> Iterator[Service]:
    """Its cluster runs what must not go down."""
    assert ten_nodes.kubectl("apply", "-f", str(folder / "web.yaml")).returncode == 0
    assert ten_nodes.kubectl("rollout", "status", "deployment/web").returncode == 0
    service = Service(folder)
    service.server.start()
    yield service
    service.server.stop()


async def begin(headgate: Service, cluster: Client) -> None:
    """An upgrade of all nodes, which a budget does not let go on."""
    await cluster.patch(BUDGETS, "web", "default", {"spec": {"maxUnavailable": 0}})
    await headgate.do("discover", "kubernetes", "--cluster", "prod-east")
    await headgate.do("apply", "-f", "nodes.yaml")
    await headgate.do("publish", "os-patch", "2026-11")
    await headgate.do("publish", "kubelet", "v1.36.3")


async def go_on(cluster: Client) -> None:
    await cluster.patch(BUDGETS, "web", "default", {"spec": {"maxUnavailable": 1}})


def test_a_server_that_is_killed_in_the_middle_of_drains_goes_on_with_them(
    headgate: Service, ten_nodes: kube.ControlPlane
) -> None:
    """Twice: while evictions are refused, and while Jobs run."""

    async def story() -> None:
        async with ten_nodes.client() as cluster:
            await begin(headgate, cluster)
            await until(lambda: fleet.refused_evictions(ten_nodes) > 0, 60)
            headgate.crash()
            before = fleet.refused_evictions(ten_nodes)
            await until(lambda: fleet.refused_evictions(ten_nodes) > before, 60)
            assert "disruption budget web" in await headgate.do("get", "jobs", "-o", "json")
            await go_on(cluster)

            async def has_jobs() -> bool:
                return bool((await cluster.list(JOBS)).items)

            await until(has_jobs, 60)
            headgate.crash()

    play(story(), 240)
    headgate("wait", "--timeout", "4m")
    judge(ten_nodes)


def test_a_node_that_goes_away_in_the_middle_leaves_its_slot_to_the_next(
    headgate: Service, ten_nodes: kube.ControlPlane
) -> None:
    async def story() -> None:
        async with ten_nodes.client() as cluster:

            async def cordoned() -> list[str]:
                nodes = (await cluster.list(NODE_KIND)).items
                return [node["metadata"]["name"] for node in nodes if node["spec"].get("unschedulable")]

            async def are_cordoned(count: int) -> bool:
                return len(await cordoned()) == count

            await begin(headgate, cluster)
            await until(lambda: are_cordoned(2), 60)
            lost, *_ = await cordoned()
            await cluster.delete(NODE_KIND, lost)
            await headgate.do("discover", "kubernetes", "--cluster", "prod-east")
            await until(lambda: are_cordoned(2), 60)
            assert lost not in await cordoned()
            await go_on(cluster)

    play(story(), 240)
    headgate("wait", "--timeout", "4m")
    seen = fleet.Seen(ten_nodes)
    uncordoned = [name for _, name, is_cordoned in seen.cordons() if not is_cordoned]
    assert len(uncordoned) == len(set(uncordoned)) == len(NODES) - 1
