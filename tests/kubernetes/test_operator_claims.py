"""Devices that sets share, on a real control plane: its scheduler gives them to the claims that the operator makes."""

from __future__ import annotations

import pytest

from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.observation import sets as observation
from headgate.operator.running import term
from kube import ControlPlane

from . import operating
from .devices import CLAIMS, GROUP, TEMPLATES, asked_for, devices
from .operating import CLIQUES, GROUPS, SETS, clique, pod_set
from .operating import operating as operator_of
from .support import is_ready, play, until

OF_THE_SET = ("web-all-gpu", "web-0-net", "web-1-net")


def _set(namespace: str, image: str, replicas: int = 2) -> Document:
    """With devices of every level and scope."""
    router = clique("router", 2, image, available=1)
    router["resourceSharing"] = [{"name": "gpu", "scope": "PerReplica"}]
    worker = clique("worker", 1, image)
    worker["resourceSharing"] = [{"name": "gpu", "scope": "AllReplicas"}]
    group = {
        "name": "sg",
        "cliqueNames": ["worker"],
        "replicas": 2,
        "minAvailable": 1,
        "resourceSharing": [{"name": "gpu", "scope": "PerReplica"}, {"name": "net", "scope": "AllReplicas"}],
    }
    return pod_set(
        "web",
        namespace,
        replicas,
        [router, worker],
        [group],
        resourceClaimTemplates=[
            {"name": name, "templateSpec": asked_for(namespace)} for name in ("gpu", "net")
        ],
        resourceSharing=[
            {"name": "gpu", "scope": "AllReplicas", "filter": {"childCliqueNames": ["router"]}},
            {"name": "net", "scope": "PerReplica"},
        ],
    )


def _names(replica: int) -> set[str]:
    own = f"web-{replica}"
    return {
        f"{own}-net",
        *(f"{own}-router-{index}-gpu" for index in range(2)),
        f"{own}-sg-all-net",
        *(f"{own}-sg-{index}-gpu" for index in range(2)),
        *(f"{own}-sg-{index}-worker-all-gpu" for index in range(2)),
    }


