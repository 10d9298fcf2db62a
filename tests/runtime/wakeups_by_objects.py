"""Objects and what people say: whatever waited for it goes on with the same commit."""

from __future__ import annotations

from headgate.fleet.model.changes import DeleteSkip, PutSkip, RejectVersion, SetVariable, SetVersionStatus

from .fleet import (
    APPROVAL,
    ONE_AT_A_TIME,
    ONE_NODE,
    STAGES,
    TWO_NODES,
    agent,
    approve,
    delete,
    deployment,
    environment,
    policy,
    put,
    resource,
    version,
)
from .wakeups import Case, report

A, B = "api/prod/a", "api/prod/b"
V1 = version("api", "v1")
RUNS_V1 = (*ONE_NODE, V1, report(A))
WAITS = (*ONE_NODE, policy("rules", APPROVAL), V1)
"""For an approval that nobody has given."""
STAGED = (
    *ONE_NODE,
    environment("dev", resourceSelector="resource.name == 'a'"),
    environment("qa", resourceSelector="resource.name == 'a'"),
    policy("promotion", STAGES, selector="environment.name == 'prod'"),
    V1,
    report("api/dev/a"),
)
GATED = (
    *ONE_NODE,
    policy("rules", {"gate": {"when": ["!has(signals.alarm) || !signals.alarm.firing"]}}),
)
ALARM = put("Signal", "alarm", value={"firing": True})


def after_db(*names: str) -> dict[str, object]:
    listed = ", ".join(f"'{name}'" for name in names)
    return {
        "deploymentDependency": {
            "dependsOn": f"deployment.name in [{listed}]",
            "appliesTo": "deployment.name == 'api'",
        }
    }


WAITS_FOR_TWO = (
    *ONE_NODE,
    deployment("db"),
    deployment("cache"),
    policy("order", after_db("db", "cache")),
    V1,
    version("db", "v1"),
    report("db/prod/a"),
)
"""One of them has succeeded, the other has no version."""


def status(value: str, tag: str = "v1") -> SetVersionStatus:
    return SetVersionStatus("api", tag, value)


