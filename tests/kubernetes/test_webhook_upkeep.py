"""Replicas that share the certificates of the webhooks through one Secret, on a real API server."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import kube
from headgate.kernel import instants
from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import NAMESPACES
from headgate.operator import certificates
from headgate.operator.certificates import Certificates
from headgate.operator.installation import settings, webhooks
from headgate.operator.running.process import Operator, OperatorOptions
from headgate.operator.webhook_upkeep import CONFIGURATIONS, SECRETS, WebhookUpkeep

from .support import play, running, until

NAMESPACE = "headgate"


def now() -> int:
    return instants.seconds(int(time.time()))


async def install(client: Client) -> None:
    await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    for resource, document in zip(CONFIGURATIONS, webhooks.documents(settings.Settings("headgate:test"))):
        await client.create(resource, document)


async def bundles(client: Client) -> set[str]:
    found = [await client.get(resource, settings.WEBHOOKS) for resource in CONFIGURATIONS]
    return {each["clientConfig"]["caBundle"] for document in found for each in document["webhooks"]}


async def versions(client: Client) -> list[str]:
    secret = await client.get(SECRETS, settings.WEBHOOK_SECRET, NAMESPACE)
    found = [await client.get(resource, settings.WEBHOOKS) for resource in CONFIGURATIONS]
    return [document["metadata"]["resourceVersion"] for document in (secret, *found)]


def test_replicas_that_start_at_once_serve_the_same_and_write_nothing_more(
    private_control_plane: kube.ControlPlane,
) -> None:
    async def talk() -> None:
        async with private_control_plane.client() as client:
            await install(client)
            replicas = [WebhookUpkeep(client, NAMESPACE, now) for _ in range(5)]
            first, *others = await asyncio.gather(*(replica.settled() for replica in replicas))
            assert all(other == first for other in others)
            assert f"{settings.WEBHOOK_SERVICE}.{NAMESPACE}.svc" in first.names
            assert await bundles(client) == {first.ca_bundle}
            before = await versions(client)
            await replicas[0].settled()
            assert await versions(client) == before

    play(talk())


def test_what_is_due_is_renewed_and_what_was_deleted_is_made_again(
    private_control_plane: kube.ControlPlane,
) -> None:
    async def talk() -> None:
        async with private_control_plane.client() as client:
            await install(client)
            first = await WebhookUpkeep(client, NAMESPACE, now).settled()
            later = await WebhookUpkeep(client, NAMESPACE, lambda: first.server.renew_at).settled()
            assert later.server != first.server
            assert later.ca_bundle == first.ca_bundle
            await client.delete(SECRETS, settings.WEBHOOK_SECRET, NAMESPACE)
            again = await WebhookUpkeep(client, NAMESPACE, now).settled()
            assert again.ca_bundle != first.ca_bundle
            assert await bundles(client) == {again.ca_bundle}
            secret = await client.get(SECRETS, settings.WEBHOOK_SECRET, NAMESPACE)
            assert certificates.read(secret) == again

    play(talk())


def test_a_replica_hears_of_what_another_has_renewed(
    private_control_plane: kube.ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.operator.webhook_upkeep.POLL_SECONDS", 0.05)

    async def talk() -> None:
        async with private_control_plane.client() as client:
            heard: asyncio.Queue[Any] = asyncio.Queue()
            upkeep = WebhookUpkeep(client, NAMESPACE, now)
            await install(client)
            served: Certificates = await upkeep.settled()
            async with running(upkeep.keep(heard.put_nowait, served)):
                other = WebhookUpkeep(client, NAMESPACE, lambda: served.server.renew_at)
                renewed = await other.settled()
                assert await heard.get() == renewed

    play(talk())


def test_a_replica_is_ready_when_it_serves_and_has_said_who_signs(
    private_control_plane: kube.ControlPlane,
) -> None:
    async def talk() -> None:
        async with private_control_plane.client() as client:
            await install(client)
            options = OperatorOptions(
                lease_namespace=NAMESPACE, identity="one", health_port=None, webhook_port=0
            )
            operator = Operator(client, options)
            assert "the webhooks are not served yet" in operator.problems()
            async with running(operator.run()):
                await until(lambda: operator.webhooks is not None and operator.webhooks.port is not None)
                assert "the webhooks are not served yet" not in operator.problems()
                secret = await client.get(SECRETS, settings.WEBHOOK_SECRET, NAMESPACE)
                held = certificates.read(secret)
                assert held is not None
                assert await bundles(client) == {held.ca_bundle}

    play(talk())
