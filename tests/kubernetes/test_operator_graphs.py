"""Definitions and their instances on a real control plane: kinds come and go, and objects are filled in by others."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

import kube
from headgate.graph.compile import definition
from headgate.graph.reconcile import applysets, labels
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import ApiResource, Document
from kube import ControlPlane

from . import judging, operating
from .operating import EVENTS, SERVICES, is_gone
from .operating import operating as operator_of
from .processes import processes
from .support import CONFIG_MAPS, DEFINITIONS, DEPLOYMENTS, config_map, play, until

GRAPHS = ApiResource("kro.run", "v1alpha1", definition.KIND, "resourcegraphdefinitions", is_namespaced=False)
SHOPS = ApiResource("kro.run", "v1alpha1", "Shop", "shops")
REVISIONS = ApiResource("kro.run", "v1alpha1", "ResourceGraphRevision", "resourcegraphrevisions")


@pytest.fixture(scope="module")
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    """Definitions are for a whole cluster, so one of their own for these tests."""
    with kube_session.private(4) as found:
        yield found


@pytest.fixture
def place(plane: ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(plane) as name:
        yield name


def shop_definition(**config: str) -> Document:
    """A ConfigMap, a Deployment whose annotation names it, and a Service for that."""
    name = "${schema.metadata.name}"
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": "${schema.spec.replicas}",
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": {"config": "${config.metadata.name}"}},
                "spec": {
                    "terminationGracePeriodSeconds": 0,
                    "containers": [
                        {
                            "name": "main",
                            "image": "${schema.spec.image}",
                            "resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}},
                        }
                    ],
                },
            },
        },
    }
    return {
        "apiVersion": definition.API_VERSION,
        "kind": definition.KIND,
        "metadata": {"name": "shop"},
        "spec": {
            "schema": {
                "apiVersion": "v1alpha1",
                "kind": "Shop",
                "spec": {"image": 'string | default="v1"', "replicas": "integer | default=2"},
                "status": {"available": "${deployment.status.availableReplicas}"},
            },
            "resources": [
                {
                    "id": "config",
                    "template": {
                        "apiVersion": "v1",
                        "kind": "ConfigMap",
                        "metadata": {"name": f"{name}-config"},
                        "data": {"image": "${schema.spec.image}", **config},
                    },
                },
                {
                    "id": "deployment",
                    "readyWhen": ["${deployment.status.availableReplicas == deployment.spec.replicas}"],
                    "template": deployment,
                },
                {
                    "id": "service",
                    "template": {
                        "apiVersion": "v1",
                        "kind": "Service",
                        "metadata": {"name": "${deployment.metadata.name}"},
                        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
                    },
                },
            ],
        },
    }


def shop(name: str, namespace: str, **spec: Any) -> Document:
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "Shop",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


async def define(client: Client, document: Document) -> None:
    await client.apply(GRAPHS, document, manager="people", force=True)

    async def is_served() -> bool:
        try:
            await client.list(SHOPS)
        except ApiError:
            return False
        return True

    await until(is_served)


async def is_ready(client: Client, name: str, namespace: str) -> bool:
    found = await client.get(SHOPS, name, namespace)
    own = found.get("status", {}).get("headgate", {})
    return bool(
        own.get("isReady")
        and own.get("isPropagated")
        and own.get("observedGeneration") == found["metadata"]["generation"]
    )


async def apply(client: Client, document: Document) -> None:
    await client.apply(SHOPS, document, manager="people", force=True)


async def settled(client: Client, name: str, namespace: str) -> None:
    await until(lambda: is_ready(client, name, namespace), 45)


def test_an_instance_is_built_changed_and_taken_down(plane: ControlPlane, place: str) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, shop_definition())
                await apply(client, shop("north", place))
                await settled(client, "north", place)
                found = await client.get(DEPLOYMENTS, "north", place)
                assert found["status"]["availableReplicas"] == 2
                assert found["metadata"]["labels"][labels.INSTANCE_NAME] == "north"
                await _is_one_apply_set(client, place)
                assert (await client.get(SHOPS, "north", place))["status"]["available"] == 2

                await apply(client, shop("north", place, image="v2", replicas=3))
                await settled(client, "north", place)
                found = await client.get(DEPLOYMENTS, "north", place)
                assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "v2"
                assert (await client.get(CONFIG_MAPS, "north-config", place))["data"] == {"image": "v2"}

                # A field that the definition says no more goes, and one that somebody else added stays.
                await define(client, shop_definition(colour="red"))
                await until(lambda: _has(client, place, colour="red"))
                await client.patch(CONFIG_MAPS, "north-config", place, {"data": {"theirs": "1"}})
                await define(client, shop_definition())
                await until(lambda: _has(client, place, colour=None, theirs="1"))

                await client.delete(SHOPS, "north", place)
                await until(lambda: is_gone(client, SHOPS, "north", place), 45)
                for resource, name in (
                    (CONFIG_MAPS, "north-config"),
                    (DEPLOYMENTS, "north"),
                    (SERVICES, "north"),
                ):
                    assert await is_gone(client, resource, name, place)

    play(story(), 200)


async def _is_one_apply_set(client: Client, place: str) -> None:
    """`kubectl get -l` finds all that belongs to the instance, and the instance says of which kinds that is."""
    parent = (await client.get(SHOPS, "north", place))["metadata"]
    selector = f"{applysets.PART_OF}={parent['labels'][applysets.ID]}"
    for resource in (CONFIG_MAPS, DEPLOYMENTS, SERVICES):
        assert len((await client.list(resource, place, labels=selector)).items) == 1
    assert parent["annotations"][applysets.KINDS] == "ConfigMap,Deployment.apps,Service"


async def _has(client: Client, place: str, **data: str | None) -> bool:
    found = (await client.get(CONFIG_MAPS, "north-config", place))["data"]
    return all(found.get(key) == value for key, value in data.items())


def test_what_the_server_fills_in_is_no_drift_and_what_others_change_is_put_back(
    plane: ControlPlane, place: str
) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, shop_definition())
                await apply(client, shop("north", place))
                await settled(client, "north", place)
                before = _applies(plane, place)
                await client.patch(DEPLOYMENTS, "north", place, {"metadata": {"labels": {"note": "1"}}})
                await client.patch(CONFIG_MAPS, "north-config", place, {"data": {"image": "theirs"}})
                await until(lambda: _has(client, place, image="v1"))
                await client.delete(SERVICES, "north", place)

                async def is_back() -> bool:
                    return not await is_gone(client, SERVICES, "north", place)

                await until(is_back)
                assert _applies(plane, place) == before
                assert (await client.get(DEPLOYMENTS, "north", place))["metadata"]["labels"]["note"] == "1"

    play(story(), 120)


def test_two_writers_of_one_field_do_not_write_as_fast_as_they_can(plane: ControlPlane, place: str) -> None:
    """A second writer that comes back each time is met less and less often, and an event says which field it is."""

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, shop_definition())
                await apply(client, shop("north", place))
                await settled(client, "north", place)
                before = _applies(plane, place, "configmaps")
                changed = 0
                while not await _is_said(client, place, "somebody changes data.image each time"):
                    if await _has(client, place, image="v1"):
                        await client.patch(CONFIG_MAPS, "north-config", place, {"data": {"image": "theirs"}})
                        changed += 1
                    await asyncio.sleep(0.02)
                assert changed >= 4
                assert _applies(plane, place, "configmaps") <= before + changed
                await until(lambda: _has(client, place, image="v1"), 60)

    play(story(), 240)


def _applies(plane: ControlPlane, place: str, resource: str = "deployments") -> int:
    """How often the one object of that kind was written by us."""
    return sum(
        event["objectRef"]["resource"] == resource and "fieldManager=headgate-graphs" in event["requestURI"]
        for event in plane.audit(place)
    )


def test_a_definition_that_is_not_accepted_says_why_and_serves_no_kind(
    plane: ControlPlane, place: str
) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            broken = shop_definition()
            broken["metadata"]["name"] = "broken"
            broken["spec"]["schema"]["kind"] = "Broken"
            broken["spec"]["resources"][1]["template"]["spec"]["replica"] = 1
            async with operator_of(plane, place):
                await client.apply(GRAPHS, broken, manager="people", force=True)

                async def is_said() -> bool:
                    found = (await client.get(GRAPHS, "broken")).get("status", {}).get("conditions", ())
                    return any(
                        each["type"] == "GraphAccepted"
                        and each["status"] == "False"
                        and "replica" in each["message"]
                        for each in found
                    )

                await until(is_said)
                assert await is_gone(client, DEFINITIONS, "brokens.kro.run", "")

    play(story(), 90)


@pytest.mark.parametrize("whose", ["instance other", "ConfigMap parent"])
def test_an_object_of_somebody_else_is_not_taken_over_and_that_is_said(
    plane: ControlPlane, place: str, whose: str
) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, shop_definition())
                parent = await client.create(CONFIG_MAPS, config_map("parent", place))
                theirs = config_map("north-config", place, image="theirs")
                if whose == "instance other":
                    theirs["metadata"]["labels"] = {
                        labels.INSTANCE_ID: "other",
                        labels.INSTANCE_NAME: "other",
                    }
                else:
                    uid = parent["metadata"]["uid"]
                    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "parent", "uid": uid}
                    theirs["metadata"]["ownerReferences"] = [owner]
                await client.create(CONFIG_MAPS, theirs)
                await apply(client, shop("north", place))
                await until(
                    lambda: _is_said(client, place, f"belongs to {'the ' * whose.startswith('i')}{whose}")
                )
                assert (await client.get(CONFIG_MAPS, "north-config", place))["data"] == {"image": "theirs"}
                await client.delete(CONFIG_MAPS, "north-config", place)
                await settled(client, "north", place)

    play(story(), 120)


def test_an_object_of_nobody_is_taken_over_and_that_is_said(plane: ControlPlane, place: str) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, shop_definition())
                await client.create(CONFIG_MAPS, config_map("north-config", place, image="theirs"))
                await apply(client, shop("north", place))
                await settled(client, "north", place)
                await until(lambda: _is_said(client, place, "ConfigMap north-config was there already"))
                assert (await client.get(CONFIG_MAPS, "north-config", place))["data"] == {"image": "v1"}

    play(story(), 120)


def test_labels_that_others_put_onto_what_is_theirs_say_nothing(plane: ControlPlane, place: str) -> None:
    """A copy with all labels of an instance's object, its label on something else, and another's on its own."""

    async def story() -> None:
        async with plane.client(user_agent="people") as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, shop_definition())
                await apply(client, shop("north", place))
                await settled(client, "north", place)
                ours = await client.get(CONFIG_MAPS, "north-config", place)
                marks = ours["metadata"]["labels"]
                copy, plain = config_map("copy", place, a="b"), config_map("plain", place, a="b")
                copy["metadata"] |= {
                    "labels": marks,
                    "annotations": ours["metadata"]["annotations"],
                    "finalizers": ["people.example/stay"],
                }
                plain["metadata"]["labels"] = {labels.INSTANCE_ID: marks[labels.INSTANCE_ID]}
                theirs = [await client.create(CONFIG_MAPS, each) for each in (copy, plain)]
                theft = {labels.INSTANCE_ID: "another", labels.INSTANCE_NAME: "another"}
                await client.patch(CONFIG_MAPS, "north-config", place, {"metadata": {"labels": theft}})
                await until(lambda: _is_labelled(client, place, marks))
                await settled(client, "north", place)
                await client.delete(SHOPS, "north", place)
                await until(lambda: is_gone(client, SHOPS, "north", place))
                assert await is_gone(client, CONFIG_MAPS, "north-config", place)
                for each in theirs:
                    name = each["metadata"]["name"]
                    assert await client.get(CONFIG_MAPS, name, place) == each
                await client.patch(CONFIG_MAPS, "copy", place, {"metadata": {"finalizers": None}})
        touched = {
            event["objectRef"].get("name")
            for event in plane.audit(place)
            if event["objectRef"]["resource"] == "configmaps" and not event["userAgent"].startswith("people")
        }
        assert "north-config" in touched
        assert not touched & {"copy", "plain"}

    play(story(), 120)


def test_an_instance_that_is_deleted_in_the_foreground_takes_its_objects_along(
    plane: ControlPlane, place: str
) -> None:
    """Kubernetes then deletes its revisions while it is still there, and they say what it has."""

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, shop_definition())
                await apply(client, shop("north", place))
                await settled(client, "north", place)
                done = plane.kubectl(
                    *("delete", "shop", "north", "-n", place, "--cascade=foreground", "--wait=false")
                )
                assert done.returncode == 0, done.stderr
                await until(lambda: is_gone(client, SHOPS, "north", place))
                for resource, name in (
                    (CONFIG_MAPS, "north-config"),
                    (DEPLOYMENTS, "north"),
                    (SERVICES, "north"),
                ):
                    assert await is_gone(client, resource, name, place)

    play(story(), 120)


async def _is_labelled(client: Client, place: str, marks: dict[str, str]) -> bool:
    found = await client.get(CONFIG_MAPS, "north-config", place)
    return bool(found["metadata"]["labels"] == marks)


async def _is_said(client: Client, place: str, words: str) -> bool:
    events = (await client.list(EVENTS, place)).items
    return any(words in event["message"] and event["involvedObject"]["kind"] == "Shop" for event in events)


def test_a_collection_is_changed_in_waves(plane: ControlPlane, place: str) -> None:
    """Each wave begins when those before are ready, and is as large as all of them. Each object is written once."""

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await client.apply(GRAPHS, _fleet(), manager="people", force=True)
                await until(lambda: _is_served(client, FLEETS))
                fleet = {
                    "apiVersion": "kro.run/v1alpha1",
                    "kind": "Fleet",
                    "metadata": {"name": "north", "namespace": place},
                    "spec": {"image": "v1"},
                }
                await client.apply(FLEETS, fleet, manager="people")
                await until(lambda: _are_at(client, place, "v1"), 45)
                await client.apply(FLEETS, {**fleet, "spec": {"image": "v2"}}, manager="people")
                await until(lambda: _are_at(client, place, "v2"), 60)

    play(story(), 150)
    written = [entry.name.rpartition("-")[2] for entry in _deployment_writes(plane, place)]
    waves = [{"0"}, {"1"}, {"2", "3"}, {"4", "5", "6"}]
    assert [set(written[start:end]) for start, end in ((0, 1), (1, 2), (2, 4), (4, 7))] == waves
    assert [set(written[start:end]) for start, end in ((7, 8), (8, 9), (9, 11), (11, 14))] == waves
    assert len(written) == 14


def test_waves_go_on_whoever_is_killed(plane: ControlPlane, place: str) -> None:
    """What a wave was granted is written down first: no later wave begins before the one before has landed."""
    chance = random.Random(11)

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            with processes(plane, place) as found:
                await client.apply(GRAPHS, _fleet(), manager="people", force=True)
                await until(lambda: _is_served(client, FLEETS), 60)
                fleet = {
                    "apiVersion": "kro.run/v1alpha1",
                    "kind": "Fleet",
                    "metadata": {"name": "north", "namespace": place},
                    "spec": {"image": "v1"},
                }
                await client.apply(FLEETS, fleet, manager="people")
                await until(lambda: _are_at(client, place, "v1"), 60)
                await client.apply(FLEETS, {**fleet, "spec": {"image": "v2"}}, manager="people")
                for _ in range(4):
                    await asyncio.sleep(chance.uniform(0.1, 2.0))
                    found.kill(chance.randrange(2))
                await until(lambda: _are_at(client, place, "v2"), 120)

    play(story(), 280)
    changed = [
        entry.name.rpartition("-")[2]
        for entry in _deployment_writes(plane, place)
        if entry.document["spec"]["template"]["spec"]["containers"][0]["image"] == "v2"
    ]
    order = list(dict.fromkeys(changed))
    assert [set(order[:1]), set(order[1:2]), set(order[2:4]), set(order[4:])] == [
        {"0"},
        {"1"},
        {"2", "3"},
        {"4", "5", "6"},
    ]


FLEETS = ApiResource("kro.run", "v1alpha1", "Fleet", "fleets")


def _fleet() -> Document:
    name = "${schema.metadata.name}-${string(index)}"
    template = shop_definition()["spec"]["resources"][1]["template"]
    pods = template["spec"]["template"]
    pods["metadata"] = {"labels": {"app": name}}
    template["metadata"]["name"] = name
    template["spec"] |= {"replicas": 1, "selector": {"matchLabels": {"app": name}}}
    return {
        "apiVersion": definition.API_VERSION,
        "kind": definition.KIND,
        "metadata": {"name": "fleet"},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": "Fleet", "spec": {"image": "string"}},
            "resources": [
                {
                    "id": "servers",
                    "forEach": [{"index": "${[0, 1, 2, 3, 4, 5, 6]}"}],
                    "readyWhen": [
                        "${each.status.availableReplicas == 1 && each.status.updatedReplicas == 1}"
                    ],
                    "template": template,
                }
            ],
        },
    }


async def _is_served(client: Client, resource: ApiResource) -> bool:
    try:
        await client.list(resource)
    except ApiError:
        return False
    return True


async def _are_at(client: Client, place: str, image: str) -> bool:
    found = (await client.list(DEPLOYMENTS, place)).items
    return len(found) == 7 and all(
        each["spec"]["template"]["spec"]["containers"][0]["image"] == image
        and each.get("status", {}).get("availableReplicas") == 1
        for each in found
    )


def _deployment_writes(plane: ControlPlane, place: str) -> list[judging.Entry]:
    """The operator's."""
    return [
        entry
        for entry in judging.entries(plane, place, "deployments")
        if not entry.subresource and "fieldManager=headgate-graphs" in entry.url
    ]