VERSIONS = [
    Case("a version is published", ONE_NODE, V1, starts=(f"{A} v1",)),
    Case(
        "a version becomes ready",
        (*ONE_NODE, version("api", "v1", status="building")),
        status("ready"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a version of another status is applied again as ready",
        (*ONE_NODE, version("api", "v1", status="paused")),
        put("Version", "api/v1", deployment="api", tag="v1"),
        starts=(f"{A} v1",),
    ),
    Case("a version is paused", WAITS, status("paused"), says=(A, "v1 is paused")),
    Case("a version has failed", WAITS, status("failed"), says=(A, "no version in scope")),
    Case("a version is building again", WAITS, status("building"), says=(A, "no version in scope")),
    Case(
        "a version that runs is rejected",
        (*RUNS_V1, version("api", "v2"), report(A)),
        status("rejected", "v2"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a version that runs is marked as bad and goes back",
        (*RUNS_V1, version("api", "v2"), report(A)),
        RejectVersion("api", "v2", "leaks memory", rollback=True),
        starts=(f"{A} v1",),
    ),
    Case("a version is deleted", WAITS, delete("Version", "api/v1"), says=(A, "no version in scope")),
    Case(
        "the version that another depends on has been deployed",
        (
            *ONE_NODE,
            deployment("db"),
            version("api", "v1", dependencies={"db": "version.tag == 'v2'"}),
            version("db", "v2"),
        ),
        report("db/prod/a"),
        starts=(f"{A} v1",),
        ends=("db/prod/a v2",),
    ),
]

INVENTORY = [
    Case("a resource is created", (*ONE_NODE, V1), resource("b"), starts=(f"{B} v1",)),
    Case(
        "a resource begins to match",
        (
            *ONE_NODE,
            environment("prod", resourceSelector="resource.kind == 'Node'"),
            resource("b", kind="Pod"),
            V1,
        ),
        resource("b"),
        starts=(f"{B} v1",),
    ),
    Case(
        "a resource that holds the only slot is deleted",
        (*TWO_NODES, policy("rules", ONE_AT_A_TIME), V1),
        delete("Resource", "a"),
        starts=(f"{B} v1",),
        ends=(f"{A} v1",),
    ),
    Case(
        "a resource grows the group that a percentage is of",
        (
            *TWO_NODES,
            policy(
                "rules",
                {
                    "resourceConcurrency": {
                        "groupSelector": "true",
                        "limitType": "percentage",
                        "limitValue": 50,
                    }
                },
            ),
            V1,
        ),
        resource("c", kind="Other"),
        starts=(f"{B} v1",),
    ),
    Case(
        "an environment is created",
        (agent(), resource("a"), deployment("api"), V1),
        environment("prod"),
        starts=(f"{A} v1",),
    ),
    Case(
        "an environment selects more",
        (
            *(*TWO_NODES, V1)[:2],
            resource("b"),
            deployment("api"),
            environment("prod", resourceSelector="resource.name == 'a'"),
            V1,
        ),
        environment("prod"),
        starts=(f"{B} v1",),
    ),
    Case(
        "an environment that was to come first is deleted",
        STAGED,
        delete("Environment", "qa"),
        starts=(f"{A} v1",),
        ends=("api/qa/a v1",),
    ),
    Case(
        "an environment that must come first is created",
        (
            *ONE_NODE,
            policy("promotion", STAGES, APPROVAL, selector="environment.name == 'prod'"),
            V1,
        ),
        environment("dev", resourceSelector="resource.name == 'a'"),
        starts=("api/dev/a v1",),
        says=(A, "dev"),
    ),
    Case(
        "an environment joins the deployment's system",
        (*ONE_NODE, environment("prod", systems=["other"]), V1),
        environment("prod"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a deployment joins the environment's system",
        (*ONE_NODE, deployment("api", systems=["other"]), V1),
        deployment("api"),
        starts=(f"{A} v1",),
    ),
    Case(
        "the deployment that was missing is created",
        (*ONE_NODE, policy("order", after_db("db")), V1),
        deployment("db"),
        says=(A, "waits for db"),
    ),
    Case(
        "a deployment selects more",
        (*TWO_NODES, deployment("api", resourceSelector="resource.name == 'a'"), V1),
        deployment("api"),
        starts=(f"{B} v1",),
    ),
    Case(
        "a deployment that was waited for is deleted",
        WAITS_FOR_TWO,
        delete("Deployment", "cache"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a deployment that was waited for moves elsewhere",
        WAITS_FOR_TWO,
        deployment("cache", resourceSelector="false"),
        starts=(f"{A} v1",),
    ),
]

PEOPLE = [
    Case(
        "a policy is created that holds back what waits",
        WAITS,
        policy("more", {"versionSelector": {"selector": "version.tag != 'v1'"}}),
        says=(A, "version.tag != 'v1'"),
    ),
    Case(
        "a policy asks for less",
        WAITS,
        policy("rules", {"name": "signed", "approval": {"minApprovals": 0}}),
        starts=(f"{A} v1",),
    ),
    Case(
        "a policy no longer matches",
        WAITS,
        policy("rules", APPROVAL, selector="environment.name == 'dev'"),
        starts=(f"{A} v1",),
    ),
    Case("a policy is disabled", WAITS, policy("rules", APPROVAL, enabled=False), starts=(f"{A} v1",)),
    Case("a policy is deleted", WAITS, delete("Policy", "rules"), starts=(f"{A} v1",)),
    Case(
        "a limit grows",
        (*TWO_NODES, policy("rules", ONE_AT_A_TIME), V1),
        policy(
            "rules",
            {
                "name": "one",
                "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 2},
            },
        ),
        starts=(f"{B} v1",),
    ),
    Case("somebody approves", WAITS, approve("v1"), starts=(f"{A} v1",)),
    Case("somebody rejects", WAITS, approve("v1", status="rejected"), says=(A, "rejected by ana")),
    Case(
        "a rejection is withdrawn",
        (*WAITS, approve("v1", "ben", "rejected"), approve("v1")),
        approve("v1", "ben", "withdrawn"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a rule is skipped",
        WAITS,
        PutSkip(reason="urgent", rule="signed", id="skip-1"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a skip is deleted",
        (
            *ONE_NODE,
            policy("rules", APPROVAL, {"gate": {"when": ["false"]}}),
            V1,
            PutSkip(reason="urgent", rule="signed", id="skip-1"),
        ),
        DeleteSkip("skip-1"),
        says=(A, "approv"),
    ),
    Case(
        "the line is stopped",
        WAITS,
        put("Freeze", "stop", reason="an incident"),
        says=(A, "an incident"),
    ),
    Case(
        "the line goes on",
        (*ONE_NODE, put("Freeze", "stop", reason="an incident"), V1),
        delete("Freeze", "stop"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a freeze covers less",
        (*ONE_NODE, put("Freeze", "stop", reason="an incident"), V1),
        put("Freeze", "stop", reason="an incident", selector="environment.name == 'dev'"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a signal opens a gate",
        (*GATED, ALARM, V1),
        put("Signal", "alarm", value={"firing": False}),
        starts=(f"{A} v1",),
    ),
    Case(
        "the signal that kept a gate shut is deleted",
        (*GATED, ALARM, V1),
        delete("Signal", "alarm"),
        starts=(f"{A} v1",),
    ),
]

VARIABLES = [
    Case(
        "a variable of a resource is set",
        RUNS_V1,
        SetVariable("size", 2, resource="a"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a variable of a deployment is set",
        RUNS_V1,
        SetVariable("size", 2, deployment="api"),
        starts=(f"{A} v1",),
    ),
    Case(
        "a variable set is created",
        RUNS_V1,
        put("VariableSet", "sizes", variables={"size": 2}),
        starts=(f"{A} v1",),
    ),
    Case(
        "a variable set is deleted",
        (*ONE_NODE, put("VariableSet", "sizes", variables={"size": 2}), V1, report(A)),
        delete("VariableSet", "sizes"),
        starts=(f"{A} v1",),
    ),
]

CASES = [*VERSIONS, *INVENTORY, *PEOPLE, *VARIABLES]
