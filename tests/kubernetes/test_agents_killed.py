"""Agents of clusters in a process that is killed at one moment after another: before each request and after its answer.

What they did is judged by the API server's audit log: everything once, however often somebody began again.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kube
from agents.support import HOME, cancel, document, opened, order, put
from headgate.agents.kubernetes_job import JOBS
from headgate.agents.work import kept_of
from headgate.graph.reconcile import labels
from headgate.store import Dispatch, Store
from headgate.workload.plan.situation import ABORT
from kube import ControlPlane

from .nodes import Farm, farm
from .operating import SETS
from .support import CONFIG_MAPS, play
from .test_graph_agent import PAGES, Scene, page
from .test_graph_agent import scene as graph_scene
from .test_node_agent import cordons, evictions
from .test_workload_agent import template

SCRIPT = Path(__file__).with_name("agents_process.py")
MOMENTS = (*range(1, 16), *range(18, 46, 3))
"""One process each; the last ones go on until nothing is left to do."""
FIRST = "first-"
"""Begins the ids of jobs that go before those that are looked at."""
KINDS = ("kubernetes", "kubernetes-node", "graph", "workload")


@pytest.fixture(scope="module")
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    with kube_session.private(4) as found:
        yield found


@pytest.fixture
def place(plane: ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(plane) as name:
        yield name


class Runners:
    """One after another, each until its moment comes or nothing is left to do."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.url = f"sqlite:///{folder / 'headgate.db'}"
        self.store: Store = opened(self.url)
        self._config = str(plane.kubeconfig)
        self._reports = folder / "reports"
        self.kills_count = 0

    def statuses(self, job: str) -> set[str]:
        if not self._reports.exists():
            return set()
        said = [line.split() for line in self._reports.read_text().splitlines()]
        return {status for name, status in said if name == job and status != "inProgress"}

    def is_done(self) -> bool:
        return all(self.store.dispatch(HOME, f"{one}{kind}") is None for kind in KINDS for one in ("", FIRST))

    def run(self, until: Callable[[], bool], moments: tuple[int, ...] = MOMENTS) -> None:
        for moment in (*moments, 0):
            if until():
                return
            self._run_one(moment, until)
        assert until(), "it did not end in time"

    def _run_one(self, moment: int, until: Callable[[], bool]) -> None:
        ends = time.monotonic() + 90
        command = [sys.executable, str(SCRIPT), self.url, self._config, str(self._reports), str(moment)]
        environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
        process = subprocess.Popen(command, env=environment)
        try:
            while process.poll() is None and not until() and time.monotonic() < ends:
                time.sleep(0.02)
            self.kills_count += process.poll() is not None
        finally:
            process.kill()
            process.wait()


def orders_of(place: str, node: str, version: str, *, ends: bool, before: str = "") -> list[Dispatch]:
    """One of each agent; `ends` says whether what they begin comes to an end, `before` begins their ids."""
    behavior = {"headgate.test/complete-after": "1s" if ends else "24h"}
    pods = {
        "metadata": {"annotations": behavior},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }
    configs: dict[str, dict[str, Any]] = {
        "kubernetes": {"jobTemplate": {"metadata": {"namespace": place}, "spec": {"template": pods}}},
        "kubernetes-node": {"verb": "drain", "node": node},
        "graph": {"instanceTemplate": page("web", place, version)},
        "workload": template(place, version),
    }

    def made(kind: str) -> Dispatch:
        content = document(f"{before}{kind}", configs[kind])
        return order(f"{before}{kind}", kind, document=json.dumps(content).encode())

    return [made(kind) for kind in KINDS]


def made_pods(plane: ControlPlane, place: str, owner: str) -> int:
    """How many pods controllers of that kind have made there: they are not killed, so all of it is in the log. Of a
    write whose sender was killed meanwhile it is not, whether it was done or not."""
    return sum(
        event["verb"] == "create"
        and event["objectRef"]["resource"] == "pods"
        and not event["objectRef"].get("subresource")
        and event["responseStatus"]["code"] == 201
        and event["responseObject"]["metadata"]["ownerReferences"][0]["kind"] == owner
        for event in plane.audit(place)
        if event["stage"] == "ResponseComplete"
    )


