"""Orders over HTTP: signed, repeated safely, and never with the secret in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from headgate.agents import signing
from headgate.agents.addresses import ANYWHERE
from headgate.agents.http import HttpAgent
from headgate.agents.port import TryLaterError
from headgate.agents.web import Web
from headgate.kernel import instants
from headgate.kernel.problems import Rejected

from .support import Shelf, clock, drop, free_port, play, serving

SECRET = "a-well-kept-secret"
JOB = "job-1"
NOW = instants.parse("2026-03-01T09:00:00Z")
Answering = Callable[[web.BaseRequest], web.StreamResponse]


class Receiver:
    """Remembers every request and answers as told; the last answer repeats."""

    def __init__(self, *answers: Answering) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        self.requests.append((request.method, request.path_qs, dict(request.headers), body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(request)


def says(status: int, body: Any = None, **headers: str) -> Answering:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, str):
        return lambda request: web.Response(status=status, text=body, headers=names)
    return lambda request: web.json_response(body, status=status, headers=names)


@asynccontextmanager
async def agent_of(public_url: str = "") -> AsyncIterator[HttpAgent]:
    agent = HttpAgent(clock, public_url, Web(ANYWHERE))
    try:
        yield agent
    finally:
        await agent.close()


def test_the_order_is_sent_signed_and_the_job_runs() -> None:
    async def story() -> None:
        receiver = Receiver(says(202))
        async with serving(receiver) as url, agent_of("https://headgate.example/") as agent:
            config = {"url": f"{url}/hook", "secret": SECRET, "headers": {"X-Key": "k"}}
            progress = await agent.start(Shelf().assignment(config, traceParent="00-ab-cd-01"))
        assert (progress.status, progress.requeue_seconds) == ("inProgress", None)
        method, path, headers, body = receiver.requests[0]
        assert (method, path) == ("POST", "/hook")
        assert headers["Headgate-Job"] == headers["Idempotency-Key"] == "job-1"
        assert headers["X-Key"] == "k"
        assert headers["traceparent"] == "00-ab-cd-01"
        timestamp, signature = headers["Headgate-Timestamp"], headers["Headgate-Signature"]
        assert signing.is_valid(SECRET, timestamp, "job-1", body, signature, clock())
        sent = json.loads(body)
        assert sent["job"]["version"] == "v2"
        assert sent["variables"] == {"replicas": 3}
        assert sent["callbackUrl"] == "https://headgate.example/v1/jobs/job-1/callback?workspace=home"
        assert SECRET.encode() not in body
        assert "headers" not in sent["config"]

    play(story())


def test_the_secret_may_be_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_AGENT_HOOK", SECRET)

    async def story() -> None:
        receiver = Receiver(says(200, {}))
        async with serving(receiver) as url, agent_of() as agent:
            await agent.start(Shelf().assignment({"url": url, "secretEnv": "HEADGATE_AGENT_HOOK"}))
        _, _, headers, body = receiver.requests[0]
        assert signing.is_valid(
            SECRET, headers["Headgate-Timestamp"], "job-1", body, headers["Headgate-Signature"], clock()
        )

    play(story())


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"secret": "x"}, "config.url: is required"),
        ({"url": "ftp://x", "secret": "x"}, 'config.url: is "ftp://x"'),
        ({"url": "http://x"}, "config.secret: is required; allowed is it or secretEnv"),
        (
            {"url": "http://x", "secretEnv": "HEADGATE_AGENT_NO_SUCH"},
            'config.secretEnv: is "HEADGATE_AGENT_NO_SUCH"',
        ),
        ({"url": "http://[::", "secret": "x"}, "config: has the address"),
        ({"url": "http://x", "secret": "x", "pollSeconds": 0}, "config.pollSeconds"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused(config: dict[str, Any], problem: str) -> None:
    async def story() -> None:
        async with agent_of() as agent:
            with pytest.raises(Rejected) as caught:
                await agent.start(Shelf().assignment(config))
        assert problem in str(caught.value)

    play(story())


def test_the_answer_may_say_how_the_job_is() -> None:
    answer = {
        "status": "successful",
        "message": "all done",
        "externalId": 7,
        "links": {"log": "http://x/7", "n": 1},
    }

    async def story() -> None:
        async with serving(Receiver(says(200, answer))) as url, agent_of() as agent:
            progress = await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert (progress.status, progress.message, progress.external_id) == ("successful", "all done", "7")
        assert progress.links == {"log": "http://x/7"}

    play(story())


def test_an_answer_with_a_status_that_there_is_not_is_told() -> None:
    async def story() -> None:
        async with serving(Receiver(says(200, {"status": "great"}))) as url, agent_of() as agent:
            progress = await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert progress.status == "inProgress"
        assert 'says the status is "great"; allowed are actionRequired' in (progress.message or "")

    play(story())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
def test_a_refusal_ends_the_job_with_what_was_said_but_no_secret(status: int) -> None:
    async def story() -> None:
        refusal = says(status, {"message": f"bad key {SECRET}"})
        async with serving(Receiver(refusal)) as url, agent_of() as agent:
            progress = await agent.start(Shelf().assignment({"url": f"{url}/?k=private", "secret": SECRET}))
        assert progress.status == "invalidIntegration"
        assert (progress.message or "").endswith(f"answered {status}: bad key ***")
        assert "private" not in (progress.message or "")

    play(story())


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_busy_receiver_is_tried_again_when_it_says(status: int) -> None:
    async def story() -> None:
        async with serving(Receiver(says(status, {}, Retry_After="7"))) as url, agent_of() as agent:
            with pytest.raises(TryLaterError) as caught:
                await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert caught.value.after_seconds == 7
        assert caught.value.message == f"the other side answered {status}"

    play(story())


def test_an_order_whose_answer_is_lost_is_repeated_under_the_same_key() -> None:
    async def story() -> None:
        receiver = Receiver(drop, says(200, {}))
        async with serving(receiver) as url, agent_of() as agent:
            shelf, config = Shelf(), {"url": url, "secret": SECRET}
            with pytest.raises(TryLaterError, match="broke the connection off"):
                await agent.start(shelf.assignment(config))
            assert (await agent.start(shelf.assignment(config))).status == "inProgress"
        keys = [headers["Idempotency-Key"] for _, _, headers, _ in receiver.requests]
        assert keys == ["job-1", "job-1"]

    play(story())


def test_a_receiver_that_is_not_there_is_named_by_host_and_port_alone() -> None:
    async def story() -> None:
        port = await free_port()
        async with agent_of() as agent:
            config = {"url": f"http://user:password@127.0.0.1:{port}/?token=t", "secret": SECRET}
            with pytest.raises(TryLaterError) as caught:
                await agent.start(Shelf().assignment(config))
        assert caught.value.message.startswith(f"127.0.0.1:{port} cannot be reached: ")
        assert not caught.value.was_sent
        assert "password" not in caught.value.message
        assert "token" not in caught.value.message

    play(story())


def test_a_slow_receiver_is_not_waited_for_beyond_its_time() -> None:
    async def story() -> None:
        never = asyncio.Event()

        async def slow(request: web.BaseRequest) -> web.StreamResponse:
            await never.wait()
            return web.Response()

        async with serving(slow) as url, agent_of() as agent:
            config = {"url": url, "secret": SECRET, "requestTimeoutSeconds": 1}
            with pytest.raises(TryLaterError, match="did not answer within 1 s"):
                await agent.start(Shelf().assignment(config))
            never.set()

    play(story())


def test_a_redirect_to_another_host_is_not_followed() -> None:
    async def story() -> None:
        elsewhere = Receiver(says(200, {}))
        async with serving(elsewhere) as other:
            redirecting = Receiver(says(307, {}, Location=f"{other}/steal"))
            async with serving(redirecting) as url, agent_of() as agent:
                progress = await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert elsewhere.requests == []
        assert progress.status == "invalidIntegration"
        assert "answered 307" in (progress.message or "")

    play(story())


def test_a_redirect_on_the_same_host_keeps_the_order() -> None:
    async def story() -> None:
        receiver = Receiver(says(308, {}, Location="/there"), says(200, {"status": "successful"}))
        async with serving(receiver) as url, agent_of() as agent:
            progress = await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert progress.status == "successful"
        assert [(method, path) for method, path, _, _ in receiver.requests] == [
            ("POST", "/"),
            ("POST", "/there"),
        ]
        assert receiver.requests[0][3] == receiver.requests[1][3]

    play(story())


def test_endless_redirects_end() -> None:
    async def story() -> None:
        async with serving(Receiver(says(307, {}, Location="/"))) as url, agent_of() as agent:
            with pytest.raises(TryLaterError, match="redirects more than 5 times"):
                await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))

    play(story())


def test_an_answer_of_any_size_is_read_to_a_bound() -> None:
    async def story() -> None:
        async with serving(Receiver(says(200, "x" * 5_000_000))) as url, agent_of() as agent:
            progress = await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert progress.status == "inProgress"

    play(story())


def test_a_job_with_a_status_address_is_asked_for() -> None:
    async def story() -> None:
        receiver = Receiver(
            says(200, {"externalId": "run/7"}),
            says(200, {"status": "inProgress"}),
            says(200, {"status": "failure"}),
        )
        async with serving(receiver) as url, agent_of() as agent:
            shelf = Shelf()
            config = {
                "url": url,
                "secret": SECRET,
                "statusUrl": f"{url}/runs/{{externalId}}",
                "pollSeconds": 3,
            }
            started = await agent.start(shelf.assignment(config))
            assert started.requeue_seconds == 3
            first = await agent.follow(shelf.assignment(config))
            second = await agent.follow(shelf.assignment(config))
        assert first is not None
        assert second is not None
        assert (first.status, second.status) == ("inProgress", "failure")
        assert receiver.requests[1][:2] == ("GET", "/runs/run%2F7")

    play(story())


def test_a_status_address_that_does_not_know_the_job_ends_it() -> None:
    async def story() -> None:
        async with serving(Receiver(says(404, {}))) as url, agent_of() as agent:
            config = {"url": url, "secret": SECRET, "statusUrl": f"{url}/status"}
            progress = await agent.follow(Shelf().assignment(config))
        assert progress is not None
        assert progress.status == "externalRunNotFound"

    play(story())


def test_without_a_status_address_only_the_callback_knows() -> None:
    async def story() -> None:
        async with agent_of() as agent:
            assert await agent.follow(Shelf().assignment({"url": "http://x", "secret": SECRET})) is None

    play(story())


def test_stopping_tells_the_cancel_address() -> None:
    async def story() -> None:
        receiver = Receiver(says(200, {}))
        async with serving(receiver) as url, agent_of() as agent:
            await agent.stop(Shelf().assignment({"url": url, "secret": SECRET, "cancelUrl": f"{url}/cancel"}))
            await agent.stop(Shelf().assignment({"url": url, "secret": SECRET}))
        [(_, path, _, body)] = receiver.requests
        assert path == "/cancel"
        assert json.loads(body)["cancelled"] is True
        assert json.loads(body)["job"]["id"] == "job-1"

    play(story())


def test_a_callback_with_a_right_signature_is_genuine() -> None:
    stamp = str(NOW // 1_000_000)
    assert signing.is_valid(SECRET, stamp, JOB, b"{}", signing.sign(SECRET, stamp, JOB, b"{}"), NOW)


def test_while_a_secret_changes_both_signatures_may_be_sent() -> None:
    stamp = str(NOW // 1_000_000)
    both = f"{signing.sign('old', stamp, JOB, b'')}, {signing.sign(SECRET, stamp, JOB, b'')}"
    assert signing.is_valid(SECRET, stamp, JOB, b"", both, NOW)


def test_a_callback_of_another_job_is_not_genuine() -> None:
    stamp = str(NOW // 1_000_000)
    assert not signing.is_valid(SECRET, stamp, "job-2", b"{}", signing.sign(SECRET, stamp, JOB, b"{}"), NOW)


@pytest.mark.parametrize(
    ("secret", "stamp", "body", "signature"),
    [
        ("other", None, b"{}", None),
        ("", None, b"{}", None),
        (SECRET, "1", b"{}", None),
        (SECRET, "yesterday", b"{}", None),
        (SECRET, "-5", b"{}", None),
        (SECRET, "9" * 5_000, b"{}", None),
        (SECRET, "٣", b"{}", None),
        (SECRET, None, b"{ }", None),
        (SECRET, None, b"{}", "v1="),
        (SECRET, None, b"{}", ""),
        (SECRET, None, b"{}", "ü,\x00"),
        (SECRET, None, b"{}", "v1=" + "0" * 64),
    ],
)
def test_a_callback_that_differs_in_anything_is_not_genuine(
    secret: str, stamp: str | None, body: bytes, signature: str | None
) -> None:
    good = str(NOW // 1_000_000)
    stamp = good if stamp is None else stamp
    signature = signing.sign(SECRET, good, JOB, b"{}") if signature is None else signature
    assert not signing.is_valid(secret, stamp, JOB, body, signature, NOW)


@pytest.mark.parametrize("minutes", [-6, 6])
def test_a_callback_from_another_time_is_not_genuine(minutes: int) -> None:
    stamp = str(NOW // 1_000_000 + minutes * 60)
    assert not signing.is_valid(SECRET, stamp, JOB, b"{}", signing.sign(SECRET, stamp, JOB, b"{}"), NOW)


def test_characters_that_no_database_takes_are_left_out() -> None:
    answer = {"message": "a\x00b\x1b[31mc\nd", "externalId": "7\x00", "links": {"l\x00": "http://x/\x00"}}

    async def story() -> None:
        async with serving(Receiver(says(200, answer))) as url, agent_of() as agent:
            progress = await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert (progress.message, progress.external_id) == ("ab[31mc\nd", "7")
        assert progress.links == {"l": "http://x/"}

    play(story())


@pytest.mark.parametrize("name", [".", ".."])
def test_what_the_receiver_calls_the_job_is_no_step_to_another_address(name: str) -> None:
    async def story() -> None:
        receiver, shelf = Receiver(says(200, {"externalId": name})), Shelf()
        async with serving(receiver) as url, agent_of() as agent:
            config = {"url": url, "secret": SECRET, "statusUrl": f"{url}/runs/{{externalId}}/status"}
            await agent.start(shelf.assignment(config))
            with pytest.raises(Rejected, match="another address"):
                await agent.follow(shelf.assignment(config))
        assert len(receiver.requests) == 1

    play(story())


def test_what_the_receiver_calls_the_job_is_no_host() -> None:
    async def story() -> None:
        async with agent_of() as agent:
            config = {"url": "http://x", "secret": SECRET, "statusUrl": "http://{externalId}/status"}
            with pytest.raises(Rejected, match="in its host; allowed is it in the path"):
                await agent.start(Shelf().assignment(config))

    play(story())


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "a\r\nX-B: b"},
        {"X-A": "a\nb"},
        {"X-A\r\nX-B": "b"},
        {"X A": "b"},
        {"": "b"},
        {"Host": "evil.example"},
        {"content-length": "0"},
        {"Transfer-Encoding": "chunked"},
    ],
)
def test_headers_make_no_other_request_of_it(headers: dict[str, str]) -> None:
    async def story() -> None:
        receiver = Receiver(says(200))
        async with serving(receiver) as url, agent_of() as agent:
            with pytest.raises(Rejected):
                await agent.start(Shelf().assignment({"url": url, "secret": SECRET, "headers": headers}))
        assert receiver.requests == []

    play(story())


def test_links_that_run_something_are_left_out() -> None:
    async def story() -> None:
        links = {"good": "https://x/7", "bad": "javascript:alert(1)", "worse": "data:text/html,x"}
        receiver = Receiver(says(200, {"links": links}))
        async with serving(receiver) as url, agent_of() as agent:
            progress = await agent.start(Shelf().assignment({"url": url, "secret": SECRET}))
        assert progress.links == {"good": "https://x/7"}

    play(story())
