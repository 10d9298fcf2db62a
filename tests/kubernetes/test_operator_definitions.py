"""Definitions on a real control plane: they stay while they have instances, and their gates read signals, the time and
other objects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kube
from headgate.graph.compile import definition
from headgate.graph.reconcile import labels
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.installation import settings
from kube import ControlPlane

from . import judging, operating
from .operating import is_gone
from .operating import operating as operator_of
from .support import CONFIG_MAPS, DEFINITIONS, config_map, play, until

GRAPHS = ApiResource("kro.run", "v1alpha1", definition.KIND, "resourcegraphdefinitions", is_namespaced=False)

POD_TEMPLATES = ApiResource("", "v1", "PodTemplate", "podtemplates")


@pytest.fixture(scope="module")
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    """Definitions are for a whole cluster, so one of their own for these tests."""
    with kube_session.private() as found:
        yield found


@pytest.fixture
def place(plane: ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(plane) as name:
        yield name


def kind(name: str) -> ApiResource:
    return ApiResource("kro.run", "v1alpha1", name, f"{name.lower()}s")


def graph(name: str, *gates: str, annotations: dict[str, str] | None = None) -> Document:
    """One ConfigMap for each of four names, behind gates if there are any."""
    resource: Document = {
        "id": "maps",
        "forEach": [{"letter": "${['a', 'b', 'c', 'd']}"}],
        "template": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "${schema.metadata.name}-${letter}"},
            "data": {"value": "${schema.spec.value}"},
        },
    }
    if gates:
        resource["propagateWhen"] = list(gates)
    return {
        "apiVersion": definition.API_VERSION,
        "kind": definition.KIND,
        "metadata": {"name": name.lower(), "annotations": annotations or {}},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": name, "spec": {"value": "string"}},
            "resources": [resource],
        },
    }


async def define(client: Client, document: Document) -> None:
    await client.apply(GRAPHS, document, manager="people", force=True)
    resource = kind(document["spec"]["schema"]["kind"])

    async def is_served() -> bool:
        try:
            await client.list(resource)
        except ApiError:
            return False
        return True

    await until(is_served, 90)


async def give(client: Client, name: str, place: str, value: str) -> None:
    instance = {
        "apiVersion": "kro.run/v1alpha1",
        "kind": name,
        "metadata": {"name": "north", "namespace": place},
        "spec": {"value": value},
    }
    await client.apply(kind(name), instance, manager="people", force=True)


async def have(client: Client, place: str, value: str) -> bool:
    found = (await client.list(CONFIG_MAPS, place)).items
    own = [each for each in found if each["metadata"]["name"].startswith("north-")]
    return len(own) == 4 and all(each["data"] == {"value": value} for each in own)


async def condition(client: Client, resource: ApiResource, name: str, place: str, of: str) -> Any:
    found = await client.get(resource, name, place)
    conditions = found.get("status", {}).get("conditions", ())
    return next((each for each in conditions if each["type"] == of), {})


def test_a_definition_with_instances_stays_until_they_are_gone(plane: ControlPlane, place: str) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, graph("Held"))
                await give(client, "Held", place, "one")
                await until(lambda: have(client, place, "one"), 90)
                await client.delete(GRAPHS, "held")

                async def is_said() -> bool:
                    found = await condition(client, GRAPHS, "held", "", "Deleting")
                    message = f"1 instance is left: {place}/north; "
                    return bool(found.get("message", "").startswith(message))

                await until(is_said, 90)
                # It looks after its instance meanwhile.
                await give(client, "Held", place, "two")
                await until(lambda: have(client, place, "two"), 90)
                await _ask(client, "held", labels.CASCADE)
                await until(lambda: is_gone(client, GRAPHS, "held", ""), 90)
                assert await is_gone(client, kind("Held"), "north", place)
                assert await is_gone(client, CONFIG_MAPS, "north-a", place)
                assert not await is_gone(client, DEFINITIONS, "helds.kro.run", "")

                # What it left behind is taken up by the next of its name, and goes with that one if it is asked to.
                await define(client, graph("Held", annotations={labels.DELETION: labels.CASCADE_WITH_KIND}))
                await give(client, "Held", place, "three")
                await until(lambda: have(client, place, "three"), 90)
                await client.delete(GRAPHS, "held")
                await until(lambda: is_gone(client, DEFINITIONS, "helds.kro.run", ""), 90)
                await until(lambda: is_gone(client, GRAPHS, "held", ""), 90)

    play(story(), 300)


def test_a_kind_is_watched_as_long_as_a_definition_speaks_of_it_whatever_labels_say(
    plane: ControlPlane, place: str
) -> None:
    """PodTemplates, which no other test has."""

    def pod_template(name: str, **marks: str) -> Document:
        return {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": name, **({"labels": marks} if marks else {})},
            "template": {"spec": {"containers": [{"name": "main", "image": "web"}]}},
        }

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place) as operator:

                def heard() -> set[str]:
                    caches = [loop.runner.cache for loop in operator.loops]
                    return {item.name for cache in caches for item in cache.of_kind("", "PodTemplate")}

                document = graph("Stamped", annotations={labels.DELETION: labels.CASCADE})
                document["spec"]["resources"] = [{"id": "stamp", "template": pod_template("stamp")}]
                await define(client, document)
                await give(client, "Stamped", place, "one")
                theirs = pod_template(
                    "theirs", **{labels.INSTANCE_ID: "whoever", labels.INSTANCE_NAME: "north"}
                )
                theirs["metadata"]["namespace"] = place
                await client.create(POD_TEMPLATES, theirs)
                await until(lambda: heard() == {"stamp", "theirs"}, 90)
                await client.delete(GRAPHS, "stamped")
                await until(lambda: is_gone(client, GRAPHS, "stamped", ""), 90)
                await until(lambda: not heard(), 90)
                assert await is_gone(client, POD_TEMPLATES, "stamp", place)
                assert not await is_gone(client, POD_TEMPLATES, "theirs", place)

    play(story(), 300)


async def _ask(client: Client, name: str, value: str) -> None:
    await client.patch(GRAPHS, name, "", {"metadata": {"annotations": {labels.DELETION: value}}})


def test_gates_read_the_signals_of_a_config_map(plane: ControlPlane, place: str) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place) as operator:
                await define(client, graph("Signalled", "signals['go'] == true && signals['wave'] < 3"))
                await give(client, "Signalled", place, "one")

                async def is_at(reason: str) -> bool:
                    found = await condition(client, kind("Signalled"), "north", place, "ResourcesPropagated")
                    return bool(found.get("reason") == reason)

                await until(lambda: is_at("EvaluationFailed"), 90)
                await _signal(client, place, go="true", wave="2")
                await until(lambda: have(client, place, "one"), 90)
                await _signal(client, place, go="false", wave="2")
                await give(client, "Signalled", place, "two")
                await until(lambda: is_at("PropagationBlocked"), 90)
                assert _waiting(operator, "GateFalse") > 0
                await _signal(client, place, go="true", wave="2")
                await until(lambda: have(client, place, "two"), 90)
                await until(lambda: _waiting(operator, "GateFalse") == 0)

    play(story(), 300)
    assert _order(plane, place) == ["go", *["one"] * 4, "stop", "go", *["two"] * 4]


def _waiting(operator: operating.Operator, reason: str) -> float:
    found = operator.meter.registry.get_sample_value(
        "headgate_units_waiting", {"level": "graph", "reason": reason}
    )
    return found or 0.0


async def _signal(client: Client, place: str, **values: str) -> None:
    document = config_map(settings.SIGNALS, place, **values)
    await client.apply(CONFIG_MAPS, document, manager="people", force=True)


def chain(name: str) -> Document:
    """a, b, c and d, each made from the one before; c waits for a signal, d for an object of somebody else."""

    def config(letter: str, value: str, *gates: str) -> Document:
        resource: Document = {
            "id": letter,
            "template": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"north-{letter}"},
                "data": {"value": value},
            },
        }
        return {**resource, "propagateWhen": list(gates)} if gates else resource

    door = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "door"}}
    document = graph(name)
    document["spec"]["resources"] = [
        {"id": "door", "externalRef": door},
        config("a", "${schema.spec.value}"),
        config("b", "${a.data.value}"),
        config("c", "${b.data.value}", "${signals['go'] == true}"),
        config("d", "${c.data.value}", "${door.data.state == 'open'}"),
    ]
    return document


def test_a_newer_change_overtakes_one_that_is_held(plane: ControlPlane, place: str) -> None:
    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await _signal(client, place, go="true", wave="0")
                await client.create(CONFIG_MAPS, config_map("door", place, state="open"))
                await define(client, chain("Chained"))
                await give(client, "Chained", place, "one")
                await until(lambda: have(client, place, "one"), 90)
                await _signal(client, place, go="false", wave="0")
                await client.patch(CONFIG_MAPS, "door", place, {"data": {"state": "shut"}})
                for value in ("two", "three"):
                    await give(client, "Chained", place, value)
                    await until(lambda value=value: _says(client, place, "b", value), 90)
                assert await _says(client, place, "c", "one")
                await _signal(client, place, go="true", wave="0")
                await until(lambda: _says(client, place, "c", "three"), 90)
                assert await _says(client, place, "d", "one")
                await client.patch(CONFIG_MAPS, "door", place, {"data": {"state": "open"}})
                await until(lambda: have(client, place, "three"), 90)

    play(story(), 300)
    assert _values(plane, place, "north-b") == ["one", "two", "three"]
    assert _values(plane, place, "north-c") == ["one", "three"]
    assert _values(plane, place, "north-d") == ["one", "three"]


async def _says(client: Client, place: str, letter: str, value: str) -> bool:
    found = await client.get(CONFIG_MAPS, f"north-{letter}", place)
    return bool(found["data"]["value"] == value)


def _values(plane: ControlPlane, place: str, name: str) -> list[str]:
    """What was written into the object, one after the other."""
    found: list[str] = []
    for entry in _writes(plane, place):
        value = entry.document.get("data", {}).get("value")
        if entry.name == name and value is not None and value not in found[-1:]:
            found.append(value)
    return found


def test_items_go_two_by_two_and_not_before_their_time(plane: ControlPlane, place: str) -> None:
    opens = (datetime.now(UTC) + timedelta(seconds=5)).replace(microsecond=0)
    moment = opens.isoformat().replace("+00:00", "Z")

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                gates = ("linearlyUpdated(letter, maps, 2)", f"now > timestamp('{moment}')")
                await define(client, graph("Timed", *gates))
                await give(client, "Timed", place, "one")
                await until(lambda: have(client, place, "one"), 90)

    play(story(), 300)
    made = [entry for entry in _writes(plane, place) if entry.name.startswith("north-")]
    names = [entry.name.removeprefix("north-") for entry in made]
    assert (set(names[:2]), set(names[2:])) == ({"a", "b"}, {"c", "d"})
    assert all(datetime.fromisoformat(entry.received) >= opens for entry in made)


def _writes(plane: ControlPlane, place: str) -> Iterator[judging.Entry]:
    """Of ConfigMaps, one after the other."""
    for entry in judging.entries(plane, place, "configmaps"):
        if entry.verb in ("create", "patch"):
            yield entry


def _order(plane: ControlPlane, place: str) -> list[str]:
    """Signals and what was written at them, as the API server saw it."""
    found: list[str] = []
    for entry in _writes(plane, place):
        data = entry.document.get("data", {})
        if entry.name == settings.SIGNALS:
            found.append("go" if data["go"] == "true" else "stop")
        elif entry.name.startswith("north-"):
            found.append(data["value"])
    return found


def test_a_kind_that_the_server_writes_in_its_own_words_is_written_once(
    plane: ControlPlane, place: str
) -> None:
    """An empty schema comes back without its properties: that is no drift, and keeps no status from being written."""
    document = graph("Bare")
    document["spec"]["schema"].pop("spec")
    document["spec"]["resources"][0]["template"]["data"] = {"value": "${schema.metadata.name}"}

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, document)
                for name in ("north", "south"):
                    metadata = {"name": name, "namespace": place}
                    instance = {"apiVersion": "kro.run/v1alpha1", "kind": "Bare", "metadata": metadata}
                    await client.apply(kind("Bare"), instance, manager="people")

                    async def is_said(name: str = name) -> bool:
                        found = await condition(client, GRAPHS, "bare", "", "ResourcesPropagated")
                        landed = (await client.get(kind("Bare"), name, place)).get("status", {})
                        return bool(landed.get("state") == "ACTIVE" and found.get("status") == "True")

                    await until(is_said, 90)

    play(story(), 300)
    written = [
        entry
        for entry in judging.entries(plane, "", "customresourcedefinitions")
        if entry.name == "bares.kro.run" and entry.verb == "patch"
    ]
    assert len(written) <= 2


def test_what_the_server_refuses_is_said_in_its_words_until_it_takes_it(
    plane: ControlPlane, place: str
) -> None:
    document = graph("Refused")
    document["spec"]["resources"][0]["template"]["metadata"]["name"] = (
        "${schema.metadata.name}-${schema.spec.value}-${letter}"
    )
    instances = kind("Refused")

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                await define(client, document)
                await give(client, "Refused", place, "Not_A_Name")

                async def is_said() -> bool:
                    refused = await condition(client, instances, "north", place, "WritesAccepted")
                    stopped = await condition(client, instances, "north", place, "ResourcesPropagated")
                    words = "a lowercase RFC 1123 subdomain"
                    return bool(
                        refused.get("status") == "False"
                        and words in refused["message"]
                        and stopped.get("reason") == "WriteRefused"
                        and words in stopped["message"]
                    )

                await until(is_said, 90)
                await give(client, "Refused", place, "name")
                await until(lambda: have(client, place, "name"), 90)

                async def is_taken_back() -> bool:
                    refused = await condition(client, instances, "north", place, "WritesAccepted")
                    whole = await condition(client, instances, "north", place, "ResourcesPropagated")
                    return not refused and whole.get("status") == "True"

                await until(is_taken_back, 90)

    play(story(), 300)
