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


def versions(selector: str) -> list[tuple[str, str, Any, str]]:
    """What a version depends on, which whoever may publish may write."""
    depending = {"base": {"versionSelector": selector}}
    version = {
        "apiVersion": "headgate.dev/v1",
        "kind": "Version",
        "metadata": {"name": "api-v4"},
        "spec": {"deployment": "api", "tag": "v4", "dependencies": depending},
    }
    place = "dependencies.base.versionSelector"
    return [
        ("POST", "/v1/deployments/api/versions", {"tag": "v2", "dependencies": depending}, place),
        ("POST", "/v1/deployments/api/versions", {"tag": "v3", "dependencies": {"base": selector}}, place),
        ("PATCH", "/v1/deployments/api/versions/v1", {"dependencies": depending}, place),
        ("POST", "/v1/apply", {"manifests": [version]}, f"manifests[0].spec.{place}"),
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


@pytest.mark.parametrize("is_published", [True, False])
def test_what_a_version_depends_on_is_refused_if_it_takes_long(client: Client, is_published: bool) -> None:
    """Whatever runs there, and also where nothing does yet."""
    fleet.publish(client, "v1")
    spec = {"name": "base", "resourceSelector": "true"}
    assert client.post("/v1/deployments", spec).status == 201
    if is_published:
        assert client.post("/v1/deployments/base/versions", {"tag": "b1"}).status == 201
    for method, path, body, place in versions(f"version.tag != '' && {LONG}"):
        refused = client.send(method, path, body)
        assert (refused.status, refused.json["errors"][0]["path"]) == (422, place), path
        assert "steps for the 3 release targets; make it simpler" in refused.json["errors"][0]["message"]
    for method, path, body, _ in versions("version.tag.startsWith('b') && [1, 2].exists(i, i == 2)"):
        assert client.send(method, path, body).status in (200, 201), path


def test_all_that_a_version_depends_on_has_one_bound(client: Client) -> None:
    names = [f"base-{number}" for number in range(20)]
    for name in names:
        assert client.post("/v1/deployments", {"name": name, "resourceSelector": "true"}).status == 201
    selector = "resource.config.l.all(i, i >= 0) && resource.config.l.all(i, i < 999)"
    taken = {"tag": "v1", "dependencies": {names[0]: selector}}
    assert client.post("/v1/deployments/api/versions", taken).status == 201
    refused = client.post(
        "/v1/deployments/api/versions", {"tag": "v2", "dependencies": dict.fromkeys(names, selector)}
    )
    assert refused.status == 422
    assert "make it simpler" in refused.json["errors"][0]["message"]
