"""The sample manifests of the projects whose APIs these are: applied as they are, all of them become ready."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import kube
from headgate.agents.node_holds import NODES
from headgate.kernel import yaml_text
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import PODS, ApiResource, Document
from kube import ControlPlane

from . import operating
from .operating import operating_through
from .support import is_ready, play, running, until
from .versions import GRAPHS

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "manifests"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared manifests are not here")
SCHEDULER = "kai-scheduler"
"""Whom most of these pods wait for. It is not here, so the test puts them onto nodes."""
MOST_REPLICAS = 5
"""One of the sets is there to be large, which the benchmarks look at."""
GIVEN: Document = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "external-data", "namespace": "upgrade-test"},
    "data": {"appEnv": "test", "logLevel": "info"},
}
"""What a manifest refers to, and its project's test makes by other means."""

SERVICE_CIDRS = ApiResource("networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", is_namespaced=False)
ADDRESSES: Document = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "ServiceCIDR",
    "metadata": {"name": "of-their-cluster"},
    "spec": {"cidrs": ["10.100.0.0/16"]},
}
"""The Service of one of them wants an address of the cluster that it was written for."""


@pytest.fixture
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    with kube_session.private(4) as found:
        yield found


def _documents(folder: Path) -> list[Document]:
    """Those that are applied: what is asserted of them stands in files of its own."""
    return [
        document
        for file in sorted(folder.glob("*.yaml"))
        if "assert" not in file.name and file.name not in ("chainsaw-test.yaml", "owned.yaml")
        for document in yaml.safe_load_all(file.read_text("utf-8"))
        if document
    ]


async def _schedule(client: Client) -> None:
    """Puts pods that nobody holds back onto nodes, one after the other."""
    turn = 0
    nodes = [each["metadata"]["name"] for each in (await client.list(NODES)).items]
    while True:
        for pod in (await client.list(PODS, fields="spec.nodeName=")).items:
            spec, metadata = pod["spec"], pod["metadata"]
            if spec["schedulerName"] != SCHEDULER or spec.get("schedulingGates"):
                continue
            turn += 1
            binding = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": metadata["name"]},
                "target": {"apiVersion": "v1", "kind": "Node", "name": nodes[turn % len(nodes)]},
            }
            try:
                path = PODS.path(metadata["namespace"], metadata["name"], "binding")
                await client.ask("POST", path, document=binding)
            except ApiError:
                continue
        await asyncio.sleep(0.1)


def _sets() -> list[Document]:
    """Each in a namespace of its own, since some have the same names."""
    found: list[Document] = []
    for file in sorted((SHARED / "grove").glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text("utf-8")):
            document["metadata"]["namespace"] = f"set-{len(found)}"
            document["spec"]["replicas"] = min(document["spec"]["replicas"], MOST_REPLICAS)
            found.append(document)
    return found


def test_sets_become_ready(plane: ControlPlane) -> None:
    sets = _sets()
    assert len(sets) >= 13

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            for node in (await client.list(NODES)).items:
                marked = {"metadata": {"labels": {"type": "kwok"}}}
                await client.patch(NODES, node["metadata"]["name"], "", marked)
            async with operating_through(client, "default", is_everywhere=True), running(_schedule(client)):
                for document in sets:
                    await kube.make_namespace(plane, document["metadata"]["namespace"])
                    await operating.apply(client, document)
                for document in sets:
                    await until(lambda of=document["metadata"]: _is_whole(client, **of), 90)

    play(story(), 200)


async def _is_whole(client: Client, *, name: str, namespace: str, **_: object) -> bool:
    pods = await operating.pods_of(client, name, namespace)
    return bool(pods) and all(map(is_ready, pods)) and await operating.is_updated(client, name, namespace)


def test_instances_become_ready(plane: ControlPlane) -> None:
    folders = sorted({file.parent for file in (SHARED / "kro").rglob("*.yaml")})
    found = [(folder, document) for folder in folders for document in _documents(folder)]
    definitions = [document for _, document in found if document["kind"] == GRAPHS.kind]
    kinds = {document["spec"]["schema"]["kind"] for document in definitions}
    assert len(kinds) == len(folders)

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            await client.create(SERVICE_CIDRS, ADDRESSES)
            for name in {"upgrade-test", *(folder.name.lower() for folder in folders)}:
                await kube.make_namespace(plane, name)
            discovery = Discovery(client.transport)
            async with operating_through(client, "default", is_everywhere=True):
                for document in definitions:
                    await client.apply(GRAPHS, document, manager="people", force=True)
                waiting: list[tuple[str, str, str, str]] = []
                for folder, document in [(SHARED, GIVEN), *found]:
                    if document["kind"] == GRAPHS.kind:
                        continue
                    api_version, kind = document["apiVersion"], document["kind"]
                    await until(lambda of=(api_version, kind): _is_known(discovery, *of), 60)
                    metadata = document["metadata"]
                    place = metadata.get("namespace", folder.name.lower())
                    done = plane.kubectl(
                        *("apply", "-n", place, "-f", "-"), input=yaml_text.write([document])
                    )
                    assert done.returncode == 0, (kind, done.stderr)
                    if kind in kinds:
                        waiting.append((api_version, kind, metadata["name"], place))
                assert len(waiting) >= len(kinds)
                for api_version, kind, name, place in waiting:
                    resource = await discovery.find(api_version, kind)
                    await until(lambda of=(resource, name, place): _is_ready(client, *of), 60)
        assert _applied(plane, "core-dns", "deployments") == 1

    play(story(), 200)


def _applied(plane: ControlPlane, place: str, resource: str) -> int:
    """How often the operator wrote objects of the kind there. A Deployment of these has an annotation that the controller
    of Deployments writes too: the two must not take turns."""
    return sum(
        entry["verb"] == "patch"
        and entry["objectRef"]["resource"] == resource
        and not entry["objectRef"].get("subresource")
        and "fieldManager=headgate-graphs" in entry["requestURI"]
        for entry in plane.audit(place)
        if entry["stage"] == "ResponseComplete"
    )


async def _is_known(discovery: Discovery, api_version: str, kind: str) -> bool:
    try:
        await discovery.find(api_version, kind)
    except UnknownKindError:
        await discovery.refresh()
        return False
    return True


async def _is_ready(client: Client, resource: ApiResource, name: str, place: str) -> bool:
    return is_ready(await client.get(resource, name, place))
