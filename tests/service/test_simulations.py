"""Scenarios that are played in the server."""

import contextlib
import copy
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


def test_the_files_of_a_scenario_come_with_it(client: Client) -> None:
    spec = {key: value for key, value in SCENARIO["spec"].items() if key != "objects"}
    document = {**SCENARIO, "spec": {**spec, "files": ["../fleets/nodes.yaml"]}}
    objects = yaml.safe_dump_all(SCENARIO["spec"]["objects"])
    body = {"scenario": yaml.safe_dump(document), "files": {"nodes.yaml": objects}}
    assert client.expect(200, "POST", "/v1/simulate", body).json["scenario"] == SCENARIO["metadata"]["name"]
    refused = client.call("POST", "/v1/simulate", {**body, "files": {"others.yaml": objects}})
    assert refused.status == 422
    assert "it was not given together with the scenario" in refused.body.decode()


@pytest.mark.parametrize("text", ["", "a: [", "x" * 1_100_000, "kind: Scenario", "a: 1", "\x00", "&a [*a]"])
def test_what_is_no_scenario_is_refused(client: Client, text: str) -> None:
    assert client.call("POST", "/v1/simulate", {"scenario": text}).status == 422


def test_a_run_without_end_is_cut_by_until(client: Client) -> None:
    assert simulated(client, SCENARIO, until="+30s")["wasCut"]
    refused = client.call("POST", "/v1/simulate", {"scenario": yaml.safe_dump(SCENARIO), "until": "later"})
    assert refused.status == 422
    assert "until" in refused.body.decode()


def endless() -> dict[str, Any]:
    """What is expected of it takes hours to find out, a bounded step at a time."""
    long = "true"
    for variable in "abcdefgh":
        long = f"[1, 2, 3, 4, 5, 6, 7, 8, 9].all({variable}, {long})"
    document = copy.deepcopy(SCENARIO)
    document["spec"]["expect"] = [{"name": f"number {number}", "that": long} for number in range(500)]
    return document


def test_nobody_waits_for_what_a_stranger_plays_and_leaves(client: Client) -> None:
    viewer = client.token_with("plays", role="viewer")
    simulated(viewer, SCENARIO)
    for _ in range(2):
        with contextlib.suppress(TimeoutError):
            viewer.call("POST", "/v1/simulate", {"scenario": yaml.safe_dump(endless())}, seconds=4)
    client.expect(200, "GET", "/v1/forecast")
    client.expect(200, "POST", "/v1/plan", {"manifests": [fleet.manifest("Resource", "node-1", kind="Node")]})
    assert simulated(client, SCENARIO)["converged"]


def test_what_takes_for_ever_is_given_up(client: Client) -> None:
    answer = client.call("POST", "/v1/simulate", {"scenario": yaml.safe_dump(endless())}, seconds=90)
    assert answer.status == 503
    assert "more than 30 seconds" in answer.sentences
    assert simulated(client, SCENARIO)["converged"]
