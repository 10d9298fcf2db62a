"""Sets of providers, and single variables."""

from __future__ import annotations

import pytest

from api.routes import fleet
from api.routes.server import Client


def _set(client: Client, *resources: dict[str, object], provider: str = "cloud") -> dict[str, list[str]]:
    response = client.put("/v1/resources/set", {"provider": provider, "resources": list(resources)})
    assert response.status == 200, response.body
    found: dict[str, list[str]] = response.json
    return found


def test_a_provider_has_exactly_what_it_handed_in(client: Client) -> None:
    fleet.put(client, "resources", "by-hand")
    first = _set(client, {"name": "a"}, {"name": "b", "kind": "Node"})
    second = _set(client, {"name": "b", "kind": "Server"}, {"name": "c"}, {"name": "d"})
    third = _set(client, {"name": "c"}, {"name": "d"}, {"name": "b", "kind": "Server"})
    assert first == {"created": ["a", "b"], "updated": [], "deleted": [], "unchanged": [], "adopted": []}
    assert second == {
        "created": ["c", "d"],
        "updated": ["b"],
        "deleted": ["a"],
        "unchanged": [],
        "adopted": [],
    }
    assert third == {"created": [], "updated": [], "deleted": [], "unchanged": ["b", "c", "d"], "adopted": []}
    assert [item["name"] for item in client.items("/v1/resources")] == ["b", "by-hand", "c", "d"]
    assert client.get("/v1/resources/b").json["metadata"] == {"headgate/provider": "cloud"}


def test_providers_leave_each_other_alone(client: Client) -> None:
    _set(client, {"name": "a"})
    _set(client, {"name": "b"}, provider="other")
    response = client.put(
        "/v1/resources/set", {"provider": "other", "resources": [{"name": "b"}, {"name": "a"}]}
    )
    assert response.status == 422
    assert response.json["errors"] == [
        {"path": "resources[1].name", "message": "is 'a', which belongs to the provider cloud"}
    ]


def test_a_set_with_a_flaw_is_refused_as_a_whole(client: Client) -> None:
    _set(client, {"name": "a"})
    resources = [{"name": "b"}, {"name": "c", "kind": 3}, {"kind": "Node"}, {"name": "b"}]
    response = client.put("/v1/resources/set", {"provider": "cloud", "resources": resources})
    assert [error["path"] for error in response.json["errors"]] == [
        "resources[1].kind",
        "resources[2].name",
        "resources[3].name",
    ]
    assert [item["name"] for item in client.items("/v1/resources")] == ["a"]


def test_what_the_engine_refuses_undoes_the_whole_set(client: Client) -> None:
    fleet.put(client, "resources", "by-hand", identifier="i-1")
    _set(client, {"name": "a"})
    resources = [{"name": "b"}, {"name": "c", "identifier": "i-1"}]
    response = client.put("/v1/resources/set", {"provider": "cloud", "resources": resources})
    assert [error["path"] for error in response.json["errors"]] == ["resources[1].identifier"]
    assert [item["name"] for item in client.items("/v1/resources")] == ["a", "by-hand"]


def test_an_identifier_may_move_to_another_name(client: Client) -> None:
    _set(client, {"name": "a", "identifier": "i-1"})
    assert _set(client, {"name": "b", "identifier": "i-1"})["created"] == ["b"]


@pytest.mark.parametrize("owner", ["resources/node-1", "deployments/api"])
def test_a_variable_is_set_and_taken_away(client: Client, owner: str) -> None:
    fleet.make(client, nodes=1)
    path = f"/v1/{owner}/variables/size"
    assert client.put(path, {"value": {"cpu": 2}}).json == {"key": "size", "value": {"cpu": 2}}
    assert "size" in client.get(f"/v1/{owner}").json["variables"]
    assert client.delete(path).status == 204
    assert client.delete(path).status == 404
    assert client.get(f"/v1/{owner}").json["variables"] == {}


def test_the_default_of_a_deployment_variable_is_set_and_its_values_stay(client: Client) -> None:
    values = [{"value": 9, "resourceSelector": "true"}]
    fleet.put(client, "deployments", "api", variables={"size": {"default": 1, "values": values}})
    client.put("/v1/deployments/api/variables/size", {"value": 2})
    found = client.get("/v1/deployments/api").json["variables"]["size"]
    assert (found["default"], found["values"][0]["value"]) == (2, 9)


def test_a_variable_must_have_a_value(client: Client) -> None:
    fleet.make(client, nodes=1)
    assert client.put("/v1/resources/node-1/variables/size", {"value": None}).status == 422
    assert client.put("/v1/resources/node-1/variables/size", {}).status == 422
    assert client.put("/v1/resources/node-1/variables/%20", {"value": 1}).status == 422
    assert client.put("/v1/resources/node-9/variables/size", {"value": 1}).status == 404


@pytest.mark.parametrize("count", [3, 120])
def test_an_id_that_is_brought_twice_is_refused_before_anything_is_stored(client: Client, count: int) -> None:
    resources: list[dict[str, object]] = [{"name": f"r{number}"} for number in range(count)]
    resources[0]["id"] = resources[-1]["id"] = "11111111-1111-4111-8111-111111111111"
    twice = client.put("/v1/resources/set", {"provider": "cloud", "resources": resources})
    resources[-1] = {"name": resources[0]["id"]}
    named = client.put("/v1/resources/set", {"provider": "cloud", "resources": resources})
    assert [one.json["errors"][0]["path"] for one in (twice, named)] == [
        f"resources[{count - 1}].id",
        f"resources[{count - 1}].name",
    ]
    assert (twice.status, named.status, client.items("/v1/resources")) == (422, 422, [])
