from __future__ import annotations

import pytest

from api.routes import fleet
from api.routes.server import Client, Server


def test_the_matrix_counts_targets_and_says_who_waits(client: Client, server: Server) -> None:
    fleet.make(client, nodes=3)
    fleet.put(client, "environments", "empty")
    fleet.publish(client, "v1")
    for job in fleet.jobs(client, 3):
        fleet.finish(client, job)
    server.clock.advance("1s")
    fleet.put(client, "policies", "careful", rules=[{"approval": {}}])
    fleet.publish(client, "v2")
    status = client.get("/v1/status").json
    environment = status["deployments"][0]["environments"][0]
    assert (status["deployments"][0]["name"], environment["name"]) == ("api", "prod")
    assert (environment["newest"], environment["newestSuccessful"]) == ("v2", "v1")
    assert environment["counts"] == {
        "upToDate": 0, "waiting": 3, "running": 0, "failed": 0, "frozen": 0, "noVersion": 0,
    }  # fmt: skip
    assert [waiting["target"] for waiting in environment["waiting"]] == [
        f"api/prod/node-{number}" for number in (1, 2, 3)
    ]
    assert environment["waiting"][0]["message"].startswith("v2: ")


def test_a_long_look_is_taken_in_slices(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.api.routes.status.SLICE_SECONDS", 0.0)
    fleet.make(client, nodes=5)
    fleet.put(client, "environments", "qa", resourceSelector="true")
    environments = client.get("/v1/status").json["deployments"][0]["environments"]
    assert [one["counts"]["noVersion"] for one in environments] == [5, 5]


def test_the_matrix_may_be_narrowed(client: Client) -> None:
    fleet.make(client, nodes=1)
    fleet.put(client, "deployments", "web", resourceSelector="true")
    assert [one["name"] for one in client.get("/v1/status", deployment="web").json["deployments"]] == ["web"]
    assert client.get("/v1/status", environment="nowhere").status == 404


def test_asking_leaves_no_warning_behind(client: Client) -> None:
    fleet.make(client, nodes=1)
    assert client.get("/v1/status").status == 200
    assert client.get("/v1/release-targets").status == 200
