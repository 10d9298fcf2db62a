"""What can be seen is told row by row: whoever follows a stream and never asks again knows what who asks is answered."""

from __future__ import annotations

from typing import Any

import pytest

from . import fleet, waiting
from .client import Client
from .conftest import new_workspace
from .server import Server
from .streams import Stream


class Seen:
    """A store that a stream patches, as the console has one."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._read = 0
        self.tables: dict[str, dict[str, Any]] = {}
        self.objects: dict[tuple[str, str], Any] = {}
        self.status: dict[str, Any] = {}

    def take(self) -> None:
        for kind, data in self._stream.messages[self._read :]:
            if kind == "state":
                key = {"targets": "name", "groups": "id", "budgets": "name"}
                self.tables = {table: {row[key[table]]: row for row in rows} for table, rows in data.items()}
            elif kind == "changes":
                for change in data:
                    table = self.tables[change["table"]]
                    table.pop(change["name"], None)
                    if change["row"] is not None:
                        table[change["name"]] = change["row"]
            elif kind == "status":
                self.status = data
            elif kind == "objects":
                self.objects |= {(one["kind"], one["name"]): one["object"] for one in data}
        self._read = len(self._stream.messages)

    def object(self, kind: str, name: str) -> Any:
        self.take()
        return self.objects.get((kind, name), {"status": "", "reason": ""})

    def list(self, kind: str, name: str) -> Any:
        """None before it was told."""
        self.take()
        return self.objects.get((kind, name))

    def states(self) -> dict[str, str]:
        self.take()
        return {name: row["state"] for name, row in self.tables.get("targets", {}).items()}

    def counts(self) -> dict[str, int]:
        self.take()
        [deployment] = self.status.get("deployments") or [{"environments": [{"counts": {}}]}]
        found: dict[str, int] = deployment["environments"][0]["counts"]
        return {state: count for state, count in found.items() if count}


def asked(client: Client) -> dict[str, str]:
    return {one["name"]: one["state"] for one in client.get("/v1/release-targets")["items"]}


@pytest.fixture
def client_of(served: Server) -> Client:
    client = new_workspace(served)
    limit = {"groupSelector": "true", "limitType": "count", "limitValue": 1}
    client.apply(
        fleet.manifest("JobAgent", "puller"),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        *(fleet.resource(f"node-{number}") for number in (1, 2, 3)),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="puller"),
        fleet.manifest(
            "Policy", "limit", selector="true", rules=[{"name": "one", "resourceConcurrency": limit}]
        ),
    )
    return client


def test_who_follows_knows_what_who_asks_is_answered(client_of: Client) -> None:
    client = client_of
    viewer = client.token_with("looks-on", role="viewer")
    with Stream(viewer, changes=True) as stream:
        seen = Seen(stream)
        stream.read_on(lambda: seen.states() == dict.fromkeys(asked(client), "noVersion"))
        client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
        stream.read_on(lambda: sorted(seen.states().values()) == ["running", "waiting", "waiting"])
        stream.read_on(lambda: seen.counts() == {"running": 1, "waiting": 2})
        [budget] = seen.tables["budgets"].values()
        assert (budget["used"], budget["limit"]) == (1, 1)
        stream.read_on(lambda: seen.object("Version", "api/v1")["status"] == "ready")

        client.expect(201, "POST", "/v1/freezes", {"name": "stop", "reason": "an incident"})
        stream.read_on(lambda: sorted(seen.states().values()) == ["frozen", "frozen", "running"])
        stream.read_on(lambda: seen.object("Freeze", "stop")["reason"] == "an incident")
        assert client.call("DELETE", "/v1/freezes/stop").status in (200, 204)
        stream.read_on(lambda: sorted(seen.states().values()) == ["running", "waiting", "waiting"])
        stream.read_on(lambda: seen.object("Freeze", "stop") is None)

        [job] = client.expect(
            200, "POST", "/v1/job-agents/puller/claim", {"waitSeconds": 30}, seconds=60
        ).json["jobs"]
        report = {"token": job["claim"]["token"], "status": "successful"}
        client.expect(200, "POST", f"/v1/jobs/{job['job']['id']}/report", report)
        stream.read_on(lambda: sorted(seen.states().values()) == ["running", "upToDate", "waiting"])
        stream.read_on(lambda: "job.successful" in stream.kinds)
        ended = next(data for kind, data in stream.messages if kind == "job.successful")
        assert ended["data"]["completedAt"]
        waiting.until(lambda: asked(client) == seen.states())

        assert client.call("DELETE", "/v1/resources/node-3").status in (200, 204)
        stream.read_on(lambda: len(seen.states()) == 2)


def test_who_follows_is_told_of_every_table(client_of: Client) -> None:
    """Skips, votes of a version that is edited, resources, and the audit log for those who may read it."""
    client = client_of
    approval = {"name": "yes", "approval": {"minApprovals": 2}}
    client.apply(fleet.manifest("Policy", "votes", selector="true", rules=[approval]))
    client.expect(201, "POST", "/v1/freezes", {"name": "stop", "reason": "nothing starts"})
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    with Stream(client, changes=True) as stream:
        seen = Seen(stream)
        stream.read_on(lambda: "state" in stream.kinds)
        skip = {"rule": "yes", "policy": "votes", "resource": "node-1", "reason": "an emergency"}
        made = client.expect(201, "POST", "/v1/skips", skip).json
        stream.read_on(lambda: [one["id"] for one in seen.list("Skip", "") or ()] == [made["id"]])
        assert client.call("DELETE", f"/v1/skips/{made['id']}").status == 200
        stream.read_on(lambda: seen.list("Skip", "") == [])

        vote = {"deployment": "api", "tag": "v1", "environment": "prod", "status": "approved"}
        client.expect(200, "POST", "/v1/approvals", vote)
        stream.read_on(lambda: len(seen.list("Approval", "api/v1/prod") or ()) == 1)
        client.expect(200, "PATCH", "/v1/deployments/api/versions/v1", {"config": {"image": "another"}})
        stream.read_on(lambda: seen.list("Approval", "api/v1") == [])

        client.expect(200, "PATCH", "/v1/resources/node-1", {"metadata": {"zone": "a"}})
        stream.read_on(
            lambda: seen.object("Resource", "node-1").get("metadata", {}).get("zone") == "a",
        )
        entries = [one for (kind, _), one in seen.objects.items() if kind == "AuditEntry"]
        assert client.get("/v1/audit")["items"][: len(entries)] == sorted(
            entries, key=lambda one: -one["seq"]
        )
        assert {one["kind"] for one in entries} == {"Skip", "Approval", "Version", "Resource"}


def test_who_may_not_read_the_audit_log_is_not_told_of_it(client_of: Client) -> None:
    viewer = client_of.token_with("looks-on", role="viewer")
    with Stream(viewer, changes=True) as stream:
        seen = Seen(stream)
        stream.read_on(lambda: "state" in stream.kinds)
        client_of.expect(201, "POST", "/v1/freezes", {"name": "stop", "reason": "an incident"})
        stream.read_on(lambda: seen.object("Freeze", "stop")["reason"] == "an incident")
        assert {kind for kind, _ in seen.objects} == {"Freeze"}
        assert client_of.get("/v1/audit")["items"][0]["kind"] == "Freeze"


def test_who_comes_back_is_given_everything_anew(client_of: Client) -> None:
    with Stream(client_of, changes=True) as stream:
        stream.read_on(lambda: "state" in stream.kinds)
        last = max(stream.ids)
    client_of.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    with Stream(client_of, changes=True, last_event_id=last) as stream:
        seen = Seen(stream)
        stream.read_on(lambda: "running" in seen.states().values())
        assert "version.published" in stream.kinds


def test_who_does_not_ask_for_changes_is_told_of_events_alone(client: Client) -> None:
    with Stream(client) as stream:
        stream.open()
        client.expect(201, "PUT", "/v1/signals/one", {"value": 1})
        stream.read_on(lambda: "signal.applied" in stream.kinds)
        assert stream.kinds == ["signal.applied"]
