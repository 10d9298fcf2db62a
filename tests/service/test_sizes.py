"""One object has a bound, whichever way it comes; and what is in the audit log has another."""

from __future__ import annotations

from typing import Any

import pytest

from .client import Answer, Client
from .fleet import manifest, resource

LONG = "x" * (1024 * 1024)
HALF = "x" * (600 * 1024)


def _refused(answer: Answer, path: str) -> None:
    assert answer.status == 422, answer
    assert [one["path"] for one in answer.json["errors"]] == [path]
    assert "allowed are 1,048,576 for one object" in answer.sentences


@pytest.mark.parametrize(
    ("kind", "collection", "field", "body"),
    [
        ("Resource", "resources", "config", {"kind": "Node", "config": {"a": LONG}}),
        ("Environment", "environments", "metadata", {"metadata": {"a": LONG}}),
        ("Deployment", "deployments", "jobAgentConfig", {"jobAgentConfig": {"inputs": {"a": LONG}}}),
        ("JobAgent", "job-agents", "config", {"config": {"a": LONG}}),
        ("Policy", "policies", "metadata", {"rules": [], "metadata": {"a": LONG}}),
        ("VariableSet", "variables", "variables", {"variables": {"a": LONG}}),
        ("Signal", "signals", "value", {"value": [LONG]}),
        ("Freeze", "freezes", "reason", {"reason": LONG}),
    ],
)
def test_an_object_of_any_kind(
    client: Client, kind: str, collection: str, field: str, body: dict[str, Any]
) -> None:
    _refused(client.call("POST", f"/v1/{collection}", {"name": "large", **body}), field)
    _refused(client.call("PUT", f"/v1/{collection}/large", body), field)
    applied = client.call("POST", "/v1/apply", {"manifests": [manifest(kind, "large", **body)]})
    _refused(applied, f"manifests[0].spec.{field}")
    assert client.get(f"/v1/{collection}")["items"] == []


def test_a_version_a_set_and_what_grows_little_by_little(client: Client) -> None:
    client.apply(manifest("Deployment", "api"), resource("node-1", variables={"a": HALF}))
    body = {"tag": "v1", "config": {"a": LONG}}
    _refused(client.call("POST", "/v1/deployments/api/versions", body), "config")
    _refused(client.call("PUT", "/v1/resources/node-1/variables/b", {"value": HALF}), "variables")
    _refused(client.call("PATCH", "/v1/resources/node-1", {"config": {"b": HALF}}), "config")
    given = {"provider": "p", "resources": [{"name": "node-2", "kind": "Node", "config": {"a": LONG}}]}
    _refused(client.call("PUT", "/v1/resources/set", given), "resources[0].config")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/approvals", {"deployment": "api", "tag": "v1", "environment": "prod", "status": "approved"}),
        ("/v1/skips", {"rule": "approval[0]"}),
        ("/v1/deployments/api/versions/v1/reject", {}),
        ("/v1/workloads/east%2Fdefault%2Fllm/pause", {}),
        ("/v1/workloads/east%2Fdefault%2Fllm/partition", {"partition": 1}),
    ],
)
def test_a_reason_has_a_bound_wherever_it_is_given(client: Client, path: str, body: dict[str, Any]) -> None:
    client.apply(manifest("Environment", "prod"), manifest("Deployment", "api"))
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    answer = client.call("POST", path, {**body, "reason": "x" * 2_001})
    assert answer.status == 422, answer
    assert "reason: is too long: 2001, allowed are 2000" in answer.sentences
    assert client.get("/v1/approvals")["items"] == client.get("/v1/skips")["items"] == []
    assert client.get("/v1/deployments/api/versions/v1")["status"] == "ready"


def test_the_audit_log_has_the_digest_of_what_is_long(client: Client) -> None:
    client.expect(201, "PUT", "/v1/signals/load", {"value": {"a": HALF, "b": 1}, "metadata": {"c": "d"}})
    client.expect(200, "PUT", "/v1/signals/load", {"value": {"a": HALF, "b": 2}, "metadata": {"c": "d"}})
    answer = client.expect(200, "GET", "/v1/audit")
    assert len(answer.body) < 10_000
    newest = next(one for one in answer.json["items"] if one["kind"] == "Signal")
    before, after = newest["before"]["spec"], newest["after"]["spec"]
    assert (before["value"]["b"], after["value"]["b"], after["metadata"]) == (1, 2, {"c": "d"})
    assert before["value"]["a"] == after["value"]["a"]
    assert after["value"]["a"]["bytes"] == len(HALF) + 2
