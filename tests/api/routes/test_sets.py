"""Manifests that are applied together under a name: what the set had and no longer has is removed."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server


def manifest(kind: str, name: str, /, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def version(tag: str) -> dict[str, Any]:
    return manifest("Version", f"api/{tag}", deployment="api", tag=tag)


NODES = [manifest("Resource", f"node-{number}", kind="Node") for number in (1, 2)]
PROD = manifest("Environment", "prod", resourceSelector="resource.kind == 'Node'")
QA = manifest("Environment", "qa", resourceSelector="resource.kind == 'Node'")
API = manifest("Deployment", "api", resourceSelector="true", jobAgent="runner")
RUNNER = manifest("JobAgent", "runner", type="pull")
SLOW = manifest("Policy", "slow", rules=[])
ALL = [*NODES, PROD, QA, API, RUNNER, SLOW]


def apply(client: Client, *given: dict[str, Any], set_name: str = "shop", **more: Any) -> Any:
    return client.post("/v1/apply", {"manifests": list(given), "set": set_name, **more})


def actions(answer: Any) -> dict[str, str]:
    assert answer.status == 200, answer.body
    return {f"{one['kind']} {one['name']}": one["action"] for one in answer.json["results"]}


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    assert apply(client, *ALL).status == 200


def test_what_the_set_no_longer_has_is_removed_once_it_is_confirmed(client: Client) -> None:
    fleet.put(client, "environments", "by-hand")
    left = [one for one in ALL if one not in (QA, SLOW)]
    refused = apply(client, *left, prune=True)
    assert (refused.status, refused.json["errors"][0]["path"]) == (409, "confirm")
    assert refused.json["detail"].startswith("policy slow is for 4 release targets: api/prod/node-1, ")
    assert "; environment qa has 2 release targets: api/qa/node-1, api/qa/node-2" in refused.json["detail"]
    assert client.get("/v1/environments/qa").status == 200
    done = actions(apply(client, *left, prune=True, confirm=True))
    assert {key: value for key, value in done.items() if value != "unchanged"} == {
        "Policy slow": "deleted",
        "Environment qa": "deleted",
    }
    assert [one["name"] for one in client.items("/v1/environments")] == ["by-hand", "prod"]
    assert actions(apply(client, *left, prune=True)) == dict.fromkeys(
        done.keys() - {"Policy slow", "Environment qa"}, "unchanged"
    )


@pytest.mark.parametrize("is_rehearsed", [True, False])
def test_what_is_removed_says_whom_that_concerns(client: Client, is_rehearsed: bool) -> None:
    left = [one for one in ALL if one not in (NODES[0], QA, SLOW)]
    answer = apply(client, *left, prune=True, confirm=True, dryRun=is_rehearsed)
    concerns = {one["name"]: one["concerns"] for one in answer.json["results"] if one["action"] == "deleted"}
    assert concerns["slow"]["targets"] == 4
    assert concerns["qa"]["sample"] == ["api/qa/node-1", "api/qa/node-2"]
    assert concerns["node-1"] is None


def test_without_prune_nothing_is_removed(client: Client) -> None:
    assert set(actions(apply(client, PROD)).values()) == {"unchanged"}
    assert client.get("/v1/environments/qa").status == 200


def test_a_whole_set_goes_in_an_order_that_works(client: Client) -> None:
    done = apply(client, prune=True, confirm=True)
    assert set(actions(done).values()) == {"deleted"}
    assert client.get("/v1/export").json == {"manifests": []}


def test_what_somebody_else_needs_is_refused_and_nothing_is_removed(client: Client) -> None:
    fleet.put(client, "deployments", "web", jobAgent="runner")
    refused = apply(client, *[one for one in ALL if one not in (RUNNER, QA)], prune=True, confirm=True)
    assert (refused.status, refused.json["detail"]) == (409, "runner runs the jobs of api and 1 more")
    assert client.get("/v1/environments/qa").status == 200


def test_a_version_that_runs_is_kept_until_it_does_not(client: Client, server: Server) -> None:
    apply(client, *ALL, version("v1"))
    for job in fleet.jobs(client, 4):
        fleet.finish(client, job)
    server.clock.advance("1s")
    kept = apply(client, *ALL, version("v2"), prune=True)
    assert actions(kept)["Version api/v1"] == "kept"
    assert kept.json["results"][-1]["note"].startswith("v1 runs on api/prod/node-1 and 3 more")
    for job in fleet.jobs(client, 4, cel="job.version == 'v2'"):
        fleet.finish(client, job)
    assert actions(apply(client, *ALL, version("v2"), prune=True))["Version api/v1"] == "deleted"


def test_an_object_is_in_one_set_whoever_writes_it(client: Client) -> None:
    refused = apply(client, PROD, set_name="other")
    assert (refused.status, refused.json["errors"]) == (
        422,
        [{"path": "manifests[0].metadata", "message": "prod belongs to the set shop"}],
    )
    client.put("/v1/environments/prod", {"resourceSelector": "true"})
    client.post("/v1/apply", {"manifests": [QA]})
    for name in ("prod", "qa"):
        assert client.get(f"/v1/environments/{name}").json["metadata"] == {"headgate/set": "shop"}


def test_prune_needs_the_name_of_the_set(client: Client) -> None:
    refused = client.post("/v1/apply", {"manifests": [PROD], "prune": True})
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, "set")


def test_a_dry_run_and_a_diff_show_what_would_go(client: Client) -> None:
    left = [one for one in ALL if one is not QA]
    rehearsed = apply(client, *left, prune=True, dryRun=True)
    assert actions(rehearsed)["Environment qa"] == "deleted"
    asked = {
        "manifests": left,
        "set": "shop",
        "prune": True,
        "deletions": [{"kind": "Policy", "name": "slow"}],
    }
    different = client.post("/v1/diff", asked).json["differences"]
    gone = [one for one in different if one["action"] != "unchanged"]
    assert [(one["name"], one["action"], one["after"]) for one in gone] == [
        ("slow", "deleted", None),
        ("qa", "deleted", None),
    ]
    assert gone[1]["before"]["kind"] == "Environment"
    assert client.get("/v1/environments/qa").status == 200


def test_a_plan_plays_the_deletions(client: Client) -> None:
    fleet.put(client, "policies", "slow", rules=[{"approval": {}}])
    apply(client, version("v1"))
    body = {"deletions": [{"kind": "Policy", "name": "slow"}, {"kind": "Environment", "name": "qa"}]}
    planned = client.post("/v1/plan", body).json
    assert [one["environment"] for one in planned["jobs"]] == ["prod", "prod"]
    assert [one["action"] for one in planned["differences"]] == ["deleted", "deleted"]
    assert client.items("/v1/jobs") == []
    nothing = client.post("/v1/plan", {"deletions": [{"kind": "Policy", "name": "quick"}]})
    assert nothing.json["errors"] == [{"path": "deletions[0].name", "message": "there is no policy 'quick'"}]


def test_a_plan_may_assume_approvals(client: Client) -> None:
    fleet.put(client, "policies", "slow", rules=[{"approval": {}}])
    body = {"version": {"deployment": "api", "tag": "v1"}}
    assert client.post("/v1/plan", body).json["jobs"] == []
    planned = client.post("/v1/plan", {**body, "assume": ["approvals"]}).json
    assert (len(planned["jobs"]), planned["assumed"]) == (4, ["approvals"])
    assert client.items("/v1/approvals") == []


def test_to_prune_is_to_delete_and_needs_the_permission(client: Client, server: Server) -> None:
    deployer = server.client("dee:deployer@default")
    refused = apply(deployer, *NODES, prune=True, confirm=True)
    assert (refused.status, "deleting a" in refused.json["detail"]) == (403, True)


def test_a_large_set_is_pruned_after_its_last_step_and_asked_about_before_the_first(client: Client) -> None:
    many = [manifest("Resource", f"extra-{number}", kind="Rack") for number in range(210)]
    left = [one for one in [*ALL, *many] if one is not QA]
    refused = apply(client, *left, prune=True)
    assert (refused.status, refused.json["errors"][0]["path"]) == (409, "confirm")
    assert client.get("/v1/resources/extra-0").status == 404
    done = actions(apply(client, *left, prune=True, confirm=True))
    assert (done["Environment qa"], done["Resource extra-209"]) == ("deleted", "created")
    assert client.get("/v1/environments/qa").status == 404
