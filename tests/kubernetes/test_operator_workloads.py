"""Sets on a real control plane: their pods are scheduled, become ready and are replaced by other processes than ours."""

from __future__ import annotations

from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import PODS
from headgate.workload.plan.situation import SCHEDULED_AT
from kube import ControlPlane

from . import operating
from .operating import (
    CLIQUES,
    EVENTS,
    GANGS,
    GROUPS,
    SERVICES,
    SETS,
    clique,
    pod_set,
)
from .operating import (
    operating as operator_of,
)
from .support import is_ready, play, until

GROUP = [{"name": "sg", "cliqueNames": ["leader", "worker"], "replicas": 2, "minAvailable": 1}]


def cliques(image: str) -> list[operating.Document]:
    return [clique("router", 1, image), clique("leader", 1, image), clique("worker", 2, image)]


def test_a_set_is_built_rolled_and_collected(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                await operating.apply(client, pod_set("web", namespace, 2, cliques("v1"), GROUP))
                await until(lambda: _are_all(client, namespace, "v1"), 60)
                assert await operating.is_updated(client, "web", namespace)
                await _is_whole(client, namespace)

                await operating.apply(client, pod_set("web", namespace, 2, cliques("v2"), GROUP))
                await until(lambda: _are_all(client, namespace, "v2"), 60)
                await until(lambda: operating.is_updated(client, "web", namespace))

                await client.delete(SETS, "web", namespace)
                await until(lambda: _is_empty(client, namespace), 60)

    play(story(), 150)


async def _is_whole(client: Client, namespace: str) -> None:
    pods = await operating.pods_of(client, "web", namespace)
    assert len(pods) == 14
    for pod in pods:
        assert not pod["spec"].get("schedulingGates")
        owner = pod["metadata"]["ownerReferences"][0]
        assert (owner["apiVersion"], owner["kind"], owner["controller"]) == (
            "grove.io/v1alpha1",
            "PodClique",
            True,
        )
    assert len({(pod["spec"]["subdomain"], pod["spec"]["hostname"]) for pod in pods}) == 14
    assert len((await client.list(CLIQUES, namespace)).items) == 10
    assert len((await client.list(GROUPS, namespace)).items) == 2
    assert len((await client.list(SERVICES, namespace)).items) == 2
    gangs = {gang["metadata"]["name"]: gang for gang in (await client.list(GANGS, namespace)).items}
    assert set(gangs) == {"web-0", "web-0-sg-0", "web-1", "web-1-sg-0"}
    named = [
        reference["name"]
        for gang in gangs.values()
        for group in gang["spec"]["podgroups"]
        for reference in group["podReferences"]
    ]
    assert sorted(named) == sorted(pod["metadata"]["name"] for pod in pods)


async def _are_all(client: Client, namespace: str, image: str) -> bool:
    pods = await operating.pods_of(client, "web", namespace)
    return operating.images(pods) == {image} and sum(map(is_ready, pods)) == 14


async def _is_empty(client: Client, namespace: str) -> bool:
    for resource in (SETS, CLIQUES, GROUPS, GANGS, SERVICES, PODS):
        if (await client.list(resource, namespace)).items:
            return False
    return True


def test_nothing_is_written_once_a_set_is_at_rest(control_plane: ControlPlane, kube_namespace: str) -> None:
    """What the server fills in is no drift."""
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            await operating.apply(client, pod_set("web", namespace, 1, cliques("v1"), GROUP))
            async with operator_of(control_plane, namespace):
                await until(lambda: _is_settled(client, namespace))
            before = await _versions(client, namespace)
            async with operator_of(control_plane, namespace) as operator:
                await until(lambda: _passes(operator) >= 1)
                await client.patch(SETS, "web", namespace, {"metadata": {"labels": {"team": "a"}}})
                await until(lambda: _passes(operator) >= 2)
            after = await _versions(client, namespace)
            assert {key: value for key, value in after.items() if key[0] != "PodGang"} == {
                key: value for key, value in before.items() if key[0] != "PodGang"
            }

    play(story(), 90)


async def _is_settled(client: Client, namespace: str) -> bool:
    """All is available, and the gang knows that it once was."""
    group = (await client.list(GROUPS, namespace)).items
    gangs = (await client.list(GANGS, namespace)).items
    return (
        await operating.is_updated(client, "web", namespace)
        and all(each.get("status", {}).get("availableReplicas") == 2 for each in group)
        and any(SCHEDULED_AT in each["metadata"].get("annotations", {}) for each in gangs)
    )


def _passes(operator: operating.Operator) -> float:
    return (
        operator.meter.registry.get_sample_value(
            "headgate_operator_passes_total", {"controller": "workloads"}
        )
        or 0.0
    )


async def _versions(client: Client, namespace: str) -> dict[tuple[str, str], str]:
    return {
        (resource.kind, item["metadata"]["name"]): item["metadata"]["resourceVersion"]
        for resource in (CLIQUES, GROUPS, GANGS, SERVICES, PODS)
        for item in (await client.list(resource, namespace)).items
    }


def test_what_somebody_else_changed_is_put_back_and_said(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                await operating.apply(client, pod_set("web", namespace, 1, [clique("router", 2, "v1")]))
                await until(lambda: operating.is_updated(client, "web", namespace))
                patch = {"spec": {"minAvailable": 1}}
                await client.patch(CLIQUES, "web-0-router", namespace, patch, manager="somebody")
                await client.delete(SERVICES, "web-0", namespace)

                async def is_back() -> bool:
                    found = await client.get(CLIQUES, "web-0-router", namespace)
                    is_served = not await operating.is_gone(client, SERVICES, "web-0", namespace)
                    return found["spec"]["minAvailable"] == 2 and is_served

                await until(is_back)

                async def is_said() -> bool:
                    events = (await client.list(EVENTS, namespace)).items
                    return any("was changed by somebody else" in event["message"] for event in events)

                await until(is_said)

    play(story(), 90)


def test_a_write_that_is_refused_for_good_is_said_and_nothing_else_waits_for_it(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            broken = clique("main", 1, "v1")
            broken["spec"]["podSpec"]["containers"][0]["imagePullPolicy"] = "Sometimes"
            async with operator_of(control_plane, namespace):
                await operating.apply(client, pod_set("broken", namespace, 1, [broken]))
                await operating.apply(client, pod_set("web", namespace, 1, [clique("router", 1, "v1")]))
                await until(lambda: operating.is_updated(client, "web", namespace))

                async def is_said() -> bool:
                    events = (await client.list(EVENTS, namespace)).items
                    return any(
                        event["involvedObject"]["name"] == "broken"
                        and event["reason"] == "WriteRefused"
                        and "imagePullPolicy" in event["message"]
                        for event in events
                    )

                await until(is_said)

                async def refusals() -> list[str]:
                    found = await client.get(SETS, "broken", namespace)
                    return [
                        each["message"]
                        for each in found["status"]["conditions"]
                        if each["type"] == "WritesAccepted" and each["status"] == "False"
                    ]

                async def is_in_the_status() -> bool:
                    return any("imagePullPolicy" in message for message in await refusals())

                await until(is_in_the_status)
                broken["spec"]["podSpec"]["containers"][0]["imagePullPolicy"] = "Always"
                await operating.apply(client, pod_set("broken", namespace, 1, [broken]))
                await until(lambda: operating.is_updated(client, "broken", namespace))

                async def is_taken_back() -> bool:
                    return not await refusals()

                await until(is_taken_back)

    play(story(), 90)
