"""A real control plane for the benchmarks, the operator on it as a process, and what the API server says of its requests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import ApiResource
from headgate.operator import crds

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import kube

AGENT = "headgate-operator"
"""By which the operator's requests are known; those of the benchmark itself have another."""
NAMESPACE = "bench"
PODS_PER_NODE = 1_000
"""A node that has many costs no more than one that has few, and there are fewer to choose from for each pod."""
_TICKS = os.sysconf("SC_CLK_TCK")
_CRDS = ApiResource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", is_namespaced=False
)
_QUIET_SECONDS = 3.0
_BY_THE_CLOCK = frozenset({"leases"})
"""Requests that come with time and not with work."""
_GARBAGE_PERCENT = "400"
"""How much a control plane's memory may grow before it is gone through: it shares two cores with what is measured."""
_AUDIT_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [{own}]
  resources:
  - {{group: coordination.k8s.io, resources: [leases]}}
  - {{group: "", resources: [events]}}
  - {{group: events.k8s.io, resources: [events]}}
- level: None
  users: [{own}]
  verbs: [get, list, watch]
- level: Metadata
"""
"""As that of the tests, without what was sent and answered: that is as much work as the requests themselves."""
_OWN_USER = "control-plane"


@dataclass(frozen=True)
class Cost:
    """Of one piece of work: until it was done, and the operator's CPU and requests until it rested."""

    wall: float
    cpu: float
    requests: Counter[str]

    @property
    def count(self) -> int:
        return self.requests.total()

    def listed(self, each: int) -> str:
        """The requests by verb and resource, for one of so many things."""
        return ", ".join(f"{name} {count / each:.2f}" for name, count in self.requests.most_common(12))


class Bench:
    def __init__(self, plane: kube.ControlPlane, client: Client, process: subprocess.Popen[bytes]) -> None:
        self.plane = plane
        self.client = client
        self._process = process

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory_mib(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    async def measure(
        self,
        work: Callable[[], Awaitable[object]],
        is_done: Callable[[], Awaitable[bool]],
        most_seconds: float = 1_200,
    ) -> Cost:
        begin, cpu, place = time.perf_counter(), self.cpu_seconds(), self._audited()
        await work()
        while not await is_done():
            if time.perf_counter() - begin > most_seconds:
                raise RuntimeError(f"not done after {most_seconds:g} s")
            await asyncio.sleep(0.5)
        wall = time.perf_counter() - begin
        await self.rest()
        return Cost(wall, self.cpu_seconds() - cpu, self.requests_since(place))

    async def rest(self) -> None:
        """Until the operator has written nothing for a while."""
        place = self._audited()
        while True:
            await asyncio.sleep(_QUIET_SECONDS)
            found = sum(_is_write(name) for name in self.requests_since(place).elements())
            if not found:
                return
            place = self._audited()

    def _audited(self) -> int:
        """A log that has grown large goes on in another file, so it is all of them together."""
        return sum(file.stat().st_size for file in self.plane.audit_files())

    def requests_since(self, place: int) -> Counter[str]:
        return Counter(
            _name(event)
            for event in self.events_since(place)
            if event["userAgent"].startswith(AGENT) and event["objectRef"]["resource"] not in _BY_THE_CLOCK
        )

    def events_since(self, place: int) -> Iterator[dict[str, Any]]:
        for line in self.plane.audit_lines(place):
            event = json.loads(line)
            if event["stage"] == "ResponseComplete" and event["verb"] != "watch" and event.get("objectRef"):
                yield event

    def writes_in_all(self, place: int) -> int:
        """Of everybody, the control plane's own parts among them."""
        return sum(event["verb"] not in ("get", "list") for event in self.events_since(place))

    @property
    def place(self) -> int:
        return self._audited()


def _name(event: dict[str, Any]) -> str:
    reference = event["objectRef"]
    part = f"/{reference['subresource']}" if reference.get("subresource") else ""
    return f"{event['verb']} {reference['resource']}{part}"


def _is_write(name: str) -> bool:
    return not name.startswith(("get ", "list "))


def node_name(number: int) -> str:
    return f"node-{number:03d}"


@contextlib.asynccontextmanager
async def running(pods: int) -> AsyncIterator[Bench]:
    """With nodes for so many pods. Raises kube.AbsentError."""
    folder = Path(tempfile.mkdtemp(prefix="headgate-bench-"))
    policy = folder / "audit-policy.yaml"
    policy.write_text(_AUDIT_POLICY.format(own=_OWN_USER))
    os.environ.setdefault("GOGC", _GARBAGE_PERCENT)
    plane = kube.ControlPlane(
        folder / "cluster",
        os.getpid(),
        nodes=pods // PODS_PER_NODE + 2,
        pods_per_node=PODS_PER_NODE + PODS_PER_NODE // 10,
        api_server_flags=f"--audit-policy-file={policy}",
    )
    try:
        plane.start()
        async with plane.client(user_agent="bench") as client:
            await _install(client)
            process = _operator(plane, folder / "operator.log")
            try:
                yield Bench(plane, client, process)
            finally:
                process.terminate()
                process.wait()
    finally:
        if plane.is_running:
            plane.stop(immediate=True)
        shutil.rmtree(folder, ignore_errors=True)


async def _install(client: Client) -> None:
    for document in crds.documents():
        await client.apply(_CRDS, document, manager="bench", force=True)
    await client.create(kube.NAMESPACES, {"metadata": {"name": NAMESPACE}})


def _operator(plane: kube.ControlPlane, log: Path) -> subprocess.Popen[bytes]:
    """Begun; when everything is listed it says so."""
    command = [sys.executable, "-m", "headgate", "operator", "run"]
    command += ["--health-port", "0", "--kubeconfig", str(plane.kubeconfig)]
    command += ["--lease-namespace", NAMESPACE]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    while "the controllers begin" not in log.read_text():
        if process.poll() is not None:
            raise RuntimeError(f"the operator ended:\n{log.read_text()}")
        time.sleep(0.1)
    return process
