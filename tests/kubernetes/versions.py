"""Things that go from one version to the next for as long as somebody disturbs them, and whether they went as promised."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from headgate.graph.compile import definition
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import ApiResource, Document
from kube import ControlPlane

from . import judging, operating
from .support import CONFIG_MAPS, is_ready, until

GRAPHS = ApiResource("kro.run", "v1alpha1", definition.KIND, "resourcegraphdefinitions", is_namespaced=False)
RAFTS = ApiResource("kro.run", "v1alpha1", "Raft", "rafts")
LETTERS = "abcdef"
Apply = Callable[[int], Awaitable[object]]
IsAt = Callable[[int], Awaitable[bool]]


class Versions:
    """A next one as soon as everything is at the last."""

    def __init__(self, apply: Apply, is_at: IsAt) -> None:
        self._apply, self._is_at = apply, is_at
        self.latest = 0

    async def go_on(self) -> None:
        if self.latest == 0 or await self._is_at(self.latest):
            self.latest += 1
            await self._apply(self.latest)

    async def arrived(self) -> bool:
        return await self._is_at(self.latest)


def of_pods(client: Client, build: Callable[[str], Document], namespace: str, count: int) -> Versions:
    """The images of so many pods of the set `web`."""

    async def apply(version: int) -> None:
        await operating.apply(client, build(f"v{version}"))

    async def is_at(version: int) -> bool:
        pods = await operating.pods_of(client, "web", namespace)
        is_new = operating.images(pods) == {f"v{version}"}
        return is_new and sum(map(is_ready, pods)) == len(pods) == count

    return Versions(apply, is_at)


def of_raft(client: Client, namespace: str) -> Versions:
    """The objects of an instance, which go two by two."""

    async def apply(version: int) -> None:
        document = {
            "apiVersion": "kro.run/v1alpha1",
            "kind": "Raft",
            "metadata": {"name": "raft", "namespace": namespace},
            "spec": {"version": version},
        }
        await client.apply(RAFTS, document, manager="people", force=True)

    async def is_at(version: int) -> bool:
        found = (await client.list(CONFIG_MAPS, namespace)).items
        ours = [each for each in found if each["metadata"]["name"].startswith("raft-")]
        return [each["data"]["version"] for each in ours] == [str(version)] * len(LETTERS)

    return Versions(apply, is_at)


async def define_raft(client: Client) -> None:
    await client.apply(GRAPHS, _raft(), manager="people", force=True)


async def raft_is_served(client: Client) -> None:
    async def is_served() -> bool:
        try:
            await client.list(RAFTS)
        except ApiError:
            return False
        return True

    await until(is_served, 60)


def _raft() -> Document:
    template = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "raft-${letter}"},
        "data": {"version": "${string(schema.spec.version)}"},
    }
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": "raft"},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": "Raft", "spec": {"version": "integer"}},
            "resources": [
                {
                    "id": "maps",
                    "forEach": [{"letter": f"${{{list(LETTERS)}}}"}],
                    "propagateWhen": ["${linearlyUpdated(each, maps, 2)}"],
                    "template": template,
                }
            ],
        },
    }


def assert_waves(plane: ControlPlane, namespace: str) -> None:
    """Two objects at a time, in their order, each to each version once, and none ever goes back or away."""
    found = [
        entry for entry in judging.entries(plane, namespace, "configmaps") if entry.name.startswith("raft-")
    ]
    assert not [entry.name for entry in found if entry.verb == "delete"]
    written = [(int(entry.document["data"]["version"]), entry.name[-1]) for entry in found]
    fresh = list(dict.fromkeys(written))
    assert [version for version, _ in fresh] == sorted(version for version, _ in fresh)
    for version in {version for version, _ in fresh}:
        letters = [letter for number, letter in fresh if number == version]
        waves = ["".join(sorted(letters[start : start + 2])) for start in range(0, len(LETTERS), 2)]
        assert waves == ["ab", "cd", "ef"], _told(found, version)


def _told(found: list[judging.Entry], version: int) -> str:
    """What was written around it, with its moments."""
    near = [entry for entry in found if abs(int(entry.document["data"]["version"]) - version) <= 1]
    return "\n".join(
        f"{entry.at} {entry.received} {entry.verb} {entry.name} to {entry.document['data']['version']}"
        for entry in near
    )
