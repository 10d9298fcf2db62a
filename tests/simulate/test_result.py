"""The output document has exactly the keys, the order and the nulls that tools outside read."""

import json

from .small import fleet, manifest, play, publish
from .synthetic import put, version

BRACKET = manifest(
    "Policy",
    "lifecycle",
    rules=[
        {"deploymentBracket": {"deploymentSelector": "true", "readinessMode": "immediate"}},
        {
            "name": "slots",
            "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
        },
    ],
)


def test_the_document_has_the_keys_of_the_format_in_their_order() -> None:
    document = play(
        publish(),
        publish("bad", targetSelector="("),
        {"at": "+10s", "explain": {"target": "api/prod/node-1"}},
        {"at": "+20s", "snapshot": {}},
        objects=[*fleet(), BRACKET],
        expect=[{"name": "one job", "that": "result.jobs.size() == 1"}],
    ).document()
    assert list(document) == [
        "scenario",
        "seed",
        "start",
        "end",
        "converged",
        "jobs",
        "groups",
        "budgets",
        "pods",
        "objects",
        "conditions",
        "explanations",
        "snapshots",
        "rejected",
        "warnings",
        "events",
        "violations",
        "expectations",
    ]
    assert list(document["jobs"][0]) == [
        "id",
        "deployment",
        "environment",
        "resource",
        "version",
        "attempt",
        "status",
        "createdAt",
        "startedAt",
        "completedAt",
        "group",
        "kind",
    ]
    assert list(document["groups"][0]) == [
        "id",
        "policy",
        "environment",
        "resource",
        "status",
        "mergedInto",
        "collectionStartedAt",
        "collectionEndsAt",
        "lockedAt",
        "startedAt",
        "completedAt",
        "members",
        "history",
    ]
    assert list(document["groups"][0]["members"][0]) == ["deployment", "role", "version", "lockedAt", "state"]
    assert list(document["groups"][0]["history"][0]) == ["at", "status"]
    assert list(document["budgets"][0]) == ["policy", "rule", "kind", "scope", "limit", "peak", "peakAt"]
    assert list(document["explanations"][0]) == ["at", "target", "state", "rules", "tree"]
    assert list(document["explanations"][0]["rules"][0]) == [
        "policy",
        "rule",
        "type",
        "version",
        "verdict",
        "message",
        "nextEvaluationTime",
    ]
    assert list(document["rejected"][0]) == ["at", "step", "errors"]
    assert list(document["rejected"][0]["errors"][0]) == ["path", "message"]
    assert document["expectations"] == [{"name": "one job", "passed": True, "message": ""}]
    assert (document["pods"], document["objects"], document["conditions"]) == ([], [], [])


def test_a_group_is_shown_with_its_members_and_its_history() -> None:
    (group,) = play(publish(), objects=[*fleet(), BRACKET]).document()["groups"]
    assert group["members"] == [
        {
            "deployment": "api",
            "role": "member",
            "version": "v1",
            "lockedAt": "2026-03-01T09:00:00Z",
            "state": "succeeded",
        }
    ]
    assert [step["status"] for step in group["history"]] == ["collecting", "ready", "executing", "completed"]
    assert group["mergedInto"] is None


def test_references_are_names_versions_are_tags_and_absent_times_are_null() -> None:
    (job,) = play(publish(), agents=[{"outcomes": ["never"]}]).document()["jobs"]
    assert (job["deployment"], job["environment"], job["resource"]) == ("api", "prod", "node-1")
    assert job["version"] == "v1"
    assert job["group"] is None
    assert job["kind"] == "deploy"
    assert job["startedAt"] == job["createdAt"]
    assert job["completedAt"] is None


def test_a_budget_shows_its_peak_and_the_limit_at_that_moment() -> None:
    limit = {"groupSelector": "resource.kind == 'Node'", "limitType": "count", "limitValue": 2}
    policy = manifest("Policy", "limit", rules=[{"name": "slots", "resourceConcurrency": limit}])
    smaller = manifest(
        "Policy", "limit", rules=[{"name": "slots", "resourceConcurrency": {**limit, "limitValue": 1}}]
    )
    result = play(publish(), {"at": "+30s", "apply": smaller}, objects=[*fleet(3), policy])
    assert result.document()["budgets"] == [
        {
            "policy": "limit",
            "rule": "slots",
            "kind": "resourceConcurrency",
            "scope": "resource.kind == 'Node'",
            "limit": 2,
            "peak": 2,
            "peakAt": "2026-03-01T09:00:00Z",
        }
    ]


def test_a_budget_that_nobody_used_is_shown_too() -> None:
    (budget,) = play(objects=[*fleet(), BRACKET]).document()["budgets"]
    assert (budget["peak"], budget["limit"], budget["peakAt"]) == (0, 1, None)


def test_jobs_are_ordered_by_time_then_by_target() -> None:
    objects = fleet(11, "web", "api")
    jobs = play(publish(), publish(deployment="web"), objects=objects).document()["jobs"]
    targets = [
        (job["createdAt"], f"{job['deployment']}/{job['environment']}/{job['resource']}") for job in jobs
    ]
    assert targets == sorted(targets)
    assert len(targets) == 22


def test_a_scope_that_fails_to_evaluate_is_a_warning() -> None:
    result = play(publish(targetSelector="resource.metadata['tier'] == 'gold'"))
    (warning,) = result.document()["warnings"]
    assert list(warning) == ["at", "target", "version", "message"]
    assert warning["target"] == "api/prod/node-1"
    assert warning["version"] == "v1"


def test_the_json_reads_back_as_the_document() -> None:
    result = play(publish(), objects=[*fleet(2), BRACKET])
    assert json.loads(result.to_json()) == result.document()


def test_synthetic_objects_are_real_objects() -> None:
    assert version("api", "v1") == put("Version", "api/v1", deployment="api", tag="v1")
