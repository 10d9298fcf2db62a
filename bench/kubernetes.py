"""The operator on a real control plane: what instances, collections and pods cost it in CPU and requests.

The peers' figures are of runs on the same control plane: kro with one worker, and the Deployment controller.
"""

from __future__ import annotations

import asyncio
import functools
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

from bench import clusters
from bench.clusters import NAMESPACE, Bench, Cost
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import PODS, ApiResource, Document

SIZE = 1_000
PODS_AT_REST = 10_000
IDLE_SECONDS = 20.0
EDITS = 60
GRAPHS = ApiResource(
    "kro.run", "v1alpha1", "ResourceGraphDefinition", "resourcegraphdefinitions", is_namespaced=False
)
SHOPS = ApiResource("kro.run", "v1alpha1", "Shop", "shops")
RACKS = ApiResource("kro.run", "v1alpha1", "Rack", "racks")
SETS = ApiResource("grove.io", "v1alpha1", "PodCliqueSet", "podcliquesets")
CONFIG_MAPS = ApiResource("", "v1", "ConfigMap", "configmaps")
KRO_CREATED, KRO_EDITED, KRO_ITEM = (48.0, 41.0), (28.0, 26.0), 3.0
"""CPU in milliseconds and requests an instance, the least of each; requests an item of a collection."""
DEPLOYMENT_ROLL = 7_788
"""Writes of the whole control plane while a Deployment of 1,000 pods is rolled."""


def run(size: int = SIZE, only: str = "") -> Iterator[str]:
    """Each part on a control plane of its own."""
    for part in only.split(",") if only else PARTS:
        try:
            with asyncio.Runner() as runner:
                told = _told_by(part, size)
                while (line := runner.run(anext(told, None))) is not None:
                    yield line
        except clusters.kube.AbsentError as error:
            yield f"{part} is left out: {error}"
            return


