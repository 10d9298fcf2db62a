"""What people do with what there is can be looked at before it is done, and says afterwards why it was."""

from typing import Any

from . import fleet, waiting
from .client import Client
from .conftest import new_workspace
from .server import Server


def running(server: Server, *tags: str, rules: tuple[dict[str, Any], ...] = ()) -> Client:
    """Three targets that have run these versions, one after the other."""
    client = new_workspace(server)
    client.apply(
        fleet.manifest("JobAgent", "local", type="exec", config={"command": "true"}),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        *(fleet.resource(f"node-{number}") for number in range(3)),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="local"),
        fleet.manifest("Policy", "careful", rules=list(rules)),
    )
    for tag in tags:
        client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": tag})
        waiting.until(lambda wanted=tag: set(versions(client)) == {wanted}, 120)
    return client


def versions(client: Client) -> list[str]:
    return [one["current"] for one in client.get("/v1/release-targets", seconds=120)["items"]]


def planned(client: Client, **wish: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.expect(200, "POST", "/v1/plan", wish).json
    return found


def test_an_order_is_planned_for_those_it_names(server: Server) -> None:
    client = running(server, "v1", "v2")
    order = {"action": "rollback", "deployment": "api", "environment": "prod", "resources": ["node-1"]}
    found = planned(client, orders=[order])
    assert [(job["resource"], job["version"]) for job in found["jobs"]] == [("node-1", "v1")]
    assert set(versions(client)) == {"v2"}
    again = {**order, "action": "redeploy", "resources": [], "selector": "resource.name != 'node-1'"}
    assert {job["resource"] for job in planned(client, orders=[again])["jobs"]} == {"node-0", "node-2"}


def test_an_order_that_would_be_refused_says_so(server: Server) -> None:
    client = running(server, "v1")
    order = {"action": "rollback", "deployment": "api", "environment": "prod", "resources": ["node-1"]}
    found = planned(client, orders=[order])
    assert found["jobs"] == []
    assert "no previous version to go back to" in str(found["rejected"])


def test_a_vote_a_skip_and_a_withdrawal_are_planned(server: Server) -> None:
    client = running(server, rules=({"name": "somebody says yes", "approval": {"minApprovals": 1}},))
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    vote = {"deployment": "api", "tag": "v1", "environment": "prod", "status": "approved"}
    assert planned(client)["jobs"] == []
    assert len(planned(client, approvals=[vote])["jobs"]) == 3
    skip = {"rule": "somebody says yes", "reason": "an emergency", "resource": "node-1"}
    assert [job["resource"] for job in planned(client, skips=[skip])["jobs"]] == ["node-1"]
    paused = {"deployment": "api", "tag": "v1", "status": "paused"}
    assert planned(client, approvals=[vote], statuses=[paused])["jobs"] == []
    assert client.get("/v1/approvals")["items"] == []


def test_a_rule_without_a_name_is_skipped_by_its_label(server: Server) -> None:
    client = running(server, rules=({"approval": {"minApprovals": 1}}, {"approval": {"minApprovals": 2}}))
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    explained = client.get("/v1/release-targets/api/prod/node-1/explain")["rules"]
    labels = [rule["rule"] for rule in explained if rule["type"] == "approval"]
    assert labels == ["approval[0]", "approval[1]"]
    wanted = [{"rule": label, "policy": "careful", "reason": "r", "resource": "node-1"} for label in labels]
    assert [job["resource"] for job in planned(client, skips=wanted)["jobs"]] == ["node-1"]
    made = [client.expect(201, "POST", "/v1/skips", skip).json for skip in wanted]
    assert [skip["ruleName"] for skip in made] == labels
    client.expect(200, "DELETE", f"/v1/skips/{made[0]['id']}")


def test_why_it_was_ordered_is_in_the_audit_log(server: Server) -> None:
    client = running(server, "v1", "v2")
    one = "/v1/release-targets/api/prod/node-1/rollback"
    client.expect(200, "POST", one, {"reason": "it is slow"})
    many = {"environment": "prod", "selector": "resource.name == 'node-2'", "reason": "as slow"}
    client.expect(200, "POST", "/v1/deployments/api/redeploy", many)
    kept = [entry["after"]["reason"] for entry in client.get("/v1/audit")["items"][:2]]
    assert sorted(kept) == ["as slow", "it is slow"]


def test_a_vote_that_is_taken_back_and_a_skip_that_ends_are_planned(server: Server) -> None:
    client = running(server, rules=({"name": "yes", "approval": {"minApprovals": 1}},))
    client.expect(201, "POST", "/v1/freezes", {"name": "stop", "reason": "nothing starts yet"})
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    skip = {"rule": "yes", "policy": "careful", "resource": "node-1", "reason": "an emergency"}
    made = client.expect(201, "POST", "/v1/skips", skip).json
    thaw = {"deletions": [{"kind": "Freeze", "name": "stop"}]}
    assert [job["resource"] for job in planned(client, **thaw)["jobs"]] == ["node-1"]
    assert planned(client, **thaw, endedSkips=[made["id"]])["jobs"] == []
    vote = {"deployment": "api", "tag": "v1", "environment": "prod"}
    client.expect(200, "POST", "/v1/approvals", {**vote, "status": "approved"})
    assert len(planned(client, **thaw)["jobs"]) == 3
    found = planned(client, **thaw, approvals=[{**vote, "status": "withdrawn"}])
    assert [job["resource"] for job in found["jobs"]] == ["node-1"]
    [refused] = planned(client, endedSkips=["nobody"])["rejected"]
    assert "there is no skip nobody" in str(refused)
