"""What the process that answers finds wrong with itself, and the clock that can be repaired."""

from __future__ import annotations

from . import fleet
from .server import Server


def _found(server: Server, who: str = "ana:admin@*") -> dict[str, list[str]]:
    checks = server.client(who).get("/v1/checks").json["checks"]
    return {one["name"]: [problem["message"] for problem in one["problems"]] for one in checks}


def test_every_check_is_named_and_right_at_first(server: Server) -> None:
    checks = server.client().get("/v1/checks").json["checks"]
    assert [(one["name"], one["status"], one["count"]) for one in checks] == [
        ("database", "ok", 0),
        ("disk", "ok", 0),
        ("divergence", "ok", 0),
        ("clock", "ok", 0),
        ("queue", "ok", 0),
        ("units", "ok", 0),
    ]


def test_what_is_wrong_in_a_workspace_is_told_to_those_who_see_it(server: Server) -> None:
    server.service.health.wrong("clock", "a day ahead", "team")
    assert _found(server)["clock"] == ["a day ahead"]
    assert _found(server, "bob:viewer@elsewhere")["clock"] == []


def test_a_workspace_that_is_ahead_refuses_writes_naming_the_clock_and_can_be_taken_back(
    server: Server,
) -> None:
    client = server.client()
    fleet.make(client)
    server.clock.advance("1d")
    assert client.put("/v1/signals/alarm", {"value": 1}).status in (200, 201)
    server.clock.now -= 86_400_000_000 - 5_000_000
    refused = client.put("/v1/signals/alarm", {"value": 2})
    assert (refused.status, refused.headers["retry-after"]) == (503, "2")
    assert "ahead of the clock of this machine" in refused.json["detail"]
    target = client.get("/v1/release-targets").json["items"][0]["name"]
    explained = client.get(f"/v1/release-targets/{target.replace('/', '%2F')}/explain").json
    assert "ahead of the clock" in explained["warnings"][0]
    assert server.client("eve:operator@*").post("/v1/workspaces/default/repair-clock").status == 403
    repaired = client.post("/v1/workspaces/default/repair-clock")
    assert repaired.status == 200
    assert repaired.json["was"] > repaired.json["now"]
    assert client.put("/v1/signals/alarm", {"value": 2}).status == 200
    again = client.post("/v1/workspaces/default/repair-clock")
    assert (again.status, "nothing to repair" in again.json["detail"]) == (422, True)


def test_how_long_history_is_kept_can_be_set_by_workspace(server: Server) -> None:
    client = server.client()
    place = "/v1/workspaces/default/retention"
    assert client.get(place).json["jobs"] == {"days": 365.0, "count": 1_000_000}
    assert client.put(place, {"legalHold": True, "events": {"days": 7, "count": 1_000}}).status == 200
    found = client.get(place).json
    assert (found["legalHold"], found["events"]) == (True, {"days": 7.0, "count": 1_000})
    assert client.get("/v1/audit").json["items"][0]["kind"] == "Retention"
    refused = client.put(place, {"events": {"days": 0, "count": 5}})
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, "events.days")
    assert server.client("eve:operator@default").put(place, {}).status == 403


def test_a_workspace_under_a_legal_hold_cannot_be_deleted(server: Server) -> None:
    client = server.client()
    client.post("/v1/workspaces", {"name": "team"})
    client.put("/v1/workspaces/team/retention", {"legalHold": True})
    refused = client.delete("/v1/workspaces/team")
    assert (refused.status, refused.json["title"]) == (409, "The workspace is under a legal hold")
    client.put("/v1/workspaces/team/retention", {})
    assert client.delete("/v1/workspaces/team").status == 204
