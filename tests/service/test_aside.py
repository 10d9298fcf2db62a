"""Long questions are answered in processes beside the server: what becomes of them is nobody else's matter."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from . import fleet, waiting
from .client import Client
from .server import Server

ENDLESS = (
    "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, a+b+c > 0))) && false"
)


def children(server: Server) -> list[int]:
    """Processes beside the server."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == server.process_id and b"headgate.api.aside" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (OSError, IndexError):
            continue
    return found


def test_a_list_shows_what_was_acknowledged_just_before(client: Client) -> None:
    for number in range(20):
        client.expect(201, "PUT", f"/v1/resources/r{number}", {"kind": "Node"})
        assert len(client.get("/v1/resources")["items"]) == number + 1


def test_questions_survive_the_death_of_the_process_that_answers_them(server: Server, client: Client) -> None:
    client.get("/v1/resources")
    before = children(server)
    assert before
    for process in before:
        os.kill(process, signal.SIGKILL)
    waiting.until(lambda: client.call("GET", "/v1/resources").status == 200)
    assert not set(children(server)) & set(before)


def test_a_flood_of_one_caller_is_bounded_and_others_are_served(client: Client) -> None:
    client.apply(*(fleet.resource(f"node-{number}") for number in range(300)))
    flooder = client.token_with("flooder", role="viewer")
    statuses: list[int] = []

    def flood() -> None:
        statuses.append(flooder.call("GET", "/v1/resources", cel=ENDLESS, seconds=60).status)

    threads = [threading.Thread(target=flood) for _ in range(60)]
    for thread in threads:
        thread.start()
    waits = []
    while any(thread.is_alive() for thread in threads):
        begin = time.monotonic()
        client.expect(200, "GET", "/healthz", workspace=None)
        client.expect(200, "PUT", "/v1/resources/node-0", {"kind": "Node", "version": str(begin)})
        waits.append(time.monotonic() - begin)
    for thread in threads:
        thread.join()
    assert {*statuses} == {200, 429}
    assert sorted(waits)[len(waits) // 2] < 1.0


def test_a_refusal_of_too_many_says_when_to_come_back(client: Client) -> None:
    client.apply(*(fleet.resource(f"node-{number}") for number in range(300)))
    flooder = client.token_with("flooder", role="viewer")
    refused = []

    def flood() -> None:
        answer = flooder.call("GET", "/v1/resources", cel=ENDLESS, seconds=60)
        if answer.status == 429:
            refused.append(answer)

    threads = [threading.Thread(target=flood) for _ in range(45)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
    assert "flooder" in refused[0].sentences


def test_whoever_hangs_up_leaves_its_place_to_others(client: Client) -> None:
    client.apply(*(fleet.resource(f"node-{number}") for number in range(300)))
    links = [client.raw() for _ in range(30)]
    path = f"/v1/resources?workspace={client.workspace}&cel={ENDLESS.replace(' ', '%20').replace('&', '%26').replace('+', '%2B')}"
    for link in links:
        link.sendall(
            f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\n\r\n".encode()
        )
    for link in links:
        link.close()
    begin = time.monotonic()
    client.expect(200, "GET", "/v1/resources", limit=1)
    assert time.monotonic() - begin < waiting.MOST_SECONDS
