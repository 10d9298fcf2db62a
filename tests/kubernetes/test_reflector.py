"""Following a kind on a real API server: what is told is what is, whatever breaks in between."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from headgate.cluster.cache import ObjectCache
from headgate.cluster.port import ObjectChange
from headgate.kernel.backoffs import Backoff
from headgate.kernel.objects import Key, Object
from headgate.kubernetes.client import Client
from headgate.kubernetes.reflector import Reflector
from headgate.kubernetes.resources import NAMESPACES, PODS, ApiResource, Document
from kube import ControlPlane

from .cutting import cutting_proxy
from .support import CONFIG_MAPS, config_map, defined, gate, play, pod, running, until

QUICK = Backoff(first_seconds=0.02, most_seconds=0.2, chance=lambda: 1.0)
WITHOUT_CA = "metadata.name!=kube-root-ca.crt"


class Listening:
    """A controller's cache that is told, and the order in which that happened."""

    def __init__(self) -> None:
        self.cache = ObjectCache(lambda item: None)
        self.told: list[tuple[str, str]] = []
        self.changes: list[ObjectChange] = []
        self.rewinds = 0

    def observe(self, change: ObjectChange) -> None:
        self.told.append((change.kind, change.object.name))
        self.changes.append(change)
        if change.kind == "deleted":
            self.cache.forget(change.object)
        else:
            self.cache.observe(change.object)

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        self.rewinds += 1
        self.cache.replace(group, kind, items)

    def names(self) -> set[str]:
        return {item.name for item in self.cache}


def reflector(client: Client, listening: Listening, namespace: str, **options: Any) -> Reflector:
    given: dict[str, Any] = {"namespace": namespace, "fields": WITHOUT_CA, "backoff": QUICK} | options
    return Reflector(client, given.pop("resource", CONFIG_MAPS), listening, **given)


def has(listening: Listening, *names: str) -> Callable[[], bool]:
    return lambda: listening.names() == set(names)


