"""Every act says whom it concerns; what concerns nobody is refused, unless it is forced."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server

NODES = ["api/prod/node-1", "api/prod/node-2"]
NOBODY = "resource.name == 'node-9'"
IMPOSSIBLE = "resource.metadata['region'] == 'eu'"


def concerns(answer: Any) -> tuple[int, list[str], str | None]:
    found = answer.json["concerns"]
    return found["targets"], found["sample"], found["note"]


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    fleet.make(client)


def versions(client: Client, tag: str, selector: str | None = None, **query: Any) -> Any:
    return client.post("/v1/deployments/api/versions", {"tag": tag, "targetSelector": selector}, **query)


def test_publishing_says_whom_the_version_is_for(client: Client) -> None:
    assert concerns(versions(client, "v1")) == (2, NODES, None)
    assert concerns(versions(client, "v2", "resource.name == 'node-2'")) == (1, NODES[1:], None)


def test_the_targets_of_a_version_are_those_in_its_scope(client: Client) -> None:
    versions(client, "v1", "resource.name == 'node-2'")
    path = "/v1/release-targets"
    assert [one["name"] for one in client.items(path, deployment="api", version="v1")] == NODES[1:]
    assert client.get("/v1/deployments/api/explain", version="v1").json["targets"] == 1
    assert client.get("/v1/deployments/api/explain").json["targets"] == 2
    assert client.get(path, version="v1").status == 422
    assert client.get(path, deployment="api", version="v9").status == 404


def test_a_scope_that_fails_on_some_says_so(client: Client) -> None:
    fleet.put(client, "resources", "node-2", kind="Node", metadata={"region": "eu"})
    assert concerns(versions(client, "v1", IMPOSSIBLE)) == (
        2,
        NODES,
        "targetSelector fails on 1 of them, which keep the version",
    )


def test_at_most_five_are_named(client: Client) -> None:
    for number in range(3, 9):
        fleet.put(client, "resources", f"node-{number}", kind="Node")
    count, sample, _ = concerns(versions(client, "v1"))
    assert (count, sample) == (8, [f"api/prod/node-{number}" for number in range(1, 6)])


def test_a_freeze_and_a_policy_say_whom_they_concern(client: Client) -> None:
    fleet.put(client, "environments", "qa", resourceSelector=NOBODY)
    freeze = client.post(
        "/v1/freezes", {"name": "f", "reason": "x", "selector": "environment.name == 'prod'"}
    )
    everything = client.post("/v1/freezes", {"name": "g", "reason": "x"})
    policy = client.put("/v1/policies/p", {"rules": [], "selector": "resource.name == 'node-1'"})
    off = client.patch("/v1/policies/p", {"enabled": False})
    on = client.patch("/v1/policies/p", {"enabled": True})
    mixed = client.put(
        "/v1/policies/q", {"rules": [], "selector": "resource.name == 'node-2' && deployment.name == 'api'"}
    )
    assert concerns(freeze) == concerns(everything) == (2, NODES, None)
    assert concerns(policy) == concerns(on) == (1, NODES[:1], None)
    assert concerns(off) == (0, [], None)
    assert concerns(mixed) == (1, NODES[1:], None)


def test_environments_and_deployments_say_their_targets(client: Client) -> None:
    assert concerns(client.patch("/v1/environments/prod", {"metadata": {"a": "b"}})) == (2, NODES, None)
    assert concerns(client.patch("/v1/deployments/api", {"metadata": {"a": "b"}})) == (2, NODES, None)


@pytest.mark.parametrize("selector", [NOBODY, IMPOSSIBLE])
@pytest.mark.parametrize(
    ("method", "path", "field", "more"),
    [
        ("POST", "/v1/deployments/api/versions", "targetSelector", {"tag": "v1"}),
        ("POST", "/v1/freezes", "selector", {"name": "f", "reason": "x"}),
        ("POST", "/v1/policies", "selector", {"name": "p", "rules": []}),
        ("PUT", "/v1/policies/p", "selector", {"rules": []}),
        ("PUT", "/v1/variables/v", "selector", {"variables": {}}),
    ],
)
def test_a_selector_that_concerns_nobody_is_refused_unless_forced(
    client: Client, method: str, path: str, field: str, more: dict[str, Any], selector: str
) -> None:
    call = client.post if method == "POST" else client.put
    refused = call(path, {field: selector, **more})
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, field)
    message = refused.json["errors"][0]["message"]
    says = (
        "matches none of the 2 release targets"
        if selector == NOBODY
        else "fails on all of the 2 release targets: "
    )
    assert message.startswith(says)
    assert message.endswith("; if that is meant, give force")
    assert call(path, {field: selector, **more}, force="true").status == 201


def test_nobody_is_meant_where_the_selector_reads_nothing_or_nobody_is_there(client: Client) -> None:
    assert client.post("/v1/freezes", {"name": "f", "reason": "x", "selector": "false"}).status == 201
    for number in (1, 2):
        client.delete(f"/v1/resources/node-{number}")
    assert client.post("/v1/policies", {"name": "p", "rules": [], "selector": NOBODY}).status == 201
    assert versions(client, "v1", NOBODY).status == 201


def test_what_matches_nobody_already_is_not_refused_for_another_change(client: Client) -> None:
    client.post("/v1/policies", {"name": "p", "rules": [], "selector": NOBODY}, force="true")
    assert client.patch("/v1/policies/p", {"priority": 3}).status == 200
    versions(client, "v1", NOBODY, force="true")
    assert client.patch("/v1/versions/api%2Fv1", {"status": "paused"}).status == 200


def test_a_policy_that_is_switched_on_is_asked_about(client: Client) -> None:
    off = {"name": "p", "rules": [], "selector": NOBODY, "enabled": False}
    assert client.post("/v1/policies", off).status == 201
    assert client.patch("/v1/policies/p", {"enabled": True}).status == 422


@pytest.mark.parametrize("path", ["/v1/environments/prod", "/v1/deployments/api"])
def test_a_selector_that_would_end_every_target_is_refused_unless_forced(client: Client, path: str) -> None:
    refused = client.patch(path, {"resourceSelector": NOBODY})
    assert refused.status == 422
    name = path.rpartition("/")[2]
    assert refused.json["errors"][0] == {
        "path": "resourceSelector",
        "message": f"leaves none of the 2 release targets of {name}; if that is meant, give force",
    }
    assert client.patch(path, {"resourceSelector": "resource.name == 'node-1'"}).status == 200
    assert client.patch(path, {"resourceSelector": NOBODY}, force="true").status == 200


def test_a_new_environment_may_wait_for_its_resources(client: Client) -> None:
    answer = client.post("/v1/environments", {"name": "qa", "resourceSelector": NOBODY})
    assert (answer.status, concerns(answer)) == (201, (0, [], None))


def vote(client: Client, tag: str = "v1") -> Any:
    body = {"deployment": "api", "tag": tag, "environment": "prod", "status": "approved"}
    return client.post("/v1/approvals", body)


def test_an_approval_says_whom_it_concerns_and_when_nothing_asks_for_it(client: Client) -> None:
    versions(client, "v1")
    nothing = "no policy asks for an approval of api v1 in prod: the vote changes nothing"
    assert concerns(vote(client)) == (0, [], nothing)
    fleet.put(client, "policies", "careful", rules=[{"approval": {"minApprovals": 2}}])
    versions(client, "v2")
    assert concerns(vote(client, "v2")) == (2, NODES, None)


def test_an_approval_of_what_runs_everywhere_changes_nothing(client: Client) -> None:
    versions(client, "v1")
    for job in fleet.jobs(client, 2):
        fleet.finish(client, job)
    fleet.put(client, "policies", "careful", rules=[{"approval": {}}])
    assert concerns(vote(client)) == (0, [], "v1 runs on all of them already: the vote changes nothing")


def test_an_approval_of_what_something_newer_has_replaced_changes_nothing(client: Client) -> None:
    for tag in ("v1", "v2"):
        versions(client, tag)
        for job in fleet.jobs(client, 2):
            fleet.finish(client, job)
    fleet.put(client, "policies", "careful", rules=[{"approval": {}}])
    nothing = "v1 or something newer runs on all of them already: the vote changes nothing"
    assert concerns(vote(client)) == (0, [], nothing)


def test_a_vote_without_the_role_that_is_asked_for_does_not_count(client: Client, server: Server) -> None:
    fleet.put(client, "policies", "careful", rules=[{"approval": {"roles": ["release-manager"]}}])
    versions(client, "v1")
    answer = vote(server.client("ben:approver@default"))
    assert concerns(answer) == (2, NODES, "the vote does not count: it needs the role release-manager")


def skip(client: Client, **fields: Any) -> Any:
    return client.post("/v1/skips", {"rule": "sign-off", "reason": "urgent", **fields})


def test_a_skip_says_whom_it_lets_pass_and_when_it_changes_nothing(client: Client) -> None:
    rule = {"name": "sign-off", "approval": {}}
    fleet.put(client, "policies", "careful", selector="resource.name == 'node-1'", rules=[rule])
    nothing = "the rule holds none of them back now: the skip changes nothing yet"
    assert concerns(skip(client)) == (1, NODES[:1], nothing)
    absent = "no release target has this rule there: the skip changes nothing"
    assert concerns(skip(client, resource="node-2")) == (0, [], absent)
    client.delete(f"/v1/skips/{client.items('/v1/skips')[-1]['id']}")
    client.delete(f"/v1/skips/{client.items('/v1/skips')[-1]['id']}")
    versions(client, "v1")
    assert concerns(skip(client, resource="node-1", deployment="api", tag="v1")) == (1, NODES[:1], None)


def manifest(kind: str, name: str, /, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def test_a_single_rule_says_whom_its_policy_concerns(client: Client) -> None:
    fleet.put(client, "policies", "p", rules=[], selector="resource.name == 'node-1'")
    made = client.post("/v1/policies/p/rules", {"name": "two", "approval": {"minApprovals": 2}})
    assert (made.status, concerns(made)) == (201, (1, NODES[:1], None))
    changed = client.put("/v1/policies/p/rules/two", {**made.json, "approval": {"minApprovals": 1}})
    assert (changed.status, concerns(changed)) == (200, (1, NODES[:1], None))
    assert changed.headers["etag"] == client.get("/v1/policies/p/rules/two").headers["etag"]
    ended = client.delete("/v1/policies/p/rules/two")
    assert (ended.status, ended.json["name"], concerns(ended)) == (200, "two", (1, NODES[:1], None))


def test_the_end_of_a_skip_and_of_a_vote_say_whom_they_concern(client: Client) -> None:
    rules = [{"name": "two", "approval": {"minApprovals": 2}}, {"name": "open", "gate": {"when": ["true"]}}]
    fleet.put(client, "policies", "p", rules=rules)
    versions(client, "v1")
    vote = {"deployment": "api", "tag": "v1", "environment": "prod", "status": "approved"}
    client.post("/v1/approvals", vote)
    withdrawn = client.delete("/v1/approvals/api%2Fv1/prod")
    assert (withdrawn.status, withdrawn.json["status"]) == (200, "approved")
    assert concerns(withdrawn) == (2, NODES, None)
    for rule, note in (
        ("two", None),
        ("open", "the rule holds none of them back now: the end of the skip changes nothing yet"),
    ):
        skip = client.post("/v1/skips", {"rule": rule, "resource": "node-1", "reason": "urgent"})
        ended = client.delete(f"/v1/skips/{skip.json['id']}")
        assert (ended.status, concerns(ended)) == (200, (1, NODES[:1], note))


@pytest.mark.parametrize("dry_run", [True, False])
def test_manifests_are_judged_by_the_fleet_that_all_of_them_make(client: Client, dry_run: bool) -> None:
    policy = manifest("Policy", "p", selector=NOBODY, rules=[])
    alone = client.post("/v1/apply", {"manifests": [policy], "dryRun": dry_run})
    assert (alone.status, alone.json["errors"][0]["path"]) == (422, "manifests[0].spec.selector")
    forced = client.post("/v1/apply", {"manifests": [policy], "dryRun": True, "force": True})
    assert forced.status == 200
    together = [policy, manifest("Resource", "node-9", kind="Node")]
    answer = client.post("/v1/apply", {"manifests": together, "dryRun": dry_run})
    assert [one["concerns"] for one in answer.json["results"]] == [
        {"targets": 1, "sample": ["api/prod/node-9"], "note": None},
        None,
    ]


def test_what_is_refused_after_all_was_applied_leaves_nothing(client: Client) -> None:
    policy = manifest("Policy", "p", selector="resource.name == 'nobody'", rules=[])
    environment = manifest("Environment", "prod", resourceSelector=NOBODY)
    refused = client.post("/v1/apply", {"manifests": [manifest("Resource", "node-3", kind="Node"), policy]})
    assert refused.status == 422
    ended = client.post("/v1/apply", {"manifests": [environment]})
    assert ended.json["errors"][0] == {
        "path": "manifests[0].spec.resourceSelector",
        "message": "leaves none of the 2 release targets of prod; if that is meant, give force",
    }
    assert [one["name"] for one in client.items("/v1/release-targets")] == NODES
    assert client.items("/v1/policies") == []


def test_a_plan_is_refused_where_publishing_would_be(client: Client) -> None:
    body = {"version": {"deployment": "api", "tag": "v1", "targetSelector": NOBODY}}
    refused = client.post("/v1/plan", body)
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, "version.targetSelector")
    assert client.post("/v1/plan", {**body, "force": True}).status == 200
