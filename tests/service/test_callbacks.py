"""What comes without a token, signed: only who knows the secret is believed, and only for a while."""

import contextlib
import hashlib
import hmac
import json
import time

import pytest

from headgate.api.http import access, reading

from . import fleet, waiting
from .client import Answer, Client
from .server import Server


def signature(timestamp: str, job: str, body: bytes, secret: str = fleet.SECRET) -> str:
    signed = f"{timestamp}.{job}.".encode() + body
    return "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def call_back(client: Client, job: str, body: bytes, timestamp: str, signed: str) -> Answer:
    headers = {
        "Content-Type": "application/json",
        "Headgate-Timestamp": timestamp,
        "Headgate-Signature": signed,
    }
    return Client(client.address, None, client.workspace).call(
        "POST", f"/v1/jobs/{job}/callback", body, headers
    )


def now(offset: int = 0) -> str:
    return str(int(time.time()) + offset)


BODY = json.dumps({"status": "successful", "message": "done"}).encode()
OTHER = json.dumps({"status": "failure"}).encode()


@pytest.mark.parametrize(
    "case",
    ["none", "empty", "secret", "body", "job", "old", "future", "moved", "prefix", "huge", "other agent"],
)
def test_a_callback_that_is_not_signed_for_this_is_refused(busy: Client, case: str) -> None:
    jobs = fleet.jobs(busy, "web")
    job, body, timestamp = jobs[0]["id"], BODY, now()
    signed = signature(timestamp, job, body)
    match case:
        case "none":
            signed, timestamp = "", ""
        case "empty":
            signed = signature(timestamp, job, body, "x" * 0)
        case "secret":
            signed = signature(timestamp, job, body, "another secret")
        case "body":
            body = OTHER
        case "job":
            job = "00000000-0000-4000-8000-000000000000"
        case "old":
            timestamp = now(-301)
            signed = signature(timestamp, job, body)
        case "future":
            timestamp = now(302)
            signed = signature(timestamp, job, body)
        case "moved":
            timestamp = now(-1)
        case "prefix":
            signed = signed[:20]
        case "huge":
            timestamp = "9" * 5_000
        case "other agent":
            job = fleet.jobs(busy, "api")[0]["id"]
    answer = call_back(busy, job, body, timestamp, signed)
    assert answer.status == 401, answer
    assert "no such" not in answer.sentences
    assert {one["status"] for one in fleet.jobs(busy, "web")} <= {"pending", "queued"}


def test_a_callback_is_believed_and_one_that_comes_again_changes_nothing(busy: Client) -> None:
    job = fleet.jobs(busy, "web")[0]["id"]
    timestamp = now()
    signed = signature(timestamp, job, BODY)
    assert call_back(busy, job, BODY, timestamp, signed).json["status"] == "successful"
    late = now()
    assert call_back(busy, job, OTHER, late, signature(late, job, OTHER)).json["status"] == "successful"
    assert call_back(busy, job, BODY, timestamp, signed).json["status"] == "successful"
    assert busy.get(f"/v1/jobs/{job}")["message"] == "done"


def test_the_callback_of_one_job_says_nothing_about_another(busy: Client) -> None:
    first, second = (job["id"] for job in fleet.jobs(busy, "web"))
    timestamp = now()
    signed = signature(timestamp, first, BODY)
    assert call_back(busy, first, BODY, timestamp, signed).status == 200
    replayed = call_back(busy, second, BODY, timestamp, signed)
    assert replayed.status == 401, "a signature that was seen on the way would report every job of the agent"


@pytest.mark.parametrize("body", [b"{", b"null", b"\xff", b"[" * 5_000, b'{"status": "unheard of"}'])
def test_nothing_is_made_of_a_body_before_its_signature_is_known(busy: Client, body: bytes) -> None:
    job = fleet.jobs(busy, "web")[0]["id"]
    timestamp = now()
    unsigned = signature(timestamp, job, body, "another secret")
    assert call_back(busy, job, body, timestamp, unsigned).status == 401
    assert call_back(busy, job, body, timestamp, signature(timestamp, job, body)).status in (400, 422)


def test_a_callback_that_is_too_long_is_refused_unread(busy: Client) -> None:
    job = fleet.jobs(busy, "web")[0]["id"]
    head = (
        f"POST /v1/jobs/{job}/callback?workspace={busy.workspace} HTTP/1.1\r\nHost: headgate\r\n"
        f"Content-Type: application/json\r\nContent-Length: {reading.STRANGERS_BODY_BYTES + 1}\r\n\r\n"
    )
    with busy.raw() as link:
        link.sendall(head.encode())
        answered = b""
        while b"allowed are" not in answered and (part := link.recv(4096)):
            answered += part
    assert b" 413 " in answered.partition(b"\r\n")[0]
    assert b"allowed are 1048576 bytes" in answered


def test_a_flood_of_callbacks_is_bounded_and_in_nobody_elses_way(busy: Client) -> None:
    job = fleet.jobs(busy, "web")[0]["id"]
    head = (
        f"POST /v1/jobs/{job}/callback?workspace={busy.workspace} HTTP/1.1\r\nHost: headgate\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    answers: list[Answer] = []

    def is_refused() -> bool:
        answers.append(call_back(busy, job, BODY, now(), "v1=00"))
        return answers[-1].status == 429

    with contextlib.ExitStack() as links:
        for _ in range(access.WITHOUT_TOKEN_EACH):
            links.enter_context(busy.raw()).sendall(head.encode())
        waiting.until(is_refused, 9)
        assert int(answers[-1].headers["retry-after"]) >= 1
        busy.get("/v1/jobs")
        Client(busy.address, None).expect(200, "GET", "/healthz")
    waiting.until(lambda: not is_refused(), 20)


def test_a_callback_for_another_workspace_is_refused(server: Server, busy: Client) -> None:
    job = fleet.jobs(busy, "web")[0]["id"]
    timestamp = now()
    elsewhere = Client(server.address, None, "default")
    assert call_back(elsewhere, job, BODY, timestamp, signature(timestamp, job, BODY)).status == 401
