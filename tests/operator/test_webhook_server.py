"""The server of the webhooks: TLS, limits, and no word of its inside."""

import asyncio
import base64
import io
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
import reviews

from headgate.kernel import instants
from headgate.operator import admission, certificates, webhook_server
from headgate.operator.certificates import Certificates
from headgate.operator.webhook_server import WebhookServer

NAMES = ("127.0.0.1",)


def made_now() -> Certificates:
    return certificates.renewed(None, NAMES, instants.seconds(int(time.time())))


HELD = made_now()


def trusting(held: Certificates) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=base64.b64decode(held.ca_bundle).decode())


Talk = Callable[[aiohttp.ClientSession, str, WebhookServer], Awaitable[None]]


def talking(talk: Talk, known: Any = None, held: Certificates = HELD) -> None:
    async def run() -> None:
        server = WebhookServer(reviews.around(known if known is not None else reviews.Known()), held)
        port = await server.start("127.0.0.1", 0)
        try:
            connector = aiohttp.TCPConnector(ssl=trusting(held))
            async with aiohttp.ClientSession(connector=connector) as session:
                await talk(session, f"https://127.0.0.1:{port}", server)
        finally:
            await server.stop()

    asyncio.run(run())


def test_both_stages_answer_over_tls() -> None:
    async def talk(session: aiohttp.ClientSession, url: str, server: WebhookServer) -> None:
        document = reviews.pod_clique_set()
        async with session.post(f"{url}/default", json=reviews.review(document)) as answer:
            assert answer.status == 200
            assert (await answer.json())["response"]["patchType"] == "JSONPatch"
        async with session.post(f"{url}/validate", json=reviews.review(document)) as answer:
            assert (await answer.json())["response"] == {"uid": "u1", "allowed": True}

    talking(talk)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "must be JSON"),
        (b"[" * 100_000, 400, "must be JSON"),
        (b"\xff\xfe", 400, "must be JSON"),
        (b"3", 400, "AdmissionReview"),
        (b" " * (webhook_server.LARGEST_BODY_BYTES + 1), 413, "larger than"),
    ],
    ids=["broken", "deep", "not-text", "a-number", "too-large"],
)
def test_what_is_no_review_is_refused(body: bytes, status: int, said: str) -> None:
    async def talk(session: aiohttp.ClientSession, url: str, server: WebhookServer) -> None:
        async with session.post(f"{url}/validate", data=io.BytesIO(body)) as answer:
            assert answer.status == status
            assert said in await answer.text()

    talking(talk)


def test_a_failure_inside_is_said_without_its_inside(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def get(self, key: object) -> None:
            raise RuntimeError("secret words")

        def of_kind(self, group: str, kind: str) -> list[Any]:
            raise RuntimeError("secret words")

    async def talk(session: aiohttp.ClientSession, url: str, server: WebhookServer) -> None:
        async with session.post(f"{url}/validate", json=reviews.review(reviews.pod_clique_set())) as answer:
            assert answer.status == 500
            text = await answer.text()
        assert "Traceback" not in text
        assert "secret words" not in text

    talking(talk, Broken())
    assert "secret words" in caplog.text


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_server, "BODY_TIMEOUT_SECONDS", 0.2)

    async def talk(session: aiohttp.ClientSession, url: str, server: WebhookServer) -> None:
        host, port = url.removeprefix("https://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port), ssl=trusting(HELD))
        writer.write(b"POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        answer = await asyncio.wait_for(reader.readline(), 10)
        writer.close()
        assert b"408" in answer

    talking(talk)


def test_bodies_that_come_slowly_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_server, "BODY_TIMEOUT_SECONDS", 60.0)
    monkeypatch.setattr(webhook_server, "MOST_READ_AT_ONCE", 3)
    monkeypatch.setattr(webhook_server, "MOST_AT_ONCE", 1)

    async def talk(session: aiohttp.ClientSession, url: str, server: WebhookServer) -> None:
        host, port = url.removeprefix("https://").split(":")
        slow = []
        for _ in range(4):
            reader, writer = await asyncio.open_connection(host, int(port), ssl=trusting(HELD))
            writer.write(b"POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            slow.append((reader, writer))
        # With the fourth the first had to go.
        assert b"408" in await asyncio.wait_for(slow[0][0].readline(), 30)
        for _ in range(5):
            async with session.post(
                f"{url}/validate", json=reviews.review(reviews.pod_clique_set())
            ) as answer:
                assert (await answer.json())["response"]["allowed"] is True
        for _, writer in slow:
            writer.close()

    talking(talk)


def test_too_many_at_once_are_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_server, "MOST_AT_ONCE", 0)

    async def talk(session: aiohttp.ClientSession, url: str, server: WebhookServer) -> None:
        async with session.post(f"{url}/validate", json={}) as answer:
            assert answer.status == 503

    talking(talk)


def test_new_certificates_are_seen_by_the_next_connection() -> None:
    async def talk(session: aiohttp.ClientSession, url: str, server: WebhookServer) -> None:
        other = made_now()
        server.use(other)
        connector = aiohttp.TCPConnector(ssl=trusting(other))
        async with (
            aiohttp.ClientSession(connector=connector) as later,
            later.post(f"{url}/validate", json=reviews.review(reviews.definition())) as answer,
        ):
            assert (await answer.json())["response"]["allowed"] is True

    talking(talk)


def test_answers_are_counted_by_stage_and_outcome() -> None:
    counted: list[tuple[admission.Stage, webhook_server.Outcome]] = []

    async def run() -> None:
        server = WebhookServer(
            reviews.around(reviews.Known()),
            HELD,
            lambda stage, outcome, seconds: counted.append((stage, outcome)),
        )
        port = await server.start("127.0.0.1", 0)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting(HELD))) as session:
            for document in (reviews.pod_clique_set(), reviews.pod_clique_set(replicas=-1)):
                await session.post(f"https://127.0.0.1:{port}/validate", json=reviews.review(document))
            await session.post(f"https://127.0.0.1:{port}/default", json=3)
        await server.stop()

    asyncio.run(run())
    assert counted == [("validate", "allowed"), ("validate", "refused"), ("default", "failed")]
