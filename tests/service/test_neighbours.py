"""What a lesser role or another workspace can do to the service: those beside it are answered meanwhile."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from . import fleet, waiting
from .client import Client
from .conftest import new_workspace
from .server import Server

TARGETS = 300
REASONABLE_SECONDS = 5.0
THREE_LOOPS = "targets.all(a, targets.all(b, targets.all(c, a.name + b.name != c.name)))"
TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
FOUR_LOOPS = f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, a + b + c + d > 0))))"


def _large(server: Server) -> Client:
    client = new_workspace(server)
    client.apply(
        fleet.manifest("JobAgent", "puller"),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="puller"),
    )
    many = [{"name": f"r{number}"} for number in range(TARGETS)]
    client.expect(200, "PUT", "/v1/resources/set", {"provider": "p", "resources": many})
    return client


@contextmanager
def _neighbour_writes(server: Server) -> Iterator[None]:
    """In a workspace beside; and the server says all the time that it is well."""
    beside = new_workspace(server)
    is_over = threading.Event()
    waits: list[float] = []

    def write() -> None:
        while not is_over.is_set():
            begin = time.monotonic()
            beside.call("PUT", "/v1/signals/probe", {"value": begin})
            beside.call("GET", "/healthz")
            waits.append(time.monotonic() - begin)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    assert max(waits) < REASONABLE_SECONDS


def test_a_costly_gate_makes_no_neighbour_wait(server: Server) -> None:
    client = _large(server)
    client.expect(201, "PUT", "/v1/policies/costly", {"rules": [{"gate": {"when": [THREE_LOOPS]}}]})
    with _neighbour_writes(server):
        client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
        client.expect(201, "PUT", "/v1/signals/wake", {"value": 1})
        said = client.get("/v1/release-targets/api/prod/r1/explain")["message"]
        time.sleep(2.0)
    assert "the gate is not answered" in said
    assert "steps" in said


def test_a_costly_template_of_a_deployer_makes_no_neighbour_wait(server: Server) -> None:
    client = _large(server)
    deployer = client.token_with("deploys", role="deployer")
    config = {"image": "${" + FOUR_LOOPS + "}", "inputs": ["${" + FOUR_LOOPS + "}"] * 50}
    with _neighbour_writes(server):
        deployer.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1", "jobAgentConfig": config})
        waiting.until(lambda: len(fleet.jobs(client, "api")) >= 50)
    job = fleet.jobs(client, "api")[0]
    assert job["status"] == "invalidIntegration"
    assert "more than 5000 steps" in job["message"]
