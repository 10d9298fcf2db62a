"""A selector that takes long of every target is refused before the engine, and everybody with it, works on it."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client
from headgate.api import selecting

LONG = "resource.config.l.all(i, resource.config.l.all(j, i + j >= 0))"
"""Quick where there is nothing, which is how an expression by itself is judged."""


@pytest.fixture(autouse=True)
def made(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.make(client, nodes=3)
    for number in range(1, 4):
        client.patch(f"/v1/resources/node-{number}", {"config": {"l": list(range(40))}})
    monkeypatch.setattr(selecting, "MOST_STEPS", 10_000)


def ways(selector: str) -> list[tuple[str, str, Any, str]]:
    freeze = {
        "apiVersion": "headgate.dev/v1",
        "kind": "Freeze",
        "metadata": {"name": "applied"},
        "spec": {"reason": "a rehearsal", "selector": selector},
    }
    order = {"environment": "prod", "selector": selector, "version": "v1", "dryRun": True}
    return [
        ("POST", "/v1/deployments/api/adopt", order, "selector"),
        ("POST", "/v1/freezes", {"name": "made", "reason": "a rehearsal", "selector": selector}, "selector"),
        ("PUT", "/v1/freezes/put", {"reason": "a rehearsal", "selector": selector}, "selector"),
        ("PATCH", "/v1/environments/prod", {"resourceSelector": selector}, "resourceSelector"),
        (
            "POST",
            "/v1/deployments/api/versions",
            {"tag": "v2", "targetSelector": selector, "status": "building"},
            "targetSelector",
        ),
        ("PATCH", "/v1/deployments/api/versions/v1", {"targetSelector": selector}, "targetSelector"),
        ("POST", "/v1/policies", [{"name": "listed", "selector": selector, "rules": []}], "[0].selector"),
        ("POST", "/v1/apply", {"manifests": [freeze]}, "manifests[0].spec.selector"),
    ]


def test_what_takes_long_of_all_targets_together_is_refused_wherever_it_is_given(client: Client) -> None:
    fleet.publish(client, "v1")
    for method, path, body, place in ways(LONG):
        refused = client.send(method, path, body)
        assert (refused.status, refused.json["errors"][0]["path"]) == (422, place), path
        assert "steps for the 3 re" in refused.json["errors"][0]["message"]


def test_what_has_a_loop_and_takes_little_is_taken(client: Client) -> None:
    fleet.publish(client, "v1")
    for method, path, body, _ in ways("resource.config.l.exists(i, i == 3)"):
        assert client.send(method, path, body).status in (200, 201), path
