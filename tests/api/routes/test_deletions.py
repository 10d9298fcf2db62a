"""What a deletion would end is said first; what has targets asks for a confirmation, what is needed is refused."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client

NODES = ["api/prod/node-1", "api/prod/node-2"]


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    fleet.make(client)
    fleet.put(client, "policies", "careful", rules=[])


GUARDED = [
    ("/v1/environments/prod", "environment prod has 2 release targets"),
    ("/v1/deployments/api", "deployment api has 2 release targets"),
    ("/v1/policies/careful", "policy careful is for 2 release targets"),
]


@pytest.mark.parametrize(("path", "says"), GUARDED)
def test_what_has_release_targets_needs_a_confirmation(client: Client, path: str, says: str) -> None:
    refused = client.delete(path)
    message = f"{says}: api/prod/node-1, api/prod/node-2; if that is meant, give confirm"
    assert (refused.status, refused.json["detail"]) == (409, message)
    assert refused.json["errors"] == [{"path": "confirm", "message": message}]
    assert client.delete(path, confirm="true").status in (200, 204)
    assert client.get(path).status == 404


@pytest.mark.parametrize("path", ["/v1/policies/careful", "/v1/deployments/api", "/v1/freezes/incident"])
def test_whoever_lets_go_what_binds_targets_is_told_whom_that_concerned(client: Client, path: str) -> None:
    fleet.put(client, "freezes", "incident", reason="look")
    answer = client.delete(path, **({} if "freezes" in path else {"confirm": "true"}))
    assert answer.status == 200
    assert (answer.json["name"], answer.json["concerns"]["targets"]) == (path.rpartition("/")[2], 2)
    assert answer.json["concerns"]["sample"] == NODES
    assert client.get(path).status == 404


def test_a_deletion_that_takes_a_hook_from_a_bracket_says_so(client: Client) -> None:
    for name in ("drain", "uncordon"):
        fleet.put(client, "deployments", name, resourceSelector="true", jobAgent="runner")
    rules = [
        {"deploymentBracket": {"deploymentSelector": "true", "readinessMode": "immediate"}},
        _after("api", "drain"),
        _after("uncordon", "api"),
        _after("uncordon", "drain"),
    ]
    fleet.put(client, "policies", "lifecycle", rules=rules)
    answer = client.delete("/v1/deployments/uncordon", confirm="true")
    assert answer.status == 200
    assert "uncordon" in (answer.json["concerns"]["note"] or ""), answer.json


def _after(later: str, earlier: str) -> dict[str, Any]:
    rule = {"dependsOn": f"deployment.name == '{earlier}'", "appliesTo": f"deployment.name == '{later}'"}
    return {"deploymentDependency": rule}


@pytest.mark.parametrize(("path", "says"), GUARDED)
def test_a_dry_run_says_what_would_end_and_ends_nothing(client: Client, path: str, says: str) -> None:
    answer = client.delete(path, dryRun="true")
    assert (answer.status, answer.json["concerns"]["sample"], answer.json["needsConfirm"]) == (
        200,
        NODES,
        True,
    )
    assert client.get(path).status == 200


def test_what_has_no_targets_goes_without_asking(client: Client) -> None:
    fleet.put(client, "environments", "empty")
    fleet.put(client, "policies", "off", rules=[], enabled=False)
    assert client.delete("/v1/environments/empty").status == 204
    assert client.delete("/v1/policies/off").json["concerns"]["targets"] == 0
    assert client.delete("/v1/resources/node-1").status == 204


def test_what_something_needs_is_refused_by_name(client: Client) -> None:
    fleet.put(client, "deployments", "db", resourceSelector="false", jobAgent="runner")
    fleet.publish(client, "v1", dependencies={"db": {"versionSelector": "true"}})
    refused = [client.delete("/v1/job-agents/runner"), client.delete("/v1/deployments/db")]
    assert [(one.status, one.json["detail"]) for one in refused] == [
        (409, "runner runs the jobs of api and 1 more"),
        (409, "api v1 depends on db"),
    ]
    asked = client.delete("/v1/job-agents/runner", dryRun="true").json
    assert (asked["neededBy"], asked["needsConfirm"]) == ("runner runs the jobs of api and 1 more", False)


def test_a_version_that_runs_says_where(client: Client) -> None:
    fleet.publish(client, "v1")
    fleet.jobs(client, 2)
    asked = client.delete("/v1/versions/api%2Fv1", dryRun="true").json
    assert asked["name"] == "api/v1"
    assert asked["neededBy"] == "v1 runs on api/prod/node-1 and 1 more; set its status to rejected to go back"


def test_an_environment_that_comes_back_knows_what_runs_there(client: Client) -> None:
    fleet.publish(client, "v1")
    for job in fleet.jobs(client, 2):
        fleet.finish(client, job)
    client.delete("/v1/environments/prod", confirm="true")
    fleet.put(client, "environments", "prod", resourceSelector="resource.kind == 'Node'")
    assert {item["current"] for item in client.items("/v1/release-targets")} == {"v1"}
    assert len(client.items("/v1/jobs")) == 2
