"""Votes, skips, and resuming a stopped line."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server, until


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    fleet.make(client, nodes=3)
    rules: list[dict[str, Any]] = [
        {"name": "yes", "approval": {"minApprovals": 1}},
        {"name": "few", "failureBudget": {"maxFailed": 1}},
        {
            "name": "slots",
            "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 3},
        },
        {"retry": {"maxRetries": 0}},
    ]
    fleet.put(client, "policies", "careful", rules=rules)
    fleet.publish(client, "v1")


def _vote(client: Client, status: str = "approved", **fields: Any) -> Any:
    body = {"deployment": "api", "tag": "v1", "environment": "prod", "status": status, **fields}
    return client.post("/v1/approvals", body)


def test_a_vote_is_the_callers_and_lets_the_version_through(client: Client) -> None:
    vote = _vote(client, reason="looks good")
    assert fleet.plain(vote.json) == {
        "versionId": client.get("/v1/versions/api%2Fv1").json["id"],
        "deployment": "api",
        "tag": "v1",
        "environment": "prod",
        "user": "ana",
        "status": "approved",
        "reason": "looks good",
        "at": "2026-03-01T09:00:00Z",
        "roles": [],
    }
    assert client.items("/v1/approvals") == [fleet.plain(vote.json)]
    assert len(fleet.jobs(client, 3)) == 3


def test_another_vote_of_the_same_caller_replaces_the_first(client: Client, server: Server) -> None:
    _vote(client, "rejected")
    _vote(server.client("ben:approver@default"), "rejected")
    _vote(client)
    assert {vote["user"]: vote["status"] for vote in client.items("/v1/approvals")} == {
        "ana": "approved",
        "ben": "rejected",
    }


def test_votes_are_found_by_what_they_are_about(client: Client) -> None:
    _vote(client, "rejected")
    assert len(client.items("/v1/approvals", deployment="api", tag="v1", environment="prod")) == 1
    assert client.items("/v1/approvals", environment="qa") == []
    assert len(client.items("/v1/approvals", cel="approval.status == 'rejected'")) == 1


def test_only_ones_own_vote_can_be_withdrawn(client: Client, server: Server) -> None:
    _vote(client, "rejected")
    path = "/v1/approvals/api%2Fv1/prod"
    assert server.client("ben:approver@default").delete(path).status == 404
    assert client.delete(path).status == 200
    assert client.items("/v1/approvals") == []
    assert client.delete(path).status == 404


@pytest.mark.parametrize(
    "wrong", [{"deployment": "web"}, {"tag": "v9"}, {"environment": "qa"}, {"status": "maybe"}]
)
def test_a_vote_on_nothing_is_invalid(client: Client, wrong: dict[str, str]) -> None:
    response = _vote(client, **wrong)
    assert (response.status, [error["path"] for error in response.json["errors"]]) == (422, list(wrong))


def test_voting_needs_the_permission(server: Server) -> None:
    assert _vote(server.client("opa:operator@default")).status == 403


def test_a_vote_names_parts_by_id(client: Client) -> None:
    ids = {
        key: client.get(f"/v1/{key}s/{name}").json["id"]
        for key, name in (("deployment", "api"), ("environment", "prod"))
    }
    assert _vote(client, **ids).json["environment"] == "prod"


def test_a_vote_is_asked_for_whatever_else_holds_it(client: Client) -> None:
    def asked() -> list[tuple[str, str, str, int]]:
        found = client.get("/v1/deployments/api/explain").json["approvals"]
        return [(one["environment"], one["version"], one["rule"], one["count"]) for one in found]

    before = asked()
    assert before
    client.post("/v1/freezes", {"name": "stop", "reason": "not today"})
    assert asked() == before
    _vote(client)
    assert asked() == []


def test_votes_for_a_scoped_version_are_asked_for_where_they_can_help(client: Client) -> None:
    def asked() -> list[tuple[str, str, int]]:
        found = client.get("/v1/deployments/api/explain").json["approvals"]
        return [(one["version"], one["rule"], one["count"]) for one in found]

    fleet.put(
        client, "policies", "careful", rules=[{"name": "few", "scopedVersion": {"requireApprovals": 1}}]
    )
    fleet.publish(client, "v2", targetSelector="resource.name == 'node-1'")
    assert asked() == [("v2", "few", 1)]
    fleet.put(client, "policies", "careful", rules=[{"name": "few", "scopedVersion": {"allow": False}}])
    assert asked() == []


def test_a_skip_opens_a_gate_for_what_it_names(client: Client) -> None:
    body = {"rule": "yes", "deployment": "api", "tag": "v1", "resource": "node-2", "reason": "urgent"}
    skip = client.post("/v1/skips", body)
    assert skip.status == 201
    assert (skip.json["policy"], skip.json["ruleName"], skip.json["user"]) == ("careful", "yes", "ana")
    assert [job["resource"] for job in fleet.jobs(client)] == ["node-2"]
    assert client.get(f"/v1/skips/{skip.json['id']}").json == fleet.plain(skip.json)
    assert client.get(f"/v1/skips/{skip.json['id'].upper()}").json == fleet.plain(skip.json)
    assert client.items("/v1/skips") == [fleet.plain(skip.json)]


def test_two_skips_of_one_rule_are_two(client: Client) -> None:
    ids = {
        client.post("/v1/skips", {"rule": "yes", "resource": node, "reason": "r"}).json["id"]
        for node in ("node-1", "node-2")
    }
    assert {skip["id"] for skip in client.items("/v1/skips")} == ids
    assert len(ids) == 2


def test_a_skip_ends_when_it_is_deleted(client: Client) -> None:
    skip = client.post("/v1/skips", {"rule": "few", "policy": "careful", "reason": "r"})
    path = f"/v1/skips/{skip.json['id']}"
    assert client.delete(path, {"If-Match": '"other"'}).status == 412
    assert client.delete(path, {"If-Match": skip.headers["etag"]}).status == 200
    assert client.get(path).status == 404
    assert client.delete(path).status == 404


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"rule": "no", "reason": "r"}, "rule"),
        ({"rule": "yes", "reason": " "}, "reason"),
        ({"rule": "yes"}, "reason"),
        ({"rule": "yes", "reason": "r", "tag": "v1"}, "tag"),
        ({"rule": "yes", "reason": "r", "resource": "node-9"}, "resource"),
        ({"rule": "yes", "reason": "r", "policy": "no"}, "policy"),
        ({"rule": "yes", "reason": "r", "expiresAt": "2026-02-01T00:00:00Z"}, "expiresAt"),
    ],
)
def test_a_skip_with_a_flaw_names_it(client: Client, body: dict[str, str], path: str) -> None:
    response = client.post("/v1/skips", body)
    assert (response.status, response.json["errors"][0]["path"]) == (422, path)


def test_budgets_show_who_holds_them(client: Client) -> None:
    _vote(client)
    fleet.jobs(client, 3)
    failures, slots = client.items("/v1/budgets")
    assert (slots["kind"], slots["limit"], slots["used"], slots["scope"]) == (
        "resourceConcurrency",
        3,
        3,
        "true",
    )
    assert slots["holders"][0] == {"name": "node-1", "since": "2026-03-01T09:00:00Z"}
    assert (failures["kind"], failures["environment"], failures["limit"], failures["used"]) == (
        "failureBudget",
        "prod",
        1,
        0,
    )


def test_a_stopped_line_is_resumed(client: Client) -> None:
    _vote(client)
    for job in fleet.jobs(client, 3)[:2]:
        fleet.finish(client, job, "failure")
    stopped = until(lambda: client.items("/v1/budgets", cel="budget.stoppedAt != null"))
    assert (stopped[0]["rule"], stopped[0]["used"]) == ("few", 2)
    resumed = client.post("/v1/budgets/resume", {"rule": "few", "environment": "prod"})
    assert [(budget["stoppedAt"], budget["used"]) for budget in resumed.json["budgets"]] == [(None, 0)]


def _by_node(client: Client, **rule: object) -> None:
    """A rule of failures in a policy of its own, one line for each node where it can have that."""
    fleet.put(client, "policies", "own", rules=[{"name": "by node", **rule}])


def test_one_of_the_lines_by_value_is_resumed(client: Client) -> None:
    _by_node(client, failureBudget={"maxFailed": 0, "groupBy": "resource.name"})
    _vote(client)
    for job in fleet.jobs(client, 3)[:2]:
        fleet.finish(client, job, "failure")
    stopped = until(
        lambda: client.items("/v1/budgets", cel="budget.stoppedAt != null && budget.policy == 'own'")
    )
    until(lambda: len(client.items("/v1/budgets", cel="budget.rule == 'by node' && budget.used > 0")) == 2)
    one = stopped[0]["scope"]
    resumed = client.post("/v1/budgets/resume", {"rule": "by node", "environment": "prod", "value": one})
    assert {line["scope"] for line in resumed.json["budgets"] if line["used"]} == (
        {
            budget["scope"]
            for budget in client.items("/v1/budgets", cel="budget.used > 0 && budget.rule == 'by node'")
        }
    )
    assert one not in {line["scope"] for line in resumed.json["budgets"] if line["stoppedAt"]}
    (entry,) = [entry for entry in client.items("/v1/audit") if entry["action"] == "resume"]
    assert entry["name"] == "own/by node"
    refused = client.post("/v1/budgets/resume", {"rule": "by node", "value": "node-99"})
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, "value")
    assert "allowed are node-1" in refused.json["errors"][0]["message"]


def test_a_rollout_that_failures_have_stopped_is_among_the_budgets(client: Client) -> None:
    _by_node(client, gradualRollout={"timeScaleInterval": 0, "stopAfterFailures": 1})
    _vote(client)
    fleet.finish(client, fleet.jobs(client, 3)[0], "failure")
    (line,) = until(lambda: client.items("/v1/budgets", cel="budget.kind == 'gradualRollout'"))
    assert (line["policy"], line["rule"], line["scope"]) == ("own", "by node", "api/v1")
    assert (line["limit"], line["used"]) == (0, 1)
    assert line["stoppedAt"] is not None
    told = [one for one in client.items("/v1/events") if one["type"] == "budget.stopped"]
    assert [one["name"] for one in told] == ["own/by node"]
    refused = client.post("/v1/budgets/resume", {"rule": "by node", "environment": "prod"})
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, "environment")
    assert client.post("/v1/budgets/resume", {"rule": "by node"}).json["budgets"] == []
    assert client.items("/v1/budgets", cel="budget.kind == 'gradualRollout'") == []


@pytest.mark.parametrize(
    "body",
    [
        {"rule": "few", "value": "node-1"},
        {"rule": "yes"},
        {"rule": "none"},
        {"rule": "few", "environment": "qa"},
        {"rule": "few", "policy": "no"},
    ],
)
def test_only_failure_budgets_are_resumed(client: Client, body: dict[str, str]) -> None:
    assert client.post("/v1/budgets/resume", body).status == 422


def test_skips_and_resuming_need_their_permissions(server: Server) -> None:
    deployer = server.client("dee:deployer@default")
    assert deployer.post("/v1/skips", {"rule": "yes", "reason": "r"}).status == 403
    assert deployer.post("/v1/budgets/resume", {"rule": "few"}).status == 403
