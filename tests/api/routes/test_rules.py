"""The rules of a policy as a collection: one is added, replaced or deleted, and the others stay who they are."""

from __future__ import annotations

import pytest

from api.routes import fleet
from api.routes.server import Client

POLICY = "/v1/policies/careful"


@pytest.fixture
def ids(client: Client) -> list[str]:
    """Of three rules, of which the last has no name."""
    rules = [
        {"name": "votes", "approval": {"minApprovals": 2}},
        {"name": "slow", "gradualRollout": {"timeScaleInterval": 60}},
        {"versionCooldown": {"intervalSeconds": 300}},
    ]
    created = client.put(POLICY, {"rules": rules})
    return [rule["id"] for rule in created.json["rules"]]


def rule_ids(client: Client) -> list[str]:
    return [rule["id"] for rule in client.get(POLICY).json["rules"]]


def test_a_rule_is_read_with_its_defaults(client: Client, ids: list[str]) -> None:
    rule = client.get(f"{POLICY}/rules/slow").json
    assert (rule["id"], rule["name"]) == (ids[1], "slow")
    assert rule["gradualRollout"]["rolloutType"] == "linear"
    assert rule["gradualRollout"]["bracketAware"] is True
    assert client.get(POLICY).json["rules"][1] == rule


def test_a_rule_is_added_behind_the_others(client: Client, ids: list[str]) -> None:
    added = client.post(f"{POLICY}/rules", {"retry": {"maxRetries": 1}})
    assert added.status == 201
    assert rule_ids(client) == [*ids, added.json["id"]]


def test_a_rule_is_added_where_it_is_asked_for(client: Client, ids: list[str]) -> None:
    added = client.post(f"{POLICY}/rules", position=1, body={"name": "again", "retry": {"maxRetries": 1}})
    assert rule_ids(client) == [ids[0], added.json["id"], *ids[1:]]


def test_a_rule_is_replaced_and_keeps_its_id(client: Client, ids: list[str]) -> None:
    put = client.put(f"{POLICY}/rules/slow", {"name": "slower", "gradualRollout": {"timeScaleInterval": 600}})
    assert (put.status, put.json["id"]) == (200, ids[1])
    assert {**client.get(f"{POLICY}/rules/slower").json, "concerns": put.json["concerns"]} == put.json
    assert client.get(f"{POLICY}/rules/slow").status == 404


def test_a_rule_is_deleted_and_the_others_keep_their_ids(client: Client, ids: list[str]) -> None:
    assert client.delete(f"{POLICY}/rules/0").status == 200
    assert rule_ids(client) == ids[1:]


def test_a_rule_without_a_name_gets_an_id_that_nobody_has(client: Client, ids: list[str]) -> None:
    client.delete(f"{POLICY}/rules/votes")
    added = client.post(f"{POLICY}/rules", {"versionCooldown": {"intervalSeconds": 1}})
    assert added.status == 201
    assert added.json["id"] not in ids


def test_a_change_of_something_read_before_is_refused(client: Client, ids: list[str]) -> None:
    old = client.get(f"{POLICY}/rules/votes").headers["etag"]
    client.put(f"{POLICY}/rules/votes", {"name": "votes", "approval": {"minApprovals": 3}})
    again = client.put(f"{POLICY}/rules/votes", {"approval": {}}, headers={"If-Match": old})
    assert again.status == 412
    assert client.delete(f"{POLICY}/rules/votes", headers={"If-Match": old}).status == 412


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"approval": {"minApprovals": "x"}}, "approval.minApprovals"),
        ({"name": "slow", "approval": {}}, "name"),
        ({"approval": {}, "gate": {"when": []}}, ""),
        ([], ""),
    ],
)
def test_a_bad_rule_is_named_as_in_the_body_and_nothing_is_stored(
    client: Client, ids: list[str], body: object, path: str
) -> None:
    refused = client.post(f"{POLICY}/rules", body)
    assert refused.status == 422
    assert refused.json["errors"][0]["path"] == path
    assert rule_ids(client) == ids


def test_a_list_of_policies_is_created_whole(client: Client) -> None:
    made = client.post(
        "/v1/policies", [{"name": "a", "rules": []}, {"name": "b", "rules": [{"approval": {}}]}]
    )
    assert made.status == 201
    assert [policy["name"] for policy in made.json] == ["a", "b"]
    assert client.get("/v1/policies/b").json == fleet.plain(made.json[1])


def test_a_list_of_policies_is_refused_whole(client: Client) -> None:
    client.put("/v1/policies/a", {"rules": []})
    refused = client.post("/v1/policies", [{"name": "c", "rules": []}, {"name": "a", "rules": []}])
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, "[1].name")
    refused = client.post("/v1/policies", [{"name": "c", "rules": []}, {"name": "d", "rules": [{"gate": 1}]}])
    assert refused.json["errors"][0]["path"] == "[1].rules[0].gate"
    assert client.get("/v1/policies/c").status == 404


def test_a_rule_has_no_id_of_another_policys(client: Client, ids: list[str]) -> None:
    copied = {"rules": [{"id": ids[0], "name": "alarm", "gate": {"when": ["false"]}}]}
    refused = client.put("/v1/policies/copied", copied)
    assert (refused.status, [one["path"] for one in refused.json["errors"]]) == (422, ["rules[0].id"])
    assert client.get("/v1/policies/copied").status == 404
    assert client.put(POLICY, client.get(POLICY).json).status == 200


def test_ids_that_are_given_stay_with_their_rules(client: Client) -> None:
    first = client.put(POLICY, {"rules": [{"approval": {}}, {"approval": {"minApprovals": 2}}]}).json["rules"]
    a, b = first
    client.put(POLICY, {"rules": [b, a]})
    edited = [
        {"id": a["id"], "approval": {"minApprovals": 3}},
        {"id": b["id"], "approval": {"minApprovals": 4}},
    ]
    back = client.put(POLICY, {"rules": edited}).json["rules"]
    assert [(rule["id"], rule["approval"]["minApprovals"]) for rule in back] == [(a["id"], 3), (b["id"], 4)]