def test_what_ends_is_done_once_at_whatever_moment_its_agent_is_killed(
    plane: ControlPlane, place: str, tmp_path: Path
) -> None:
    async def story() -> None:
        async with graph_scene(plane, place) as it, farm(plane, place) as nodes:
            await nodes.deploy("shop", 4, budget={"maxUnavailable": 1})
            before = await nodes.pods_on()
            runners = Runners(plane, tmp_path)
            put(runners.store, *orders_of(place, nodes.nodes[0], "v1", ends=True))
            await asyncio.to_thread(runners.run, runners.is_done)
            runners.store.close()
            assert {kind: runners.statuses(kind) for kind in KINDS} == {key: {"successful"} for key in KINDS}
            assert runners.kills_count >= 10, "it was over before there was much to kill"
            await _all_of_it_was_done_once(plane, it, nodes, before)

    play(story(), 400)


async def _all_of_it_was_done_once(plane: ControlPlane, it: Scene, nodes: Farm, before: list[str]) -> None:
    place = it.namespace
    assert made_pods(plane, place, "Job") == 1
    assert made_pods(plane, place, "ReplicaSet") == 4 + len(before)
    granted = [name for name, code in evictions(plane, place) if code == 201]
    assert len(granted) == len(set(granted))
    assert cordons(plane, nodes.nodes[0]) == [True]
    assert (await it.found())["metadata"]["generation"] == 1
    assert await it.images() == ["v1", "v1"]
    maps = (await it.client.list(CONFIG_MAPS, place, labels=f"{labels.OWNED}=true")).items
    assert len({each["metadata"]["uid"] for each in maps}) == 2
    found = await it.client.get(SETS, "web", place)
    assert found["metadata"]["generation"] == 1
    assert "headgate.dev/job" in found["metadata"]["annotations"]


def test_what_is_stopped_is_taken_back_once_at_whatever_moment_its_agent_is_killed(
    plane: ControlPlane, place: str, tmp_path: Path
) -> None:
    async def story() -> None:
        async with graph_scene(plane, place) as it, farm(plane, place) as nodes:
            await nodes.deploy("shop", 4, budget={"maxUnavailable": 0})
            runners = Runners(plane, tmp_path)
            whole = orders_of(place, nodes.nodes[0], "v1", ends=True, before=FIRST)
            put(runners.store, *(each for each in whole if each.type in ("graph", "workload")))
            await asyncio.to_thread(runners.run, runners.is_done, ())
            put(runners.store, *orders_of(place, nodes.nodes[0], "broken", ends=False))

            def are_under_way() -> bool:
                return all(
                    "uid" in _kept(runners.store, kind) or "pods" in _kept(runners.store, kind)
                    for kind in KINDS
                )

            await asyncio.to_thread(runners.run, are_under_way, ())
            for kind in KINDS:
                cancel(runners.store, kind)
            await asyncio.to_thread(runners.run, runners.is_done)
            runners.store.close()
            assert runners.kills_count >= 5, "it was over before there was much to kill"

            assert made_pods(plane, place, "Job") == 1
            assert (await it.client.list(JOBS, place)).items == []
            assert made_pods(plane, place, "ReplicaSet") == 4
            assert cordons(plane, nodes.nodes[0]) == [True, False]
            instance = await it.client.get(PAGES, "web", place)
            assert labels.is_paused(instance["metadata"]["annotations"])
            assert instance["metadata"]["generation"] == 2
            found = await it.client.get(SETS, "web", place)
            assert ABORT in found["metadata"]["annotations"]
            assert found["metadata"]["generation"] == 2

    play(story(), 400)


def _kept(store: Store, job: str) -> dict[str, Any]:
    found = store.dispatch(HOME, job)
    return {} if found is None else dict(kept_of(found).agent)
