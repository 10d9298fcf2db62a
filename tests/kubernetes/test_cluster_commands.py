"""What the commands say about sets and graphs of a real control plane, and what they order there."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

import kube
from cli.test_watch_terminal import Terminal
from headgate.cli import exit_codes, main
from headgate.graph.reconcile import labels
from headgate.kubernetes import objects
from headgate.kubernetes.errors import ConflictError
from headgate.operator.observation import orders
from headgate.workload.plan import operate
from headgate.workload.plan.situation import ABORT
from kube import ControlPlane

from . import operating
from . import test_operator_graphs as shops
from .operating import SETS, clique, pod_set
from .operating import operating as operator_of
from .support import play, until


class Commands:
    """One `headgate` of a person who is in a namespace."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self._options = ("--kubeconfig", str(plane.kubeconfig), "-n", namespace)

    async def run(self, *words: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, main.headgate, [*words, *self._options])

    async def tree(self, *words: str) -> dict[str, Any]:
        done = await self.run(*words, "-o", "json")
        assert done.exit_code == exit_codes.OK, done.output
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    async def is_state(self, state: str, *words: str) -> bool:
        return bool((await self.tree(*words))["state"] == state)


def test_a_set_is_shown_paused_aborted_and_resumed(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace
    commands = Commands(control_plane, namespace)

    def document(image: str) -> operating.Document:
        return pod_set("web", namespace, 2, [clique("front", 1, image)])

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            done = await commands.run("workload", "status", "web")
            assert done.exit_code == exit_codes.FAILED
            assert f'NAME: is "web"; PodCliqueSets of the namespace {namespace}: none' in done.stderr
            async with operator_of(control_plane, namespace):
                await operating.apply(client, document("v1"))
                await until(lambda: commands.is_state("done", "workload", "status", "web"), 60)
                await _shows_down_to_the_pods(commands)
                done = await commands.run("workload", "abort", "web")
                assert (done.exit_code, done.stderr) == (
                    exit_codes.FAILED,
                    "PodCliqueSet web is done: there is no update to abort\n",
                )

                done = await commands.run("workload", "pause", "web")
                assert done.exit_code == exit_codes.OK
                assert "PodCliqueSet web is paused" in done.stdout
                assert "it was so before" in (await commands.run("workload", "pause", "web")).stdout
                await operating.apply(client, document("v2"))
                await until(lambda: commands.is_state("paused", "workload", "explain", "web"))
                said = (await commands.run("workload", "explain", "web")).stdout
                assert "the update is paused: nothing more is taken down until it is resumed" in said
                assert "0 of 2 have the content of revision 2" in said

                assert (await commands.run("workload", "abort", "web")).exit_code == exit_codes.OK
                await until(lambda: commands.is_state("aborted", "workload", "explain", "web"))
                assert "it was so before" in (await commands.run("workload", "abort", "web")).stdout
                assert (await commands.run("workload", "resume", "web")).exit_code == exit_codes.OK
                assert not (await client.get(SETS, "web", namespace))["spec"].get("updateStrategy")
                assert operating.images(await operating.pods_of(client, "web", namespace)) == {"v1"}

                await operating.apply(client, document("v3"))
                await until(lambda: commands.is_state("done", "workload", "status", "web"), 60)
                assert operating.images(await operating.pods_of(client, "web", namespace)) == {"v3"}

    play(story(), 150)


async def _shows_down_to_the_pods(commands: Commands) -> None:
    lines = (await commands.run("workload", "status", "web")).stdout.splitlines()
    assert lines[0].startswith("PodCliqueSet web: done, ")
    assert sum(line.startswith("      pod web-") and ": ready, revision 1" in line for line in lines) == 2
    rows = (await commands.run("workload", "status")).stdout.splitlines()
    assert [row.split()[:2] for row in rows] == [["NAME", "STATE"], ["web", "done"]]


@pytest.fixture(scope="module")
def plane(kube_session: kube.Session, control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """Definitions are for a whole cluster, so one of their own for these tests."""
    with kube_session.private(4) as found:
        yield found


@pytest.fixture
def place(plane: ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(plane) as name:
        yield name


def test_a_graph_is_shown_paused_aborted_and_resumed(plane: ControlPlane, place: str) -> None:
    commands = Commands(plane, place)

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            done = await commands.run("graph", "status", "shop")
            assert (done.exit_code, done.stderr) == (
                exit_codes.FAILED,
                'TARGET: is "shop"; ResourceGraphDefinitions: none\n',
            )
            async with operator_of(plane, place):
                await shops.define(client, shops.shop_definition())
                await shops.apply(client, shops.shop("web", place))
                await shops.settled(client, "web", place)
                rows = (await commands.run("graph", "status")).stdout.splitlines()
                assert rows[1] == "shop  Propagated  all instances at graph revision 1"
                shown = (await commands.run("graph", "status", "shop")).stdout.splitlines()
                assert "  Shop web: ready, web is at graph revision 1 and ready" in shown
                assert any(line.startswith("        Deployment web: ready") for line in shown)

                done = await commands.run("graph", "pause", "shop/web")
                assert done.stdout.startswith("Shop web is paused")
                await shops.apply(client, shops.shop("web", place, image="v2"))
                await until(lambda: commands.is_state("PropagationBlocked", "graph", "explain", "shop/web"))
                said = (await commands.run("graph", "explain", "shop/web")).stdout
                assert "ConfigMap web-config stays at revision 1: propagation is paused" in said
                assert "waits for config to reach revision 2" in said
                below = (await commands.run("graph", "explain", "shop")).stdout
                assert "Shop web: PropagationBlocked, 0 of 3 at revision 2" in below

                done = await commands.run("graph", "abort", "shop/web")
                assert done.stdout.startswith("Shop web is aborted: what is not yet moved keeps its revision")
                again = await commands.run("graph", "abort", "shop/web")
                assert "; it was so before" in again.stdout
                patch = {"metadata": {"annotations": {labels.PROPAGATION: None}}}
                await client.patch(shops.SHOPS, "web", place, patch)
                said = (await commands.run("graph", "explain", "shop/web")).stdout
                assert "ConfigMap web-config stays at revision 1: revision 2 was given up" in said

                assert (await commands.run("graph", "pause", "shop")).exit_code == exit_codes.OK
                assert (await commands.run("graph", "resume", "shop/web")).exit_code == exit_codes.OK
                assert await commands.is_state("PropagationBlocked", "graph", "status", "shop/web")
                assert (await commands.run("graph", "resume", "shop")).exit_code == exit_codes.OK
                await until(lambda: commands.is_state("Propagated", "graph", "status", "shop/web"), 60)

                for target, sentence in REFUSED.items():
                    done = await commands.run("graph", "explain", target)
                    assert (done.exit_code, done.stderr) == (exit_codes.FAILED, f"{sentence.format(place)}\n")
                done = await commands.run("graph", "abort", "shop/web")
                assert done.exit_code == exit_codes.FAILED
                assert done.stderr == "Shop web is Propagated: there is no propagation to abort\n"

    play(story(), 150)


REFUSED = {
    "shop/other": "TARGET: there is no Shop other in the namespace {}",
    "pod/other": "TARGET: Pod is no kind of a ResourceGraphDefinition",
    "nosuch/other": "the cluster: the cluster serves nothing named nosuch",
}


def test_a_set_is_followed_live_in_a_terminal_and_by_lines_in_a_pipe(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    commands = Commands(control_plane, kube_namespace)

    def document(image: str, ready_after: str = "0s") -> operating.Document:
        made = clique("front", 1, image)
        made["annotations"] = {"headgate.test/ready-after": ready_after}
        return pod_set("web", kube_namespace, 1, [made])

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            assert (await commands.run("workload", "watch", "web")).exit_code == exit_codes.FAILED
            async with operator_of(control_plane, kube_namespace):
                await operating.apply(client, document("v1"))
                await until(lambda: commands.is_state("done", "workload", "status", "web"), 60)
                late = await commands.run("workload", "watch", "web", "--timeout", "1s")
                assert (late.exit_code, late.output.count("gone")) == (exit_codes.OK, 0)

                words = ["workload", "watch", "web", "--kubeconfig", str(control_plane.kubeconfig)]
                screen = Terminal([*words, "-n", kube_namespace], 100, 12)
                await asyncio.to_thread(screen.read_until, "PodCliqueSet web: ")
                await operating.apply(client, document("v2", "5s"))
                await until(lambda: commands.is_state("updating", "workload", "status", "web"))
                piped = await commands.run("workload", "watch", "web", "--until", "done", "--timeout", "60s")
                assert piped.exit_code == exit_codes.OK, piped.output
                lines = [line.partition("  ")[2] for line in piped.stdout.splitlines()]
                assert lines[0].startswith("PodCliqueSet web: updating, RollingUpdate, revision 2")
                way = "replica 0 / clique front / pod web-0-front-"
                assert any(line.startswith(way) and line.endswith(": ready, revision 2") for line in lines)
                assert any(line.startswith(way) and ": scheduled, not ready" in line for line in lines)
                await asyncio.to_thread(screen.read_until, "scheduled, not ready")
                await asyncio.to_thread(screen.read_until, "revision 2")
                screen.process.send_signal(signal.SIGINT)
                await asyncio.to_thread(screen.process.wait, 30)
                assert screen.close() == exit_codes.INTERRUPTED

                trees = await commands.run("workload", "watch", "web", "--until", "done", "-o", "json")
                [tree] = [json.loads(line) for line in trees.stdout.splitlines()]
                assert (tree["state"], tree["part"]) == (
                    "done", {"kind": "set", "revision": 2, "role": "regular", "dependsOn": []},
                )  # fmt: skip

    play(story(), 150)


def test_a_graph_is_followed_until_it_is_propagated(plane: ControlPlane, place: str) -> None:
    commands = Commands(plane, place)

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await shops.define(client, shops.shop_definition())
                await shops.apply(client, shops.shop("web", place))
                done = await commands.run("graph", "watch", "shop/web", "--until", "done", "--timeout", "60s")
                assert done.exit_code == exit_codes.OK, done.output
                lines = [line.partition("  ")[2] for line in done.stdout.splitlines()]
                assert any(line.startswith("deployment / Deployment web: ready") for line in lines)

                assert (await commands.run("graph", "pause", "shop/web")).exit_code == exit_codes.OK
                await shops.apply(client, shops.shop("web", place, image="v2"))
                blocked = await commands.run(
                    "graph", "watch", "shop/web", "--until", "done", "--timeout", "2s"
                )
                assert blocked.exit_code == exit_codes.FAILED, blocked.output
                assert "propagation is paused" in blocked.stdout

    play(story(), 150)


def test_an_order_is_about_what_was_looked_at(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            await operating.apply(client, pod_set("web", namespace, 1, [clique("front", 1, "v1")]))
            seen = objects.read(await client.get(SETS, "web", namespace), SETS)
            noted = {"metadata": {"annotations": {"note": "of somebody else"}}}
            await client.patch(SETS, "web", namespace, noted)
            assert await orders.order(client, SETS, seen, operate.abort)
            annotations = (await client.get(SETS, "web", namespace))["metadata"]["annotations"]
            assert set(annotations) == {"note", ABORT}

            seen = objects.read(await client.get(SETS, "web", namespace), SETS)
            await operating.apply(client, pod_set("web", namespace, 1, [clique("front", 1, "v2")]))
            with pytest.raises(ConflictError, match="has changed since it was looked at"):
                await orders.order(client, SETS, seen, operate.pause)
            assert "updateStrategy" not in (await client.get(SETS, "web", namespace))["spec"]

    play(story())
