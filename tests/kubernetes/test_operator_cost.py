"""What the operator asks of the API server, by the server's own audit log: as little as its promises need, and nothing at rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import kube
from headgate.graph.compile import definition
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.running.process import Operator
from kube import ControlPlane

from . import operating
from .operating import operating as operator_of
from .support import play, until
from .test_operator_graphs import GRAPHS

CARDS = ApiResource("kro.run", "v1alpha1", "Card", "cards")
NAMES = tuple(f"card-{number}" for number in range(6))
PEOPLE = "people"


@pytest.fixture(scope="module")
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    with kube_session.private(1) as found:
        yield found


@pytest.fixture
def place(plane: ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(plane) as name:
        yield name


def card_definition(colour: str) -> Document:
    template = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "${schema.metadata.name}"},
        "data": {"colour": colour, "text": "${schema.spec.text}"},
    }
    return {
        "apiVersion": definition.API_VERSION,
        "kind": definition.KIND,
        "metadata": {"name": "card"},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": "Card", "spec": {"text": 'string | default="x"'}},
            "resources": [{"id": "config", "template": template}],
        },
    }


def card(name: str, namespace: str) -> Document:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": CARDS.api_version, "kind": CARDS.kind, "metadata": metadata, "spec": {}}


async def _is_served(client: Client) -> bool:
    try:
        await client.list(CARDS)
    except ApiError:
        return False
    return True


async def _are_at(client: Client, place: str, graph: int) -> bool:
    page = await client.list(CARDS, place)
    own = [item.get("status", {}).get("headgate", {}) for item in page.items]
    return len(own) == len(NAMES) and all(
        each.get("isReady") and each.get("landedGraphRevision") == graph for each in own
    )


async def _is_resting(operator: Operator) -> bool:
    """Nothing is under way, and nothing is put off."""
    return all(loop.is_resting and not loop.runner.queue.requeues for loop in operator.loops)


def test_a_roll_is_a_revision_an_object_and_a_status_for_each_instance(
    plane: ControlPlane, place: str
) -> None:
    written: Counter[tuple[str, str, str]] = Counter()

    async def story() -> None:
        async with plane.client(user_agent=PEOPLE) as client:
            await operating.install(client)
            async with operator_of(plane, place) as operator:
                await client.apply(GRAPHS, card_definition("red"), manager=PEOPLE)
                await until(lambda: _is_served(client))
                for name in NAMES:
                    await client.create(CARDS, card(name, place))
                await until(lambda: _are_at(client, place, 1), 60)
                await until(lambda: _is_resting(operator), 60)
                before = len(list(plane.audit()))

                await client.apply(GRAPHS, card_definition("blue"), manager=PEOPLE, force=True)
                await until(lambda: _are_at(client, place, 2), 60)
                await until(lambda: _is_resting(operator), 60)
                for event in list(plane.audit())[before:]:
                    reference = event.get("objectRef") or {}
                    if event["userAgent"] != PEOPLE and reference.get("namespace") == place:
                        part = reference.get("subresource", "")
                        written[event["verb"], reference["resource"], part] += 1

    play(story(), 200)
    asked = {key: count for key, count in written.items() if key[1] not in ("leases", "events")}
    told = asked.pop(("patch", "cards", "status"))
    # One that takes long is told to be under way; all of them are told once.
    assert len(NAMES) <= told <= 2 * len(NAMES)
    # Those that nothing is at any more go together, in one request or in a few on a machine that is slow.
    assert (
        1
        <= asked.pop(("deletecollection", "resourcegraphrevisions", ""), 0)
        + asked.pop(("delete", "resourcegraphrevisions", ""), 0)
        <= len(NAMES)
    )
    assert asked == {
        ("create", "resourcegraphrevisions", ""): len(NAMES),
        ("patch", "configmaps", ""): len(NAMES),
    }
