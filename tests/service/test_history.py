"""How it was at a past moment, over HTTP on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from . import fleet
from .client import Client
from .conftest import new_workspace
from .server import Server


def at(client: Client, moment: str, **query: object) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/v1/history", at=moment, seconds=120, **query)
    return found


def claimed(client: Client, tag: str) -> dict[str, Any]:
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": tag})
    asked = {"waitSeconds": 30}
    [job] = client.expect(200, "POST", "/v1/job-agents/puller/claim", asked, seconds=120).json["jobs"]
    found: dict[str, Any] = job
    return found


def published(client: Client, tag: str) -> str:
    job = claimed(client, tag)
    report = {"token": job["claim"]["token"], "status": "successful"}
    ended = client.expect(200, "POST", f"/v1/jobs/{job['job']['id']}/report", report)
    return str(ended.json["completedAt"])


@pytest.fixture
def client_of(served: Server) -> Client:
    client = new_workspace(served)
    limit = {"groupSelector": "true", "limitType": "count", "limitValue": 1}
    client.apply(
        fleet.manifest("JobAgent", "puller", config={"env": {"API_TOKEN": "hunter22"}}),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        fleet.resource("node-1"),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="puller"),
        fleet.manifest("Policy", "limit", rules=[{"name": "one", "resourceConcurrency": limit}]),
    )
    return client


def test_each_moment_is_told_as_it_was(client_of: Client) -> None:
    client = client_of
    first, second = published(client, "v1"), published(client, "v2")
    viewer = client.token_with("looks-back", role="viewer")
    was, then = at(viewer, first), at(viewer, second)
    assert [target["current"] for target in was["targets"]] == ["v1"]
    assert [target["current"] for target in then["targets"]] == ["v2"]
    assert [(target["name"], target["state"]) for target in then["targets"]] == [
        ("api/prod/node-1", "upToDate")
    ]
    assert [(one["policy"], one["limit"], one["used"]) for one in then["budgets"]] == [("limit", 1, 0)]
    earliest = at(viewer, was["earliest"])
    assert earliest["position"] <= was["position"] < then["position"]
    assert at(viewer, second, deployment="other")["targets"] == []
    created = claimed(client, "v3")["job"]["createdAt"]
    [running] = at(viewer, created)["targets"]
    assert (running["state"], running["current"], running["job"]["version"]) == ("running", "v2", "v3")
    assert "hunter22" not in str(at(viewer, created))


@pytest.mark.parametrize(
    ("moment", "sentence"),
    [
        ("yesterday", "at"),
        ("2001-01-01T00:00:00Z", "the earliest that can be asked for"),
        ("2199-01-01T00:00:00Z", "is after now"),
    ],
)
def test_a_moment_that_cannot_be_told_is_refused_with_a_sentence(
    client: Client, moment: str, sentence: str
) -> None:
    refused = client.expect(422, "GET", "/v1/history", at=moment, seconds=120)
    assert sentence in refused.sentences


def test_the_moment_is_required(client: Client) -> None:
    assert client.call("GET", "/v1/history").status in (400, 422)


def test_what_changed_in_between_leads_from_one_moment_to_the_next(client_of: Client) -> None:
    client = client_of
    first, second = published(client, "v1"), published(client, "v2")
    changes = client.get("/v1/history/changes", since=first, until=second, seconds=120)
    assert not changes["wasCut"]
    tables = {table: {_key(row): row for row in at(client, first)[table]} for table in ("targets", "budgets")}
    for change in changes["changes"]:
        assert first <= change["at"] <= second
        if change["table"] in tables:
            tables[change["table"]][change["name"]] = change["row"]
    then = at(client, second)
    assert {table: list(rows.values()) for table, rows in tables.items()} == {
        table: then[table] for table in tables
    }
    states = [one["row"]["state"] for one in changes["changes"] if one["table"] == "targets"]
    assert states[-2:] == ["running", "upToDate"]
    [last] = client.get("/v1/history/changes", since=first, table="targets", limit=1, seconds=120)["changes"]
    assert last["row"]["current"] == "v2"
    assert (
        client.get("/v1/history/changes", since=first, table="targets", deployment="x", seconds=120)[
            "changes"
        ]
        == []
    )
    assert client.get("/v1/history/changes", since="2001-01-01T00:00:00Z", seconds=120)["wasCut"]


def _key(row: dict[str, Any]) -> str:
    return str(row["name"])
