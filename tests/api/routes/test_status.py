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
    assert {state: count for state, count in environment["counts"].items() if count} == {"waiting": 3}
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


def test_a_version_for_others_is_not_the_newest_here(client: Client, server: Server) -> None:
    """A hotfix for one environment says nothing about what another one waits for."""
    fleet.make(client, nodes=1)
    fleet.put(client, "environments", "qa", resourceSelector="true")
    fleet.publish(client, "v1")
    server.clock.advance("1s")
    fleet.publish(client, "hotfix", targetSelector="environment.name == 'qa'")
    environments = client.get("/v1/status").json["deployments"][0]["environments"]
    found = {one["name"]: (one["newest"], one["rollout"]["version"]) for one in environments}
    assert found == {"prod": ("v1", "v1"), "qa": ("hotfix", "hotfix")}


def test_asking_leaves_no_warning_behind(client: Client, server: Server) -> None:
    """While a job runs, nobody decides on what comes next, so whoever asks is the first to see a scope that fails. The
    warning is for the decision to give, once, when the job has ended: not for the next commit after somebody asked."""
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1")
    (job,) = fleet.jobs(client, 1)
    fleet.put(client, "resources", "node-2", kind="Node", metadata={"zone": "a"})
    server.clock.advance("1s")
    fleet.publish(client, "v2", targetSelector="resource.metadata['zone'] == 'a'")
    assert warnings(client) == []
    for path in ("/v1/status", "/v1/release-targets", "/v1/release-targets/api%2Fprod%2Fnode-1/explain"):
        assert client.get(path).status == 200
    fleet.put(client, "resources", "rack-1", kind="Rack")
    assert warnings(client) == []
    fleet.finish(client, job)
    fleet.jobs(client, 1, cel="job.version == 'v2' && job.resource == 'node-1'")
    assert warnings(client) == ["api/prod/node-1"]


def test_asking_asks_nobody_for_an_approval(client: Client, server: Server) -> None:
    """Likewise of a version that nobody decides on yet: people are asked for their approval when it waits for nothing else."""
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1")
    (job,) = fleet.jobs(client, 1)
    fleet.put(client, "policies", "careful", rules=[{"approval": {}}])
    server.clock.advance("1s")
    fleet.publish(client, "v2")
    assert client.get("/v1/status").status == 200
    assert client.get("/v1/release-targets", reasons="true").status == 200
    assert client.get("/v1/deployments/api/explain").status == 200
    rule = client.get("/v1/policies/careful").json["rules"][0]["id"]
    skip = {"rule": rule, "reason": "tried", "environment": "prod", "deployment": "api", "tag": "v2"}
    made = client.post("/v1/skips", skip)
    assert made.status == 201, made.body
    assert client.delete(f"/v1/skips/{made.json['id']}").status == 200
    assert told(client, "approval.requested") == []
    fleet.finish(client, job)
    assert told(client, "approval.requested") == ["api/v2"]


def warnings(client: Client) -> list[str]:
    return told(client, "warning.raised")


def told(client: Client, event_type: str) -> list[str]:
    events = client.items("/v1/events", limit=500)
    return [event["name"] for event in events if event["type"] == event_type]


def test_counts_go_by_what_runs(client: Client, server: Server) -> None:
    fleet.make(client, nodes=2)
    fleet.put(client, "policies", "undo", rules=[{"rollback": {"onJobStatuses": ["failure"]}}])
    fleet.publish(client, "v1")
    for job in fleet.jobs(client, 2):
        fleet.finish(client, job)
    server.clock.advance("1s")
    fleet.publish(client, "v2")
    one, other = fleet.jobs(client, 2, cel="job.version == 'v2'")
    fleet.finish(client, one)
    fleet.finish(client, other, "failure")
    (back,) = fleet.jobs(client, 1, cel="job.kind == 'rollback'")
    fleet.finish(client, back)
    environment = client.get("/v1/status", stuck="true").json["deployments"][0]["environments"][0]
    assert environment["rollout"] == {
        "version": "v2", "desired": 2, "running": 1, "verifying": 0, "rolledBack": 1, "failed": 0,
    }  # fmt: skip
    assert environment["newestSuccessful"] == "v2"
    assert (environment["canMove"], environment["stuckCount"]) == (False, 1)
    assert environment["stuck"][0]["state"] == "rolledBack"
    assert "v2 ended failure" in environment["stuck"][0]["message"]
    assert back["reason"].startswith("v2 ended failure")


def test_what_was_put_back_everywhere_is_not_the_newest_that_succeeded(
    client: Client, server: Server
) -> None:
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, 1)[0])
    server.clock.advance("1s")
    fleet.publish(client, "v2")
    fleet.finish(client, fleet.jobs(client, 1, cel="job.version == 'v2'")[0])
    assert client.post("/v1/release-targets/api%2Fprod%2Fnode-1/rollback").status == 200
    fleet.finish(client, fleet.jobs(client, 1, cel="job.kind == 'rollback'")[0])
    environment = client.get("/v1/status", stuck="true").json["deployments"][0]["environments"][0]
    assert environment["newestSuccessful"] == "v1"
    assert environment["counts"]["rolledBack"] == 1
    assert environment["stuckCount"] == 0, "a person wanted it so"


def test_a_hook_that_a_bracket_no_longer_has_is_warned_of(client: Client) -> None:
    fleet.make(client, nodes=1)
    for name in ("drain", "uncordon"):
        fleet.put(client, "deployments", name, resourceSelector="true")
    cycle = {"deploymentBracket": {"deploymentSelector": "true", "readinessMode": "immediate"}}

    def after(one: str, other: str) -> dict[str, object]:
        names = {"dependsOn": f"deployment.name == '{one}'", "appliesTo": f"deployment.name == '{other}'"}
        return {"deploymentDependency": names}

    whole = client.put(
        "/v1/policies/cycle", {"rules": [cycle, after("drain", "api"), after("api", "uncordon")]}
    )
    assert (whole.json["concerns"]["note"], client.get("/v1/status").json["warnings"]) == (None, [])
    cut = client.put("/v1/policies/cycle", {"rules": [cycle, after("drain", "api")]})
    [warning] = client.get("/v1/status").json["warnings"]
    assert "drain is no longer its pre-hook" in warning
    assert warning in cut.json["concerns"]["note"]
    explained = client.get("/v1/release-targets/api%2Fprod%2Fnode-1/explain").json
    assert warning in explained["warnings"]
