"""What agents say, what operators order, and time: whatever waited for it goes on with the same commit."""

from __future__ import annotations

from typing import Any

from headgate.fleet.model.changes import GroupAction, PutSkip, ResumeBudget, TargetAction, TargetsAction
from headgate.kernel import instants

from .fleet import (
    APPROVAL,
    BRACKET,
    ONE_AT_A_TIME,
    ONE_NODE,
    START,
    TWO_NODES,
    bracket,
    cycle,
    deployment,
    environment,
    policy,
    put,
    version,
)
from .wakeups import Case, Later, measured, report
from .wakeups_by_objects import GATED, RUNS_V1, STAGED, STAGES, V1, A, B, after_db

NODE = "kubelet/prod/a"
FAILED = (*ONE_NODE, V1, report(A, "failure"))
HELD_IN_QA = (
    *ONE_NODE,
    environment("qa", resourceSelector="resource.name == 'a'"),
    policy("promotion", STAGES, selector="environment.name == 'prod'"),
    put("Freeze", "stop", reason="taking over", selector="environment.name == 'qa'"),
    V1,
)
"""It runs in qa, but nobody has told us yet."""
BUDGET = {"name": "few", "failureBudget": {"maxFailed": 0}}
HEALTH: dict[str, Any] = {
    "verification": {
        "metrics": [
            {
                "name": "health",
                "provider": {"type": "http", "url": "http://127.0.0.1/health"},
                "successCondition": "result.ok",
            }
        ]
    }
}
STOPPED = (
    *TWO_NODES,
    policy("rules", ONE_AT_A_TIME, BUDGET),
    V1,
    report(A, "failure"),
)
BROKEN = (
    *cycle(),
    version("kubelet", "v1"),
    report("drain/prod/a"),
    report(NODE, "failure"),
)
"""A cycle that failed at its member, with the post-hook still to run."""
SOAK = {
    "name": "stages",
    "environmentProgression": {
        "dependsOnEnvironmentSelector": "environment.name != 'prod'",
        "minimumSoakTimeMinutes": 10,
    },
}


def later(seconds: float) -> str:
    return instants.show(START + instants.seconds(seconds))


REPORTS = [
    Case(
        "a success lets what depends on the deployment go on",
        (*ONE_NODE, deployment("db"), policy("order", after_db("db")), V1, version("db", "v1")),
        report("db/prod/a"),
        starts=(f"{A} v1",),
        ends=("db/prod/a v1",),
    ),
    Case(
        "a success lets the next environment go on",
        STAGED,
        report("api/qa/a"),
        starts=(f"{A} v1",),
        ends=("api/qa/a v1",),
    ),
    Case(
        "a success gives its slot to the next in line",
        (*TWO_NODES, policy("rules", ONE_AT_A_TIME), V1),
        report(A),
        starts=(f"{B} v1",),
        ends=(f"{A} v1",),
    ),
    Case(
        "a success lets the newer version that came meanwhile go on",
        (*ONE_NODE, V1, version("api", "v2")),
        report(A),
        starts=(f"{A} v2",),
        ends=(f"{A} v1",),
    ),
    Case(
        "a success lets the next member of a cycle go on",
        (*cycle(), version("kubelet", "v1")),
        report("drain/prod/a"),
        starts=(f"{NODE} v1",),
        ends=("drain/prod/a v1",),
    ),
    Case(
        "a failure says when it is tried again",
        (*ONE_NODE, policy("rules", {"retry": {"maxRetries": 1, "backoffSeconds": 60}}), V1),
        report(A, "failure"),
        ends=(f"{A} v1",),
        says=(A, "next attempt is made at 2026-03-02T09:01:00Z"),
    ),
    Case(
        "a failure puts the last version back",
        (*RUNS_V1, policy("rules", {"rollback": {"onJobStatuses": ["failure"]}}), version("api", "v2")),
        report(A, "failure"),
        starts=(f"{A} v1",),
        ends=(f"{A} v2",),
    ),
    Case(
        "a failure stops the line",
        (*TWO_NODES, policy("rules", ONE_AT_A_TIME, BUDGET), V1),
        report(A, "failure"),
        ends=(f"{A} v1",),
        says=(B, "1 of 2 targets failed"),
    ),
    Case(
        "a person resumes the line",
        STOPPED,
        ResumeBudget("few"),
        starts=(f"{B} v1",),
    ),
    Case(
        "a verification passes",
        (
            *ONE_NODE,
            environment("dev"),
            policy("checks", HEALTH, selector="environment.name == 'dev'"),
            policy(
                "promotion",
                {
                    "environmentProgression": {
                        "dependsOnEnvironmentSelector": "environment.name == 'dev'",
                        "requireVerificationPassed": True,
                    }
                },
                selector="environment.name == 'prod'",
            ),
            V1,
            report("api/dev/a"),
        ),
        measured("api/dev/a", "health", {"ok": True}),
        starts=(f"{A} v1",),
    ),
]

