"""Scenarios that are played in the server."""

from typing import Any

import pytest
import yaml

from . import fleet
from .client import Client

SCENARIO: dict[str, Any] = {
    "apiVersion": "headgate.dev/v1",
    "kind": "Scenario",
    "metadata": {"name": "three nodes </script><script>alert(1)</script>"},
    "spec": {
        "start": "2026-03-01T09:00:00Z",
        "objects": [
            fleet.manifest("JobAgent", "local", type="exec", config={"command": "true"}),
            fleet.manifest("Environment", "prod", resourceSelector="true"),
            fleet.manifest("Deployment", "kubelet", jobAgent="local", resourceSelector="true"),
            fleet.manifest("Resource", "node-1", kind="Node"),
        ],
        "timeline": [{"at": "+1m", "publish": {"deployment": "kubelet", "tag": "v1"}}],
    },
}


def simulated(client: Client, document: object, **more: Any) -> Any:
    body = {"scenario": yaml.safe_dump(document), **more}
    return client.expect(200, "POST", "/v1/simulate", body).json


def test_a_scenario_is_played_and_nothing_is_kept(client: Client) -> None:
    viewer = client.token_with("only-looks", role="viewer")
    found = simulated(viewer, SCENARIO)
    assert found["converged"]
    assert not found["violations"]
    assert "three nodes" in found["page"]
    assert "<script>alert" not in found["page"]
    assert client.get("/v1/resources")["items"] == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"files": ["/etc/passwd"]}, "does not come from a file"),
        ({"start": "soon"}, "start"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_what_is_wrong_with_a_scenario_is_said(client: Client, change: dict[str, Any], sentence: str) -> None:
    document = {**SCENARIO, "spec": {**SCENARIO["spec"], **change}}
    answer = client.call("POST", "/v1/simulate", {"scenario": yaml.safe_dump(document)})
    assert answer.status == 422
    assert sentence in answer.body.decode()
    assert "root:" not in answer.body.decode()


@pytest.mark.parametrize("text", ["", "a: [", "x" * 1_100_000, "kind: Scenario", "a: 1", "\x00", "&a [*a]"])
def test_what_is_no_scenario_is_refused(client: Client, text: str) -> None:
    assert client.call("POST", "/v1/simulate", {"scenario": text}).status == 422


def test_a_run_without_end_is_cut_by_until(client: Client) -> None:
    assert simulated(client, SCENARIO, until="+30s")["wasCut"]
    refused = client.call("POST", "/v1/simulate", {"scenario": yaml.safe_dump(SCENARIO), "until": "later"})
    assert refused.status == 422
    assert "until" in refused.body.decode()