async def _told_by(part: str, size: int) -> AsyncIterator[str]:
    pods = {"rest": size * PODS_AT_REST // SIZE, "collection": 10, "apply": 10}.get(part, size * 2)
    async with clusters.running(pods) as bench:
        async for line in PARTS[part](bench, size):
            yield line


async def _instances(bench: Bench, size: int) -> AsyncIterator[str]:
    """Three objects that are made of the instance alone."""
    await _define(bench, _shop_definition("v1", is_chain=False), SHOPS)
    cost = await bench.measure(lambda: _make_shops(bench, size), lambda: _are_ready(bench, SHOPS, size, 1))
    for line in _told(f"{size} instances of 3 objects created", cost, size, (12.0, 8.0), KRO_CREATED, 3):
        yield line
    definition = _shop_definition("v2", is_chain=False)
    cost = await bench.measure(
        lambda: _define(bench, definition, SHOPS), lambda: _are_ready(bench, SHOPS, size, 2)
    )
    for line in _told(f"{size} instances rolled by waves", cost, size, (12.0, 4.0), KRO_EDITED, 1):
        yield line
    async for line in _first_writes(bench, size):
        yield line


async def _chain(bench: Bench, size: int) -> AsyncIterator[str]:
    """Three objects of which each needs the one before it."""
    await _define(bench, _shop_definition("v1", is_chain=True), SHOPS)
    cost = await bench.measure(lambda: _make_shops(bench, size), lambda: _are_ready(bench, SHOPS, size, 1))
    for line in _told(f"{size} instances of a chain of 3 created", cost, size, (12.0, 8.0), KRO_CREATED, 3):
        yield line


def _told(
    what: str, cost: Cost, size: int, targets: tuple[float, float], peer: tuple[float, float], floor: int
) -> Iterator[str]:
    milliseconds, requests = cost.cpu * 1_000 / size, cost.count / size
    yield f"{what}: {cost.wall:.1f} s"
    yield f"{what}, CPU: {milliseconds:.1f} ms each (target: {targets[0]:g}; {milliseconds / peer[0]:.2f} of kro's)"
    yield (
        f"{what}, requests: {requests:.2f} each (target: {targets[1]:g}; {requests / peer[1]:.2f} of kro's, "
        f"{requests / floor:.1f} times the least)"
    )
    yield f"{what}, requests by kind: {cost.listed(size)}"


async def _first_writes(bench: Bench, size: int) -> AsyncIterator[str]:
    """From the answer to an edit of one instance to the operator's first request after it."""
    waits: list[float] = []
    for index in range(EDITS):
        place = bench.place
        name = f"shop-{index % size:04d}"
        patch = {"spec": {"size": f"edit-{index}"}}
        await bench.client.patch(SHOPS, name, NAMESPACE, patch)
        end = time.perf_counter() + 30
        while time.perf_counter() < end:
            await asyncio.sleep(0.3)
            wait = _first_wait(bench, place, name)
            if wait is not None:
                waits.append(wait * 1_000)
                break
    waits.sort()
    worst = waits[max(0, -(-len(waits) * 99 // 100) - 1)]
    yield (
        f"from an edit to the first write, {len(waits)} of {EDITS} edits: median "
        f"{statistics.median(waits):.0f} ms, p99 {worst:.0f} ms (target: 200)"
    )


def _first_wait(bench: Bench, place: int, name: str) -> float | None:
    edited: datetime | None = None
    for event in bench.events_since(place):
        if event["verb"] in ("get", "list") or event["objectRef"]["resource"] == "leases":
            continue
        if edited is None:
            is_edit = event["userAgent"] == "bench" and event["objectRef"].get("name") == name
            edited = datetime.fromisoformat(event["stageTimestamp"]) if is_edit else None
        elif event["userAgent"].startswith(clusters.AGENT) and name in event["requestURI"]:
            began = datetime.fromisoformat(event["requestReceivedTimestamp"])
            return max(0.0, (began - edited).total_seconds())
    return None


async def _collection(bench: Bench, size: int) -> AsyncIterator[str]:
    await _define(bench, _rack_definition(), RACKS)
    rack = {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "Rack",
        "metadata": {"name": "rack", "namespace": NAMESPACE},
        "spec": {"slots": [f"slot-{index:04d}" for index in range(size)], "colour": "red"},
    }
    for colour, what, number in (("red", "created", 1), ("blue", "changed", 2)):
        rack["spec"] = {**rack["spec"], "colour": colour}  # type: ignore[dict-item]

        async def is_done(number: int = number, colour: str = colour) -> bool:
            if not await _are_ready(bench, RACKS, 1, 1):
                return False
            last = await bench.client.get(CONFIG_MAPS, f"rack-slot-{size - 1:04d}", NAMESPACE)
            return bool(last["data"]["colour"] == colour)

        cost = await bench.measure(lambda: bench.client.apply(RACKS, rack, manager="bench"), is_done)
        requests = cost.count / size
        yield f"a collection of {size} {what}: {cost.wall:.1f} s"
        yield f"a collection of {size} {what}, CPU: {cost.cpu * 1_000 / size:.2f} ms an item"
        yield (
            f"a collection of {size} {what}, requests: {requests:.2f} an item (target: 1.2; "
            f"{requests / KRO_ITEM:.2f} of kro's)"
        )
        yield f"a collection of {size} {what}, requests by kind: {cost.listed(size)}"


async def _pods(bench: Bench, size: int) -> AsyncIterator[str]:
    """100 replicas of a set with a tenth of a percent of the pods each."""
    replicas, per_replica = max(1, size // 100), min(size, 100)
    wanted = replicas * per_replica
    for image, what in (("v1", "created"), ("v2", "updated")):
        place = bench.place
        cost = await bench.measure(
            functools.partial(bench.client.apply, SETS, _set(replicas, per_replica, image), manager="bench"),
            functools.partial(_is_set_at, bench, image, wanted),
        )
        requests = cost.count / wanted
        in_all = bench.writes_in_all(place)
        yield f"a set of {wanted} pods {what}: {cost.wall:.1f} s"
        yield f"a set of {wanted} pods {what}, CPU: {cost.cpu * 1_000 / wanted:.1f} ms a pod"
        yield f"a set of {wanted} pods {what}, requests: {requests:.2f} a pod"
        yield f"a set of {wanted} pods {what}, requests by kind: {cost.listed(wanted)}"
        if what == "updated":
            yield (
                f"a set of {wanted} pods {what}, writes of the whole control plane: {in_all} "
                f"({in_all / wanted / (DEPLOYMENT_ROLL / 1_000):.2f} of a Deployment's)"
            )


async def _rest(bench: Bench, size: int) -> AsyncIterator[str]:
    per_replica, replicas = 100, 10
    names = [
        f"llm-{number}" for number in range(max(1, size * PODS_AT_REST // SIZE // per_replica // replicas))
    ]
    wanted = len(names) * replicas * per_replica

    async def begin() -> None:
        for number, name in enumerate(names):
            document = _set(replicas, per_replica, "v1", name, clusters.node_name(number))
            await bench.client.apply(SETS, document, manager="bench")

    async def is_done() -> bool:
        """A list of so many pods is much work for the server, and is asked for once."""
        for name in names:
            if not await _is_available(bench, name):
                return False
        return len((await bench.client.list(PODS, NAMESPACE)).items) == wanted

    cost = await bench.measure(begin, is_done)
    yield (
        f"{len(names)} sets of {replicas * per_replica} pods created: {cost.wall:.1f} s, "
        f"{cost.cpu * 1_000 / wanted:.1f} ms of CPU a pod"
    )
    place, cpu = bench.place, bench.cpu_seconds()
    await asyncio.sleep(IDLE_SECONDS)
    share = (bench.cpu_seconds() - cpu) / IDLE_SECONDS * 100
    found = bench.requests_since(place)
    yield f"{wanted} pods at rest, CPU: {share:.2f}% of a core (target: 1)"
    yield f"{wanted} pods at rest, requests in {IDLE_SECONDS:g} s: {found.total()}"
    yield f"{wanted} pods at rest, memory: {bench.memory_mib():.0f} MiB (target: 400)"


async def _apply(bench: Bench, size: int) -> AsyncIterator[str]:
    ours, plain = [], []
    for _ in range(3):
        ours.append(await _applies_ms(bench, size, is_plain=False))
        plain.append(await _applies_ms(bench, size, is_plain=True))
    yield (
        f"{size} applies: {min(ours):.2f} ms of CPU each, a plain loop of aiohttp {min(plain):.2f} "
        f"({min(plain) / min(ours):.2f} of its rate, target: 0.8)"
    )


async def _applies_ms(bench: Bench, size: int, *, is_plain: bool) -> float:
    """CPU, since the wall's time is the server's."""
    import aiohttp
    import msgspec

    begin = time.process_time()
    if not is_plain:
        for index in range(size):
            await bench.client.apply(CONFIG_MAPS, _config_map(index), manager="bench", force=True)
        return (time.process_time() - begin) * 1_000 / size
    access = bench.client.transport.access
    identity = await access.identities.identity()
    headers = {"Authorization": f"Bearer {identity.token}", "Content-Type": "application/apply-patch+yaml"}
    trust = access.trust(identity.certificate)
    begin = time.process_time()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust), headers=headers) as session:
        for index in range(size):
            document = _config_map(index)
            path = CONFIG_MAPS.path(NAMESPACE, document["metadata"]["name"])
            query = {"fieldManager": "bench", "force": "true", "fieldValidation": "Strict"}
            async with session.patch(
                access.server + path, params=query, data=msgspec.json.encode(document)
            ) as answer:
                assert answer.status < 300
                msgspec.json.decode(await answer.read())
    return (time.process_time() - begin) * 1_000 / size


def _config_map(index: int) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"plain-{index:04d}", "namespace": NAMESPACE},
        "data": {"index": str(index)},
    }


async def _define(bench: Bench, document: Document, resource: ApiResource) -> None:
    await bench.client.apply(GRAPHS, document, manager="bench", force=True)
    end = time.perf_counter() + 60
    while time.perf_counter() < end:
        try:
            await bench.client.list(resource, NAMESPACE)
            return
        except ApiError:
            await asyncio.sleep(0.1)
    raise RuntimeError(f"{resource.kind} is not served")


async def _make_shops(bench: Bench, size: int) -> None:
    async def one(index: int) -> None:
        document = {
            "apiVersion": "kro.run/v1alpha1",
            "kind": "Shop",
            "metadata": {"name": f"shop-{index:04d}", "namespace": NAMESPACE},
            "spec": {"size": "small"},
        }
        await bench.client.create(SHOPS, document)

    for start in range(0, size, 10):
        await asyncio.gather(*(one(index) for index in range(start, min(start + 10, size))))


async def _are_ready(bench: Bench, resource: ApiResource, count: int, graph: int) -> bool:
    page = await bench.client.list(resource, NAMESPACE)
    return sum(_is_ready(item, graph) for item in page.items) == count


def _is_ready(item: Document, graph: int) -> bool:
    own = item.get("status", {}).get("headgate", {})
    return bool(
        own.get("isReady")
        and own.get("isPropagated")
        and own.get("graphRevision") == graph
        and own.get("observedGeneration") == item["metadata"]["generation"]
    )


async def _is_available(bench: Bench, name: str) -> bool:
    found = await bench.client.get(SETS, name, NAMESPACE)
    status, spec = found.get("status", {}), found["spec"]
    return (
        status.get("observedGeneration") == found["metadata"]["generation"]
        and status.get("updatedReplicas") == spec["replicas"]
        and status.get("availableReplicas") == spec["replicas"]
        and "updatingReplicas" not in (status.get("rollingUpdateProgress") or {})
    )


async def _is_set_at(bench: Bench, image: str, wanted: int) -> bool:
    if not await _is_available(bench, "llm"):
        return False
    pods = (await bench.client.list(PODS, NAMESPACE)).items
    return wanted == sum(pod["spec"]["containers"][0]["image"] == image for pod in pods)


def _set(replicas: int, per_replica: int, image: str, name: str = "llm", node: str = "") -> Document:
    """Each replica has a clique of half of its pods, and a scaling group of five replicas for the other half. Where a
    node is named, the scheduler need not choose: it would count the pods of all nodes for each one."""
    pod_spec: dict[str, Any] = {
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": image}],
    }
    if node:
        pod_spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    half = per_replica // 2
    cliques: list[dict[str, Any]] = [
        {"name": "front", "spec": {"roleName": "front", "replicas": half, "minAvailable": half // 2}},
        {"name": "worker", "spec": {"roleName": "worker", "replicas": half // 5, "minAvailable": half // 5}},
    ]
    for clique in cliques:
        clique["spec"]["podSpec"] = pod_spec
    group = {"name": "model", "cliqueNames": ["worker"], "replicas": 5, "minAvailable": 3}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "template": {"cliques": cliques, "podCliqueScalingGroups": [group]},
        },
    }


def _shop_definition(image: str, *, is_chain: bool) -> Document:
    """In a chain the Deployment needs its ConfigMap and the Service the Deployment, which has to be ready."""
    name = "${schema.metadata.name}"
    config = "${config.metadata.name}" if is_chain else f"{name}-config"
    service = "${deployment.metadata.name}" if is_chain else name
    labels = {"app": name}
    pod_spec = {
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {"name": "main", "image": image, "envFrom": [{"configMapRef": {"name": config}}]},
        ],
    }
    resources = [
        {
            "id": "config",
            "template": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{name}-config"},
                "data": {"size": "${schema.spec.size}"},
            },
        },
        {
            "id": "deployment",
            "readyWhen": ["${deployment.status.availableReplicas == deployment.spec.replicas}"],
            "template": {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name},
                "spec": {
                    "replicas": 1,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": pod_spec},
                },
            },
        },
        {
            "id": "service",
            "template": {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": service},
                "spec": {"selector": labels, "ports": [{"port": 80}]},
            },
        },
    ]
    schema = {
        "apiVersion": "v1alpha1",
        "kind": "Shop",
        "spec": {"size": "string"},
        "status": {"available": "${deployment.status.availableReplicas}"},
    }
    return _definition("shop", schema, resources)


def _rack_definition() -> Document:
    template = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "${schema.metadata.name}-${slot}"},
        "data": {"colour": "${schema.spec.colour}"},
    }
    resources = [
        {"id": "slots", "forEach": [{"slot": "${schema.spec.slots}"}], "template": template},
    ]
    spec = {"slots": "[]string", "colour": "string"}
    return _definition("rack", {"apiVersion": "v1alpha1", "kind": "Rack", "spec": spec}, resources)


def _definition(name: str, schema: Document, resources: list[Document]) -> Document:
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": name},
        "spec": {"schema": schema, "resources": resources},
    }


PARTS = {
    "instances": _instances,
    "chain": _chain,
    "collection": _collection,
    "pods": _pods,
    "apply": _apply,
    "rest": _rest,
}
