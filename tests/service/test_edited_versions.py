"""A version that is edited after people allowed it: what they allowed was what they saw."""

from __future__ import annotations

from typing import Any

from .client import Client
from .fleet import manifest

VOTE = {"deployment": "api", "tag": "v1", "environment": "prod", "status": "approved"}


def _approved(client: Client) -> None:
    """By one of two people, so that nothing starts."""
    client.apply(
        manifest("Resource", "node-1", kind="Node"),
        manifest("Environment", "prod", resourceSelector="true"),
        manifest("Deployment", "api", resourceSelector="true"),
        manifest(
            "Policy",
            "careful",
            rules=[
                {"name": "eyes", "approval": {"minApprovals": 2}},
                {"name": "never", "gate": {"when": ["false"]}},
            ],
        ),
    )
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1", "config": {"image": "good"}})
    client.expect(200, "POST", "/v1/approvals", VOTE)
    client.expect(
        201, "POST", "/v1/skips", {"rule": "never", "deployment": "api", "tag": "v1", "reason": "urgent"}
    )


def _events(client: Client) -> list[str]:
    found: list[dict[str, Any]] = client.expect(
        200, "GET", "/v1/events", headers={"Accept": "application/json"}, after=0, limit=1000
    ).json["items"]
    return [one["type"] for one in found]


def test_an_edit_of_the_content_ends_approvals_and_skips_and_asks_again(client: Client) -> None:
    _approved(client)
    client.expect(200, "PATCH", "/v1/deployments/api/versions/v1", {"config": {"image": "other"}})
    assert client.get("/v1/approvals")["items"] == []
    assert client.get("/v1/skips")["items"] == []
    types = _events(client)
    assert types.count("approval.requested") == 2
    assert types.count("approval.ended") == 1
    assert types.count("skip.ended") == 1
    entry = next(one for one in client.get("/v1/audit")["items"] if one["action"] == "end")
    assert "config" in str(entry["after"])


def test_by_a_manifest_too(client: Client) -> None:
    _approved(client)
    client.apply(
        manifest("Version", "api/v1", deployment="api", tag="v1", dependencies={}, config={"image": 2})
    )
    assert client.get("/v1/approvals")["items"] == []


def test_other_fields_end_nothing(client: Client) -> None:
    _approved(client)
    client.expect(
        200, "PATCH", "/v1/deployments/api/versions/v1", {"message": "fine", "metadata": {"a": "b"}}
    )
    assert len(client.get("/v1/approvals")["items"]) == 1
    assert len(client.get("/v1/skips")["items"]) == 1


def test_a_no_stays(client: Client) -> None:
    _approved(client)
    client.expect(200, "POST", "/v1/approvals", {**VOTE, "status": "rejected"})
    client.expect(200, "PATCH", "/v1/deployments/api/versions/v1", {"config": {"image": "other"}})
    assert [vote["status"] for vote in client.get("/v1/approvals")["items"]] == ["rejected"]


def test_what_has_run_is_not_edited(client: Client) -> None:
    """A redeploy or a way back asks nobody again, so under the same tag it must bring the same."""
    client.apply(
        manifest("Resource", "node-1", kind="Node"),
        manifest("Environment", "prod", resourceSelector="true"),
        manifest("Deployment", "api", resourceSelector="true"),
    )
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1", "config": {"image": "good"}})
    refused = client.expect(
        422, "PATCH", "/v1/deployments/api/versions/v1", {"config": {"image": "other"}}
    ).json["errors"]
    assert [one["path"] for one in refused] == ["config"]
    assert "api v1 has run on api/prod/node-1; publish another tag" in refused[0]["message"]
    assert client.get("/v1/deployments/api/versions/v1")["config"] == {"image": "good"}
    client.expect(200, "PATCH", "/v1/deployments/api/versions/v1", {"message": "fixes the login"})