def test_devices_are_shared_on_every_level(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client, devices(client, namespace, 40):
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                await operating.apply(client, _set(namespace, "v1"))
                await until(lambda: _is_rolled(client, namespace, "v1"), 90)
                before = await _claims(client, namespace)
                assert set(before) == {"web-all-gpu", *_names(0), *_names(1)}
                await _is_used(client, namespace, before)

                await operating.apply(client, _set(namespace, "v2"))
                await until(lambda: _is_rolled(client, namespace, "v2"), 90)
                kept = await _claims(client, namespace)
                same = {name for name in before if _uid(kept[name]) == _uid(before[name])}
                # Pods come and go at their indices; members of groups are replaced with their cliques.
                assert same == {name for name in before if "-worker-" not in name}

                await operating.apply(client, _set(namespace, "v2", replicas=1))
                await until(lambda: _has(client, namespace, {"web-all-gpu", *_names(0)}), 90)

                await client.delete(SETS, "web", namespace)
                await until(lambda: _has(client, namespace, set()), 90)

    play(story(), 300)
    writes = [
        event["verb"]
        for event in control_plane.audit(namespace)
        if (event.get("objectRef") or {}).get("resource") == "resourceclaims"
        and not event["objectRef"].get("subresource")
        and "headgate" in event.get("userAgent", "")
        and event["verb"] not in ("get", "list", "watch")
    ]
    assert set(writes) == {"patch", "delete"}, "made by server-side apply, and never written again"
    assert writes.count("patch") == len({"web-all-gpu", *_names(0), *_names(1)}) + 4, "four of workers anew"


async def _claims(client: Client, namespace: str) -> dict[str, Document]:
    return {item["metadata"]["name"]: item for item in (await client.list(CLAIMS, namespace)).items}


async def _has(client: Client, namespace: str, names: set[str]) -> bool:
    return set(await _claims(client, namespace)) == names


async def _is_rolled(client: Client, namespace: str, image: str) -> bool:
    pods = await operating.pods_of(client, "web", namespace)
    is_new = len(pods) == 8 and operating.images(pods) == {image}
    return is_new and all(map(is_ready, pods)) and await operating.is_updated(client, "web", namespace)


def _uid(document: Document) -> str:
    return str(document["metadata"]["uid"])


async def _is_used(client: Client, namespace: str, claims: dict[str, Document]) -> None:
    """Each pod has what it names, each claim has its device, and goes with its owner."""
    named: dict[str, set[str]] = {}
    for pod in await operating.pods_of(client, "web", namespace):
        assert is_ready(pod)
        uses = {each["name"]: each["resourceClaimName"] for each in pod["spec"]["resourceClaims"]}
        asked = {each["name"] for each in pod["spec"]["containers"][0]["resources"]["claims"]}
        assert asked == set(uses)
        for claim in uses.values():
            named.setdefault(claim, set()).add(pod["metadata"]["name"])
    assert set(named) == set(claims)
    assert len(named["web-all-gpu"]) == 4, "only routers, by the filter"
    owners: dict[str, dict[str, str]] = {}
    for resource in (SETS, CLIQUES, GROUPS):
        found = (await client.list(resource, namespace)).items
        owners[resource.kind] = {_uid(item): item["metadata"]["name"] for item in found}
    for name, claim in claims.items():
        assert claim["status"]["allocation"]["devices"]["results"]
        assert {each["name"] for each in claim["status"]["reservedFor"]} == named[name]
        [owner] = claim["metadata"]["ownerReferences"]
        kind = "PodClique" if "router" in name or "worker" in name else "PodCliqueScalingGroup"
        assert owner["kind"] == ("PodCliqueSet" if name in OF_THE_SET else kind)
        assert owner["controller"]
        assert owners[owner["kind"]][owner["uid"]] == owner["name"]
        assert claim["metadata"]["labels"]["app.kubernetes.io/component"] == "resource-claim"


def test_a_template_of_the_cluster_is_waited_for(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace
    worker = clique("worker", 2, "v1")
    worker["resourceSharing"] = [{"name": "gpu", "scope": "AllReplicas"}]

    async def says_so(client: Client) -> bool:
        found = await client.get(SETS, "web", namespace)
        return f"there is no ResourceClaimTemplate {namespace}/gpu" in str(found.get("status"))

    async def story() -> None:
        async with control_plane.client() as client, devices(client, namespace, 4):
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                await operating.apply(client, pod_set("web", namespace, 1, [worker]))
                await until(lambda: says_so(client), 60)
                assert await operating.pods_of(client, "web", namespace) == []
                for each in await _explained(client, namespace):
                    assert "AwaitingDependency" in each
                template = {
                    "apiVersion": f"{GROUP}/v1",
                    "kind": "ResourceClaimTemplate",
                    "metadata": {"name": "gpu", "namespace": namespace},
                    "spec": {**asked_for(namespace), "metadata": {"annotations": {"team": "a"}}},
                }
                await client.create(TEMPLATES, template)
                await until(lambda: operating.is_updated(client, "web", namespace), 60)
                [claim] = (await _claims(client, namespace)).values()
                assert claim["metadata"]["name"] == "web-0-worker-all-gpu"
                assert claim["metadata"]["annotations"] == {"team": "a"}

                for each in await _explained(client, namespace):
                    assert "AwaitingDependency" not in each

                # In use it stays, and no pod may use it; it is made again when nobody has it any more.
                await client.delete(CLAIMS, "web-0-worker-all-gpu", namespace)
                assert (
                    "deletionTimestamp"
                    in (await _claims(client, namespace))["web-0-worker-all-gpu"]["metadata"]
                )
                for pod in await operating.pods_of(client, "web", namespace):
                    await client.delete(operating.PODS, pod["metadata"]["name"], namespace)
                await until(lambda: _is_new_claim(client, namespace, _uid(claim)), 90)
                await until(lambda: operating.is_updated(client, "web", namespace), 90)

    play(story(), 240)


async def _explained(client: Client, namespace: str) -> list[list[str]]:
    """What is said of the set by who looks at all of them, and by who looks at it alone."""
    discovery = Discovery(client.transport)
    item = objects.read(await client.get(SETS, "web", namespace), SETS)
    seen = (
        await observation.observe(client, discovery, namespace),
        await observation.observe_one(client, discovery, item),
    )
    return [[line.kind for line in each.explain(item, term.wall_clock()).lines] for each in seen]


async def _is_new_claim(client: Client, namespace: str, before: str) -> bool:
    found = await _claims(client, namespace)
    return any(_uid(claim) != before for claim in found.values())


def test_a_cluster_without_claims_has_sets_all_the_same(
    control_plane: ControlPlane, kube_namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = kube_namespace
    find, is_served = Discovery.find, False

    async def found(self: Discovery, api_version: str, kind: str) -> ApiResource:
        if api_version.startswith(GROUP) and not is_served:
            raise UnknownKindError(
                f"the cluster does not serve {kind} of {api_version}", reason="UnknownKind"
            )
        return await find(self, api_version, kind)

    monkeypatch.setattr(Discovery, "find", found)
    monkeypatch.setattr(term, "_LOOK_FOR_OPTIONAL_KINDS_SECONDS", 1.0)
    shared = clique("worker", 1, "v1")
    shared["resourceSharing"] = [{"name": "gpu", "scope": "PerReplica"}]
    sharing = pod_set(
        "sharing",
        namespace,
        1,
        [shared],
        resourceClaimTemplates=[{"name": "gpu", "templateSpec": asked_for(namespace)}],
    )

    async def is_refused(client: Client) -> bool:
        found = await client.get(SETS, "sharing", namespace)
        return "does not serve ResourceClaim" in str(found.get("status"))

    async def story() -> None:
        nonlocal is_served
        async with control_plane.client() as client, devices(client, namespace, 4):
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                await operating.apply(client, sharing)
                await operating.apply(client, pod_set("web", namespace, 1, [clique("worker", 1, "v1")]))
                await until(lambda: operating.is_updated(client, "web", namespace), 60)
                await until(lambda: is_refused(client), 60)
                # The cluster is upgraded.
                is_served = True
                await until(lambda: operating.is_updated(client, "sharing", namespace), 90)
                await client.delete(CLAIMS, "sharing-0-worker-0-gpu", namespace)
                for pod in await operating.pods_of(client, "sharing", namespace):
                    await client.delete(operating.PODS, pod["metadata"]["name"], namespace)
                await until(lambda: operating.is_updated(client, "sharing", namespace), 90)

    play(story(), 300)