OPERATORS = [
    Case(
        "a failed group is tried again",
        BROKEN,
        GroupAction("retry", "prod", "a"),
        starts=(f"{NODE} v1",),
    ),
    Case(
        "a failed group is aborted and its post-hook runs",
        BROKEN,
        GroupAction("abort", "prod", "a"),
        starts=("uncordon/prod/a v1",),
    ),
    Case(
        "the failed member of a group is skipped",
        BROKEN,
        GroupAction("skipMember", "prod", "a", member="kubelet"),
        starts=("uncordon/prod/a v1",),
    ),
    Case(
        "the slot of a failed group is released",
        (
            *cycle(BRACKET, ONE_AT_A_TIME, nodes=("a", "b")),
            version("kubelet", "v1"),
            report("drain/prod/a"),
            report(NODE, "failure"),
        ),
        GroupAction("release", "prod", "a"),
        starts=("drain/prod/b v1",),
    ),
    *(
        Case(name, given, happening, starts=(f"{A} v1",))
        for name, given, one, many in (
            ("tried again", FAILED, TargetAction("retry", A), TargetsAction("retry", "api", "prod")),
            (
                "put back",
                (*RUNS_V1, version("api", "v2"), report(A)),
                TargetAction("rollback", A),
                TargetsAction("rollback", "api", "prod"),
            ),
            (
                "deployed again",
                RUNS_V1,
                TargetAction("redeploy", A),
                TargetsAction("redeploy", "api", "prod"),
            ),
            (
                "adopted before the next environment",
                HELD_IN_QA,
                TargetAction("adopt", "api/qa/a", "ana", "v1"),
                TargetsAction("adopt", "api", "qa", to="v1"),
            ),
        )
        for name, happening in ((f"a target that is {name}", one), (f"all targets that are {name}", many))
    ),
]

TIMERS = [
    Case(
        "a window opens",
        (
            *ONE_NODE,
            policy(
                "hours",
                {
                    "deploymentWindow": {
                        "rrule": "DTSTART:20260301T100000Z\nRRULE:FREQ=DAILY",
                        "durationMinutes": 60,
                    }
                },
            ),
            V1,
        ),
        Later(3_600),
        starts=(f"{A} v1",),
    ),
    Case(
        "a turn of a gradual rollout comes",
        (*TWO_NODES, policy("slow", {"gradualRollout": {"timeScaleInterval": 600}}), V1),
        Later(600),
        starts=(f"{B} v1",),
    ),
    Case(
        "a cooldown is over",
        (
            *RUNS_V1,
            policy("calm", {"versionCooldown": {"intervalSeconds": 300}}),
            version("api", "v2"),
        ),
        Later(300),
        starts=(f"{A} v2",),
    ),
    Case(
        "a version has soaked for long enough",
        (
            *ONE_NODE,
            environment("dev"),
            policy("promotion", SOAK, selector="environment.name == 'prod'"),
            V1,
            report("api/dev/a"),
        ),
        Later(600),
        starts=(f"{A} v1",),
    ),
    Case(
        "a freeze expires",
        (*ONE_NODE, put("Freeze", "stop", reason="an incident", expiresAt=later(60)), V1),
        Later(60),
        starts=(f"{A} v1",),
    ),
    Case(
        "a skip expires",
        (
            *TWO_NODES,
            policy("rules", APPROVAL, {"gate": {"when": ["now >= timestamp('2026-03-02T09:05:00Z')"]}}),
            V1,
            PutSkip(reason="urgent", rule="signed", id="skip-1", expires_at=START + instants.seconds(60)),
        ),
        Later(300),
        says=(A, "approv"),
    ),
    Case(
        "a signal expires",
        (*GATED, put("Signal", "alarm", value={"firing": True}, expiresAt=later(60)), V1),
        Later(60),
        starts=(f"{A} v1",),
    ),
    Case(
        "the window of a bracket closes",
        (
            *cycle(bracket(readinessMode="collection_window", readinessWindowSeconds=300)),
            version("kubelet", "v1"),
        ),
        Later(300),
        starts=("drain/prod/a v1",),
    ),
    Case(
        "a backoff is over",
        (
            *ONE_NODE,
            policy("rules", {"retry": {"maxRetries": 1, "backoffSeconds": 60}}),
            V1,
            report(A, "failure"),
        ),
        Later(60),
        starts=(f"{A} v1",),
    ),
    Case(
        "a failed group has been stuck for long enough",
        (
            *cycle(bracket(stuckTimeoutSeconds=600, onStuck="release"), ONE_AT_A_TIME, nodes=("a", "b")),
            version("kubelet", "v1"),
            report("drain/prod/a"),
            report(NODE, "failure"),
        ),
        Later(600),
        starts=("drain/prod/b v1",),
    ),
    Case(
        "a gate that asks for the time opens",
        (*ONE_NODE, policy("rules", {"gate": {"when": ["now >= timestamp('2026-03-02T09:05:00Z')"]}}), V1),
        Later(300),
        starts=(f"{A} v1",),
    ),
]

CASES = [*REPORTS, *OPERATORS, *TIMERS]