def test_a_list_in_chunks_then_everything_that_happens(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        listening = Listening()
        async with control_plane.client() as client:
            for number in range(5):
                await client.create(CONFIG_MAPS, config_map(f"c{number}", kube_namespace))
            following = reflector(client, listening, kube_namespace, chunk_size=2)
            async with running(following.run()):
                await following.listed.wait()
                assert listening.told == [("added", f"c{number}") for number in range(5)]
                await client.apply(CONFIG_MAPS, config_map("c0", kube_namespace, x="1"), manager="me")
                await client.delete(CONFIG_MAPS, "c1", kube_namespace)
                await client.create(CONFIG_MAPS, config_map("c9", kube_namespace))
                await until(has(listening, "c0", "c2", "c3", "c4", "c9"))
                assert listening.told[5:] == [("modified", "c0"), ("deleted", "c1"), ("added", "c9")]
                edit, end, _ = listening.changes[5:]
                assert edit.object.other == {"data": {"x": "1"}}
                assert edit.old is not None
                assert end.old is not None
                assert end.object.resource_version > end.old.resource_version
            assert following.lists_count == 1

    play(story())


def test_what_a_pod_goes_through_is_heard(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        listening = Listening()
        async with control_plane.client() as client:
            following = reflector(client, listening, kube_namespace, resource=PODS, fields="")
            async with running(following.run()):
                await following.listed.wait()
                await client.create(PODS, pod("a", kube_namespace), manager="me")
                key = Key("", "Pod", kube_namespace, "a")

                def runs() -> bool:
                    found = listening.cache.get(key)
                    return found is not None and found.status.get("phase") == "Running"

                await until(runs)
                found = listening.cache.get(key)
                assert found is not None
                assert found.labels == {"app": "web"}
                assert found.spec["nodeName"].startswith("node-")

    play(story())


def test_a_version_that_is_too_old_leads_to_a_new_list_and_the_end_of_what_is_not_in_it(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    group = f"{kube_namespace}.example.com"

    async def story() -> None:
        listening = Listening()
        async with control_plane.client() as client, defined(client, group) as gates:

            async def make(name: str) -> Document:
                return await client.create(gates, gate(name, kube_namespace, group))

            first = await make("stays")
            for name in ("goes", "comes-back"):
                await make(name)
            following = reflector(client, listening, kube_namespace, resource=gates, fields="")
            async with running(following.run()):
                await following.listed.wait()
            for name in ("goes", "comes-back"):
                await client.delete(gates, name, kube_namespace)
            for name in ("comes-back", "new"):
                await make(name)
            following._version = 1  # of which the server knows nothing
            listening.told.clear()
            async with running(following.run()):
                await until(lambda: following.lists_count == 2)
            assert listening.names() == {"stays", "comes-back", "new"}
            assert sorted(listening.told) == [
                ("added", "comes-back"),
                ("added", "new"),
                ("deleted", "comes-back"),
                ("deleted", "goes"),
            ]
            kept = listening.cache.get(Key(group, "Gate", kube_namespace, "stays"))
            assert kept is not None
            assert kept.uid == first["metadata"]["uid"]

    play(story())


def test_who_may_not_list_is_told_so_until_they_may(control_plane: ControlPlane, kube_namespace: str) -> None:
    binding = {
        "metadata": {"name": "ada", "namespace": kube_namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ada"}],
    }
    bindings = ApiResource("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")

    async def story() -> None:
        listening = Listening()
        async with control_plane.client() as admin, control_plane.client() as client:
            access = client.transport.access
            client.transport.access = msgspec.structs.replace(access, headers=(("Impersonate-User", "ada"),))
            await admin.create(CONFIG_MAPS, config_map("a", kube_namespace))
            following = reflector(client, listening, kube_namespace)
            async with running(following.run()):
                await until(lambda: following.problem)
                assert 'User "ada" cannot list resource "configmaps"' in str(following.problem)
                await admin.create(bindings, binding)
                await until(has(listening, "a"))
                assert following.problem is None

    play(story())


def test_connections_that_are_cut_lose_nothing(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        listening = Listening()
        async with (
            cutting_proxy() as proxy,
            proxy.client(control_plane) as client,
            control_plane.client() as other,
        ):
            following = reflector(client, listening, kube_namespace)
            async with running(following.run()):
                await following.listed.wait()
                for number in range(5):
                    proxy.cut()
                    await other.create(CONFIG_MAPS, config_map(f"c{number}", kube_namespace))
                    await until(lambda expected=number + 1: len(listening.names()) == expected)
            assert listening.told == [("added", f"c{number}") for number in range(5)]
            assert following.lists_count == 1

    play(story())


def test_a_server_that_is_restarted_and_then_restored_from_an_older_copy(
    private_control_plane: ControlPlane,
) -> None:
    """In one test, since each start takes seconds."""
    plane = private_control_plane
    copy = plane.folder / "etcd-copy"

    async def story() -> None:
        listening = Listening()
        async with plane.client() as client:
            await client.create(CONFIG_MAPS, config_map("old", "default", x="1"))
            following = reflector(client, listening, "default")
            async with running(following.run()):
                await until(has(listening, "old"))
                plane.stop(immediate=True)
                await until(lambda: following.problem)
                assert "configmaps: 127.0.0.1 " in str(following.problem)
                shutil.copytree(plane.folder / "etcd", copy)
                plane.start()
                async with plane.client() as other:
                    await make_history(other)
                await until(has(listening, "old", "lost"))
                assert following.problem is None
                assert listening.told == [("added", "old"), ("modified", "old"), ("added", "lost")]
                assert (following.lists_count, listening.rewinds) == (1, 0)

                plane.stop(immediate=True)
                shutil.rmtree(plane.folder / "etcd")
                copy.rename(plane.folder / "etcd")
                plane.start()
                await until(has(listening, "old"))
                found = listening.cache.get(Key("", "ConfigMap", "default", "old"))
                assert found is not None
                assert found.other["data"] == {"x": "1"}
                assert listening.rewinds == 1

    async def make_history(client: Client) -> None:
        """More of it than a start makes."""
        for number in range(300):
            labels = {"metadata": {"labels": {"count": str(number)}}}
            await client.patch(NAMESPACES, "default", "", labels)
        await client.patch(CONFIG_MAPS, "old", "default", {"data": {"x": "2"}})
        await client.create(CONFIG_MAPS, config_map("lost", "default"))

    play(story(), 120)
