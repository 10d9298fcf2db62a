"""Autoscaling and the order of starts on a real control plane: its autoscaler scales, its scheduler waits for our gates."""

from __future__ import annotations

from typing import Any

from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import ApiResource, Document
from kube import ControlPlane

from . import judging, operating
from .operating import CLIQUES, GROUPS, clique, pod_set
from .operating import operating as operator_of
from .support import play, until

AUTOSCALERS = ApiResource("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
METRICS = [
    {
        "type": "External",
        "external": {
            "metric": {"name": "queue"},
            "target": {"type": "AverageValue", "averageValue": "2000m"},
        },
    }
]


def _set(namespace: str, image: str, least: int = 1, *, is_scaled: bool = True) -> Document:
    options: dict[str, Any] = {}
    group: Document = {"name": "sg", "cliqueNames": ["worker"], "replicas": 1, "minAvailable": 1}
    if is_scaled:
        options["autoScalingConfig"] = {"minReplicas": least, "maxReplicas": 5, "metrics": METRICS}
        group["scaleConfig"] = {"maxReplicas": 3}
    cliques = [clique("front", 1, image, available=1, **options), clique("worker", 1, image)]
    return pod_set("web", namespace, 1, cliques, [group])


def test_autoscalers_scale_what_a_set_made_for_them(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            async with operator_of(control_plane, namespace) as operator:
                await operating.apply(client, _set(namespace, "v1", least=2))
                # The autoscaler knows no metrics here, and still sees to the bounds.
                await until(lambda: _has(client, CLIQUES, "web-0-front", namespace, 2), 120)
                found = await client.get(AUTOSCALERS, "web-0-front", namespace)
                assert found["spec"]["metrics"][0]["external"]["target"]["averageValue"] == "2"
                assert found["metadata"]["ownerReferences"][0]["kind"] == "PodCliqueSet"

                scaled = control_plane.kubectl(
                    *("scale", "pclq/web-0-front", "--replicas=3", "-n", namespace)
                )
                assert scaled.returncode == 0, scaled.stderr
                scaled = control_plane.kubectl("scale", "pcsg/web-0-sg", "--replicas=2", "-n", namespace)
                assert scaled.returncode == 0, scaled.stderr
                await until(lambda: _has(client, CLIQUES, "web-0-front", namespace, 3), 90)
                await until(lambda: _has(client, GROUPS, "web-0-sg", namespace, 2), 90)

                await operating.apply(client, _set(namespace, "v2", least=1))
                await until(lambda: _are_pods(client, namespace, "v2", 5), 90)
                await until(lambda: operating.is_updated(client, "web", namespace), 90)
                found = await client.get(AUTOSCALERS, "web-0-front", namespace)
                assert found["spec"]["minReplicas"] == 1
                # Its value of 2000m is 2 for the server, which is the same: nothing was put back for it.
                refusals = operator.meter.registry.get_sample_value(
                    "headgate_operator_pass_failures_total", {"controller": "workloads"}
                )
                assert not refusals

                await operating.apply(client, _set(namespace, "v2", is_scaled=False))
                await until(lambda: operating.is_gone(client, AUTOSCALERS, "web-0-front", namespace), 90)
                await until(lambda: operating.is_gone(client, AUTOSCALERS, "web-0-sg", namespace), 90)
                await until(lambda: _are_pods(client, namespace, "v2", 2), 90)

    play(story(), 300)
    assert min(_shown_counts(control_plane, namespace, "web-0-front")) >= 3
    writes = [
        event
        for event in control_plane.audit(namespace)
        if (event.get("objectRef") or {}).get("resource") == "horizontalpodautoscalers"
        and event["verb"] in ("patch", "update")
        and not event["objectRef"].get("subresource")
        and event["responseStatus"]["code"] == 200
    ]
    assert len(writes) == 1, "beside the two creations, only the lower bound was written once"


async def _has(client: Client, resource: ApiResource, name: str, namespace: str, count: int) -> bool:
    """By what an autoscaler reads, and the pods that its selector finds."""
    try:
        found = await client.get(resource, name, namespace, "scale")
    except operating.NotFoundError:
        return False
    status = found.get("status", {})
    if found["spec"].get("replicas") != count or status.get("replicas") != count:
        return False
    pods = await client.list(operating.PODS, namespace, labels=status["selector"])
    return len(pods.items) == count


async def _are_pods(client: Client, namespace: str, image: str, count: int) -> bool:
    pods = await operating.pods_of(client, "web", namespace)
    return len(pods) == count and operating.images(pods) == {image}


def _shown_counts(plane: ControlPlane, namespace: str, name: str) -> list[int]:
    """What the status said of the clique's replicas from when three were there until the update was over."""
    counts = [
        event["responseObject"]["status"].get("replicas", 0)
        for event in plane.audit(namespace)
        if (event.get("objectRef") or {}).get("resource") == "podcliques"
        and event["objectRef"].get("subresource") == "status"
        and event["objectRef"]["name"] == name
        and event["responseStatus"]["code"] == 200
        and event["responseObject"]["spec"]["replicas"] == 3
    ]
    return counts[counts.index(3) :]


def test_cliques_start_in_their_order(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace
    slow = {"headgate.test/ready-after": "2s"}
    cliques = [
        clique("first", 2, "v1", available=2, annotations=slow),
        clique("second", 1, "v1", annotations=slow),
        clique("third", 1, "v1"),
    ]

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                await operating.apply(
                    client,
                    pod_set("web", namespace, 1, cliques, cliqueStartupType="CliqueStartupTypeInOrder"),
                )
                await until(lambda: operating.is_updated(client, "web", namespace), 90)

    play(story(), 300)
    order = _gates_and_readiness(control_plane, namespace)
    assert [what.rpartition(" ")[0] for what in order if what.startswith("free")] == [
        *("free first", "free first", "free second", "free third")
    ]
    for earlier, later in (("first", "second"), ("second", "third")):
        ready = max(index for index, what in enumerate(order) if what.startswith(f"ready {earlier}"))
        free = min(index for index, what in enumerate(order) if what.startswith(f"free {later}"))
        assert ready < free, order


def _gates_and_readiness(plane: ControlPlane, namespace: str) -> list[str]:
    """Which pods were let go to the scheduler, and which were ready, one after the other."""
    found: list[str] = []
    for entry in judging.entries(plane, namespace, "pods"):
        role = entry.name.removeprefix("web-0-").rpartition("-")[0]
        said = []
        if entry.verb != "create" and not entry.document["spec"].get("schedulingGates"):
            said.append(f"free {role} {entry.name}")
        if judging.is_ready(entry.document):
            said.append(f"ready {role} {entry.name}")
        found += [each for each in said if each not in found]
    return found
