"""When rollouts are expected to be over: seldom made, given to all who ask, and said with its age."""

from typing import Any

from . import fleet, waiting
from .client import Client
from .conftest import new_workspace
from .server import Server


def rolling(server: Server, **rule: Any) -> Client:
    """Ten targets under one rule, and a version of which nobody runs the jobs."""
    client = new_workspace(server)
    client.apply(
        fleet.manifest("JobAgent", "puller"),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        *(fleet.resource(f"node-{number}") for number in range(10)),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="puller"),
        fleet.manifest("Policy", "careful", rules=[{"name": "the rule", **rule}]),
    )
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    return client


def status(client: Client) -> dict[str, Any]:
    """A busy machine may take long to begin the process that answers."""
    waiting.until(lambda: client.call("GET", "/v1/status", seconds=120).status == 200, 120)
    found: dict[str, Any] = client.get("/v1/status", seconds=120)["deployments"][0]["environments"][0]
    return found


def test_a_rollout_that_goes_on_by_itself_has_an_end(served: Server) -> None:
    client = rolling(served, gradualRollout={"timeScaleInterval": 3600})
    assert status(client)["expectedFinish"] is None
    found = client.token_with("watcher", role="viewer").get("/v1/forecast", seconds=120)
    [rollout] = found["rollouts"]
    assert (rollout["deployment"], rollout["environment"], rollout["version"]) == ("api", "prod", "v1")
    assert (rollout["jobs"], rollout["message"]) == (10, None)
    assert rollout["finishAt"] == found["finishAt"] > found["madeAt"]
    assert [start["at"] for start in found["starts"]] == sorted(start["at"] for start in found["starts"])
    assert status(client)["expectedFinish"] == {"at": found["finishAt"], "madeAt": found["madeAt"]}


def test_who_asks_again_is_given_the_same_also_when_something_has_happened(server: Server) -> None:
    client = rolling(server, gradualRollout={"timeScaleInterval": 3600})
    first = client.get("/v1/forecast", seconds=120)
    again = client.get("/v1/forecast", seconds=120)
    assert again["madeAt"] == first["madeAt"]
    client.expect(201, "PUT", "/v1/signals/load", {"value": 1})
    later = client.get("/v1/forecast", seconds=120)
    assert (later["madeAt"], later["isCurrent"]) == (first["madeAt"], False)
    assert later["ageSeconds"] >= 0


def test_what_waits_for_a_person_has_no_end_and_says_so(server: Server) -> None:
    client = rolling(server, approval={"minApprovals": 1})
    found = client.get("/v1/forecast", seconds=120)
    [rollout] = found["rollouts"]
    assert (found["finishAt"], rollout["finishAt"]) == (None, None)
    assert "waits for 1 approval" in rollout["message"]


def test_a_fleet_at_rest_expects_nothing(client: Client) -> None:
    found = client.get("/v1/forecast", seconds=120)
    assert (found["finishAt"], found["rollouts"], found["starts"]) == (None, [], [])


def test_the_future_leads_from_how_it_is_to_the_end(server: Server) -> None:
    client = rolling(server, gradualRollout={"timeScaleInterval": 3600})
    found = client.get("/v1/future", seconds=120)
    assert not found["wasCut"]
    assert all(one["at"] >= found["madeAt"] for one in found["changes"])
    last = {one["name"]: one["row"] for one in found["changes"] if one["table"] == "targets"}
    assert {(row["state"], row["current"]) for row in last.values()} == {("upToDate", "v1")}
    assert len(last) == 10
    assert max(one["at"] for one in found["changes"]) == found["finishAt"]


def test_who_would_still_wait_at_the_end_of_the_future_is_said(server: Server) -> None:
    client = rolling(server, approval={"minApprovals": 1})
    found = client.get("/v1/future", seconds=120)
    assert found["finishAt"] is None
    assert {one["row"]["state"] for one in found["changes"] if one["table"] == "targets"} <= {"waiting"}
    assert {one["target"] for one in found["waiting"]} == {f"api/prod/node-{number}" for number in range(10)}
