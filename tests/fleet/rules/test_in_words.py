"""Every rule says in one sentence what it asks for."""

from typing import Any

import pytest

from headgate.fleet import rules
from headgate.kernel.problems import Problem

SENTENCES: list[tuple[dict[str, Any], str]] = [
    (
        {"deploymentBracket": {"deploymentSelector": "true", "readinessWindowSeconds": 300}},
        "Deployments with `true` change together on each resource, 5m after the first of them has a new version; those "
        "without one are left as they are, and what comes meanwhile waits for the cycle under way.",
    ),
    (
        {
            "deploymentBracket": {
                "deploymentSelector": "true",
                "readinessMode": "wait_for_all",
                "readinessWindowSeconds": 60,
                "unchangedMemberStrategy": "require_all",
                "overlapStrategy": "merge",
            }
        },
        "Deployments with `true` change together on each resource, as soon as all of them have a new version, at the "
        "latest 1m after the first; it waits until all have one, as long as it may, and what comes meanwhile joins the "
        "cycle under way.",
    ),
    (
        {"resourceConcurrency": {"groupSelector": "true", "limitType": "percentage", "limitValue": 10}},
        "At most 10% of the resources with `true` change at once; one counts until what was deployed is verified.",
    ),
    (
        {
            "resourceConcurrency": {
                "groupSelector": "true",
                "limitType": "count",
                "limitValue": 1,
                "groupBy": "resource.kind",
                "holdThroughVerification": False,
            }
        },
        "At most 1 resource with `true` change at once, counted apart for each `resource.kind`; one counts until its job "
        "has ended.",
    ),
    (
        {"gradualRollout": {"timeScaleInterval": 600}},
        "A version reaches targets one after another, one every 10m.",
    ),
    (
        {
            "gradualRollout": {
                "timeScaleInterval": 60,
                "rolloutType": "exponential",
                "advanceOn": "success",
                "stopAfterFailures": 2,
            }
        },
        "A version reaches targets one after another, in waves of 1, 1, 2, 4, 8 and so on, one every 1m, each when those "
        "before it have succeeded; it stops after failures on 2.",
    ),
    (
        {"deploymentDependency": {"dependsOn": "deployment.name == 'drain'"}},
        "A deployment starts on a resource when all with `deployment.name == 'drain'` have succeeded there.",
    ),
    (
        {"approval": {"minApprovals": 2, "roles": ["sre"]}},
        "A version needs 2 approvals by sre in an environment before it starts there, and one rejection holds it.",
    ),
    (
        {"approval": {"minApprovals": 0}},
        "No approval is needed; a rejection holds a version until it is withdrawn.",
    ),
    (
        {
            "environmentProgression": {
                "dependsOnEnvironmentSelector": "environment.name == 'staging'",
                "minimumSoakTimeMinutes": 90,
            }
        },
        "A version starts when it has succeeded and is verified on 100% of the targets in every environment with "
        "`environment.name == 'staging'`, for at least 1h30m.",
    ),
    (
        {
            "deploymentWindow": {
                "rrule": "FREQ=DAILY;BYHOUR=9",
                "durationMinutes": 60,
                "timezone": "Europe/Berlin",
            }
        },
        "New work starts only within 1h from each `FREQ=DAILY;BYHOUR=9` (Europe/Berlin).",
    ),
    (
        {"deploymentWindow": {"rrule": "FREQ=DAILY", "durationMinutes": 60, "allowWindow": False}},
        "No new work starts within 1h from each `FREQ=DAILY` (UTC).",
    ),
    (
        {"versionCooldown": {"intervalSeconds": 3600}},
        "A target takes its next version 1h after its last deployment has ended, at the earliest.",
    ),
    (
        {"versionSelector": {"selector": "version.tag != 'v1'"}},
        "Only versions with `version.tag != 'v1'` are deployed.",
    ),
    (
        {
            "retry": {
                "maxRetries": 2,
                "backoffSeconds": 30,
                "backoffStrategy": "exponential",
                "retryOnStatuses": ["failure"],
            }
        },
        "A job that ends as failure is tried up to 2 times more, 30s later and twice as long each time.",
    ),
    ({"retry": {"maxRetries": 0}}, "A job is tried once."),
    (
        {"rollback": {"onVerificationFailure": True, "rejectAfter": 3}},
        "When a verification fails, and no retry is left, the version before is put back; after 3 of them the version is "
        "marked as bad.",
    ),
    (
        {
            "verification": {
                "metrics": [
                    {
                        "name": "errors",
                        "provider": {
                            "type": "prometheus",
                            "address": "http://user:secret@metrics",
                            "query": "up",
                        },
                        "successCondition": "result.value[0] < 0.1",
                        "count": 3,
                    },
                    {"name": "pause", "provider": {"type": "sleep", "durationSeconds": 60}},
                ]
            }
        },
        "After its job has succeeded, a version is measured by errors (prometheus, 3 times every 1m, passes when "
        "`result.value[0] < 0.1`) and pause (waits 1m).",
    ),
    (
        {"gate": {"when": ["signals['load'] < 5", "true"]}},
        "A target starts when `signals['load'] < 5` and `true`; an error holds it.",
    ),
    (
        {"failureBudget": {"maxFailed": "10%"}},
        "When more than 10% of the targets in an environment have failed, nothing starts until a person resumes.",
    ),
    (
        {"scopedVersion": {"requireApprovals": 1}},
        "A version with a targetSelector needs an approval before it starts.",
    ),
    ({"scopedVersion": {"allow": False}}, "A version with a targetSelector does not start."),
]


@pytest.mark.parametrize(("document", "sentence"), SENTENCES)
def test_the_sentence_of_a_rule(document: dict[str, Any], sentence: str) -> None:
    problems: list[Problem] = []
    rule = rules.read_rule(document, "policy", 0, "rule", problems)
    assert rule is not None, problems
    assert rules.in_words(rule) == sentence


def test_every_rule_has_a_sentence() -> None:
    assert {next(iter(document)) for document, _ in SENTENCES} == set(rules.KINDS)
