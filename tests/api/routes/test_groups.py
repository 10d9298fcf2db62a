from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server, until

BRACKET = {
    "deploymentBracket": {
        "deploymentSelector": "true",
        "readinessMode": "collection_window",
        "readinessWindowSeconds": 60,
        "unchangedMemberStrategy": "skip_unchanged",
        "overlapStrategy": "queue",
    }
}


@pytest.fixture
def group(client: Client, server: Server) -> Any:
    """Executing, with one job."""
    fleet.make(client, nodes=1)
    fleet.put(client, "policies", "together", rules=[{"name": "bracket", **BRACKET}])
    fleet.publish(client, "v1")
    until(lambda: client.items("/v1/groups", status="collecting"))
    server.clock.advance("61s")
    return until(lambda: client.items("/v1/groups", status="executing"))[0]


def test_a_group_tells_its_members_and_its_history(client: Client, group: Any) -> None:
    version = client.get("/v1/versions/api%2Fv1").json["id"]
    member = group["members"][0]
    assert (member["deployment"], member["version"], member["versionId"]) == ("api", "v1", version)
    assert (group["policy"], group["environment"], group["resource"]) == ("together", "prod", "node-1")
    assert group["history"][0]["status"] == "collecting"
    assert client.get(f"/v1/groups/{group['id']}").json == group


def test_groups_are_found_by_what_they_are_about(client: Client, group: Any) -> None:
    assert len(client.items("/v1/groups", policy="together", environment="prod", resource="node-1")) == 1
    assert client.items("/v1/groups", resource="node-9") == []
    assert len(client.items("/v1/groups", cel="group.members.exists(m, m.version == 'v1')")) == 1
    assert fleet.jobs(client)[0]["group"] == group["id"]
    assert len(client.items("/v1/jobs", group=group["id"])) == 1


def test_a_failed_member_is_tried_again(client: Client, group: Any) -> None:
    fleet.finish(client, fleet.jobs(client)[0], "failure")
    until(lambda: client.items("/v1/groups", status="failed"))
    assert client.post(f"/v1/groups/{group['id']}/retry", {}).status == 200
    assert len(fleet.jobs(client, 2)) == 2


def test_a_member_is_skipped_and_the_group_completes(client: Client, group: Any) -> None:
    fleet.finish(client, fleet.jobs(client)[0], "failure")
    until(lambda: client.items("/v1/groups", status="failed"))
    response = client.post(f"/v1/groups/{group['id']}/skip-member", {"member": "api"})
    assert response.json["members"][0]["state"] == "skipped"
    assert until(lambda: client.items("/v1/groups", status="completed"))


def test_a_group_is_aborted_by_name_of_who_asked(client: Client, group: Any) -> None:
    fleet.finish(client, fleet.jobs(client)[0], "failure")
    until(lambda: client.items("/v1/groups", status="failed"))
    assert client.post(f"/v1/groups/{group['id']}/abort").json["reason"] == "aborted by ana"
    assert until(lambda: client.items("/v1/groups", status="aborted"))


def test_a_slot_is_given_back(client: Client, group: Any) -> None:
    assert client.post(f"/v1/groups/{group['id']}/release", {}).json["slotReleased"] is True


def test_what_a_group_is_not_in_a_state_for_is_a_conflict(client: Client, group: Any) -> None:
    assert client.post(f"/v1/groups/{group['id']}/retry", {}).status == 409
    assert client.post(f"/v1/groups/{group['id']}/skip-member", {"member": "api"}).status == 409


def test_a_member_must_be_one_of_the_group(client: Client, group: Any) -> None:
    path = f"/v1/groups/{group['id']}/skip-member"
    unknown = client.post(path, {"member": "web"})
    missing = client.post(path, {})
    assert unknown.json["errors"] == [
        {"path": "member", "message": "is 'web'; allowed are the group's members: api"}
    ]
    assert missing.status == 422


def test_nothing_is_ordered_for_a_group_that_has_ended(client: Client, group: Any) -> None:
    fleet.finish(client, fleet.jobs(client)[0])
    until(lambda: client.items("/v1/groups", status="completed"))
    assert client.post(f"/v1/groups/{group['id']}/abort", {}).status == 409


def test_a_group_that_is_not_there_is_not_found(client: Client) -> None:
    for path in ("nonsense", "5f0c8f1e-6f2b-4c55-9a57-0d6ad0e3a001"):
        assert client.get(f"/v1/groups/{path}").status == 404
        assert client.post(f"/v1/groups/{path}/abort", {}).status == 404


def test_acting_on_a_group_needs_the_permission(server: Server, group: Any) -> None:
    assert server.client("dee:deployer@default").post(f"/v1/groups/{group['id']}/abort", {}).status == 403


def orders(client: Client, group: Any) -> dict[str, str | None]:
    return {one["action"]: one["refusal"] for one in client.get(f"/v1/groups/{group['id']}").json["orders"]}


def test_a_group_says_what_can_be_ordered_and_what_would_be_answered(client: Client, group: Any) -> None:
    found = orders(client, group)
    assert found["abort"] is None
    assert found["release"] is None
    answer = client.post(f"/v1/groups/{group['id']}/retry", {})
    assert (answer.status, answer.json["detail"]) == (409, found["retry"])
    fleet.finish(client, fleet.jobs(client)[0], "failure")
    until(lambda: client.items("/v1/groups", status="failed"))
    assert orders(client, group)["retry"] is None
    assert client.post(f"/v1/groups/{group['id']}/abort", {}).status == 200
    until(lambda: client.items("/v1/groups", status="aborted"))
    assert orders(client, group) == {}
