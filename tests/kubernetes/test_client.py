"""The verbs, on a real API server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest
import yaml

from headgate.cluster.port import Conflict
from headgate.kubernetes import errors, kubeconfig
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import FieldConflict
from headgate.kubernetes.resources import NAMESPACES, PODS
from headgate.kubernetes.transport import Transport
from kube import ControlPlane

from .support import BUDGETS, CONFIG_MAPS, DEPLOYMENTS, config_map, defined, gate, is_ready, play, pod, until


def test_an_object_is_created_read_changed_and_deleted(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            made = await client.create(CONFIG_MAPS, config_map("a", kube_namespace, x="1"), manager="me")
            with pytest.raises(errors.AlreadyExistsError):
                await client.create(CONFIG_MAPS, config_map("a", kube_namespace))
            made["data"]["x"] = "2"
            changed = await client.update(CONFIG_MAPS, made)
            with pytest.raises(errors.ConflictError) as late:
                await client.update(CONFIG_MAPS, made)
            assert isinstance(late.value, Conflict)
            patched = await client.patch(CONFIG_MAPS, "a", kube_namespace, {"data": {"y": "3"}})
            assert patched["data"] == {"x": "2", "y": "3"}
            assert await client.get(CONFIG_MAPS, "a", kube_namespace) == patched
            with pytest.raises(errors.ConflictError):
                await client.delete(CONFIG_MAPS, "a", kube_namespace, uid="another")
            with pytest.raises(errors.ConflictError):
                await client.delete(
                    CONFIG_MAPS, "a", kube_namespace, resource_version=changed["metadata"]["resourceVersion"]
                )
            await client.delete(CONFIG_MAPS, "a", kube_namespace, uid=made["metadata"]["uid"])
            with pytest.raises(errors.NotFoundError):
                await client.get(CONFIG_MAPS, "a", kube_namespace)

    play(story())


def test_a_list_comes_in_chunks_of_one_version(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            await asyncio.gather(
                *(client.create(CONFIG_MAPS, config_map(f"c{number}", kube_namespace)) for number in range(7))
            )
            fields = "metadata.name!=kube-root-ca.crt"
            pages = [
                page async for page in client.pages(CONFIG_MAPS, kube_namespace, fields=fields, chunk_size=3)
            ]
            assert [len(page.items) for page in pages][:2] == [3, 3]
            assert len({page.resource_version for page in pages}) == 1
            whole = await client.list(CONFIG_MAPS, kube_namespace, fields=fields, chunk_size=2)
            assert [item["metadata"]["name"] for item in whole.items] == [f"c{number}" for number in range(7)]

    play(story())


def test_a_conflict_of_applies_names_managers_and_fields(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            await client.apply(CONFIG_MAPS, config_map("a", kube_namespace, x="1", y="1"), manager="first")
            ours = config_map("a", kube_namespace, x="2", y="2", z="2")
            with pytest.raises(errors.ApplyConflictError) as refused:
                await client.apply(CONFIG_MAPS, ours, manager="second")
            assert set(refused.value.conflicts) == {
                FieldConflict("data.x", "first"),
                FieldConflict("data.y", "first"),
            }
            assert "data.x is managed by first" in str(refused.value)
            forced = await client.apply(CONFIG_MAPS, ours, manager="second", force=True)
            assert forced["data"] == {"x": "2", "y": "2", "z": "2"}
            less = await client.apply(CONFIG_MAPS, config_map("a", kube_namespace, x="2"), manager="second")
            assert less["data"] == {"x": "2"}

    play(story())


def test_what_a_kind_does_not_allow_is_refused_with_every_field(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            broken = pod("a", kube_namespace)
            broken["spec"]["containers"] = [{"name": "UPPER", "image": ""}]
            with pytest.raises(errors.InvalidError) as refused:
                await client.create(PODS, broken)
            fields = {problem.path for problem in refused.value.problems}
            assert fields == {"spec.containers[0].name", "spec.containers[0].image"}
            unknown = config_map("a", kube_namespace) | {"dada": {}}
            with pytest.raises(errors.InvalidError, match='unknown field "dada"'):
                await client.create(CONFIG_MAPS, unknown)

    play(story())


def test_an_eviction_that_a_budget_refuses_names_the_budget(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            budget = {
                "metadata": {"name": "web", "namespace": kube_namespace},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
            }
            await client.create(BUDGETS, budget)
            for name in ("a", "b"):
                await client.create(PODS, pod(name, kube_namespace))

            async def may_go() -> bool:
                found = await client.get(BUDGETS, "web", kube_namespace)
                return found.get("status", {}).get("disruptionsAllowed") == 1

            await until(may_go)
            await client.evict("a", kube_namespace)
            with pytest.raises(errors.EvictionRefusedError) as refused:
                await client.evict("b", kube_namespace)
            assert refused.value.budget == "web"
            assert "web" in str(refused.value)

    play(story())


def test_a_scale_is_set_by_its_subresource(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            labels = {"matchLabels": {"app": "web"}}
            template = pod("", kube_namespace)
            deployment = {
                "metadata": {"name": "web", "namespace": kube_namespace},
                "spec": {
                    "replicas": 1,
                    "selector": labels,
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": template["spec"] | {"terminationGracePeriodSeconds": 30},
                    },
                },
            }
            await client.create(DEPLOYMENTS, deployment)
            patch = {"spec": {"replicas": 2}}
            scale = await client.patch(DEPLOYMENTS, "web", kube_namespace, patch, subresource="scale")
            assert scale["spec"]["replicas"] == 2

            async def is_scaled() -> bool:
                found = await client.get(DEPLOYMENTS, "web", kube_namespace)
                return found.get("status", {}).get("readyReplicas") == 2

            await until(is_scaled)

    play(story())


def test_a_status_is_applied_beside_the_rest(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            await client.create(PODS, pod("a", kube_namespace, ready_after="24h"))
            status = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "a", "namespace": kube_namespace},
                "status": {"message": "waits"},
                "spec": {"nodeName": "nowhere"},
            }
            applied = await client.apply(PODS, status, manager="me", subresource="status")
            assert applied["status"]["message"] == "waits"
            assert applied["spec"].get("nodeName") != "nowhere"

    play(story())


def test_pods_behave_as_their_annotations_say(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            for name, behavior in {
                "ready": {},
                "late": {"ready_after": "24h"},
                "failing": {"fail_after": "100ms"},
                "clinging": {"gone_after": "24h"},
            }.items():
                await client.create(PODS, pod(name, kube_namespace, **behavior))

            async def phase(name: str) -> str:
                found = await client.get(PODS, name, kube_namespace)
                return str(found["status"]["phase"])

            async def is_settled() -> bool:
                phases = [await phase(name) for name in ("ready", "clinging", "failing", "late")]
                return phases == ["Running", "Running", "Failed", "Pending"]

            await until(is_settled)
            assert is_ready(await client.get(PODS, "ready", kube_namespace))
            for name in ("ready", "clinging"):
                await client.delete(PODS, name, kube_namespace, grace_seconds=30)

            async def is_gone() -> bool:
                try:
                    await client.get(PODS, "ready", kube_namespace)
                except errors.NotFoundError:
                    return True
                return False

            await until(is_gone)
            assert "deletionTimestamp" in (await client.get(PODS, "clinging", kube_namespace))["metadata"]

    play(story())


def test_a_watch_tells_what_happens_after_a_version(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            since = (await client.list(CONFIG_MAPS, kube_namespace)).resource_version
            await client.create(CONFIG_MAPS, config_map("a", kube_namespace, x="x" * 300_000))
            await client.patch(CONFIG_MAPS, "a", kube_namespace, {"data": {"x": "2"}})
            await client.delete(CONFIG_MAPS, "a", kube_namespace)
            kinds = []
            events = client.watch(
                CONFIG_MAPS, kube_namespace, resource_version=since, fields="metadata.name=a", lasts_seconds=5
            )
            async with aclosing(events):
                async for event in events:
                    kinds.append((event.kind, len(event.document.get("data", {}).get("x", ""))))
                    if event.kind == "deleted":
                        break
            assert kinds == [("added", 300_000), ("modified", 1), ("deleted", 1)]

    play(story())


def test_a_watch_from_a_version_that_is_too_old_is_gone(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        group = f"{kube_namespace}.example.com"
        async with control_plane.client() as client, defined(client, group) as gates:
            await client.create(gates, gate("a", kube_namespace, group))
            with pytest.raises(errors.GoneError):
                await anext(client.watch(gates, kube_namespace, resource_version="1", lasts_seconds=5))

    play(story())


def test_who_has_a_certificate_a_bad_token_or_no_trust(control_plane: ControlPlane) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    folder = control_plane.folder

    def client(user: dict[str, str], **cluster: object) -> Client:
        document = config | {"users": [{"name": "admin", "user": user}]}
        document["clusters"] = [{"name": "tests", "cluster": config["clusters"][0]["cluster"] | cluster}]
        file = folder / f"kubeconfig-{len(user)}-{len(cluster)}"
        file.write_text(yaml.safe_dump(document))
        return Client(Transport(kubeconfig.load(path=str(file), environ={})))

    async def story() -> None:
        certificate = {"client-certificate": "admin.crt", "client-key": "admin.key"}
        async with client(certificate) as known:
            await known.get(NAMESPACES, "default")
        async with client({"token": "nobody's"}) as unknown:
            with pytest.raises(errors.UnauthorizedError):
                await unknown.get(NAMESPACES, "default")
        async with client({}) as anonymous:
            with pytest.raises(errors.ForbiddenError, match="system:anonymous"):
                await anonymous.get(NAMESPACES, "default")
        impersonating = {"token": config["users"][0]["user"]["token"], "as": "ada"}
        async with client(impersonating) as ada:
            with pytest.raises(errors.ForbiddenError, match='User "ada"'):
                await ada.get(NAMESPACES, "default")
        trusting = {"certificate-authority": "", "insecure-skip-tls-verify": True}
        async with client(certificate, **trusting) as careless:
            await careless.get(NAMESPACES, "default")
        async with client(certificate, **{"certificate-authority": ""}) as distrusting:
            with pytest.raises(errors.UnreachableError, match="its certificate is not trusted"):
                await distrusting.within(1).create(NAMESPACES, {"metadata": {"name": "x"}})

    play(story())


def test_the_audit_log_has_writes_with_what_was_sent_and_by_whom(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            await client.create(CONFIG_MAPS, config_map("a", kube_namespace, x="1"))

            await until(lambda: list(writes()))

    def writes() -> Iterator[dict[str, Any]]:
        for event in control_plane.audit(kube_namespace):
            if event["objectRef"]["resource"] == "configmaps" and event["user"]["username"] == "admin":
                yield event

    play(story())
    (created,) = writes()
    assert (created["verb"], created["objectRef"]["name"]) == ("create", "a")
    assert created["requestObject"]["data"] == {"x": "1"}
    assert created["responseObject"]["metadata"]["uid"]


def test_kubectl_speaks_to_the_same_cluster(control_plane: ControlPlane) -> None:
    printed = control_plane.kubectl("get", "nodes", "--no-headers")
    own = [line.split()[:2] for line in printed.stdout.splitlines() if line.startswith("node-")]
    assert own == [[f"node-{number:03}", "Ready"] for number in range(control_plane.nodes)]
