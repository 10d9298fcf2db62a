"""Documents as the API gives them, for screens that are compared with files."""

from typing import Any, get_args

from headgate.fleet.model import objects as model

CREATED = "2026-03-01T09:00:00Z"


def counts(**given: int) -> dict[str, int]:
    names = get_args(model.TargetState)
    return {**dict.fromkeys(names, 0), **given}


STATUS: dict[str, Any] = {
    "deployments": [
        {
            "name": "kubelet-upgrade",
            "environments": [
                {
                    "name": "staging",
                    "newest": "v1.29.2",
                    "newestSuccessful": "v1.29.2",
                    "counts": counts(upToDate=3),
                    "waiting": [],
                },
                {
                    "name": "prod",
                    "newest": "v1.29.2",
                    "newestSuccessful": "v1.29.1",
                    "counts": counts(upToDate=4, running=2, waiting=3, failed=1),
                    "waiting": [
                        {
                            "target": "kubelet-upgrade/prod/node-5",
                            "message": "v1.29.2: 2 of 10 resources active, limit 2: node-3 (executing kubelet-upgrade), "
                            "node-4 (executing kubelet-upgrade)",
                        },
                        {
                            "target": "kubelet-upgrade/prod/node-6",
                            "message": "v1.29.2: position 6 (0 to 9) has its turn at 10:20 (rollout started 09:00)",
                        },
                    ],
                },
            ],
        },
        {
            "name": "os-patch",
            "environments": [
                {
                    "name": "prod",
                    "newest": None,
                    "newestSuccessful": None,
                    "counts": counts(noVersion=10),
                    "waiting": [],
                }
            ],
        },
    ]
}


def job(resource: str, status: str = "inProgress", **more: Any) -> dict[str, Any]:
    return {
        "id": f"job-{resource}",
        "target": f"kubelet-upgrade/prod/{resource}",
        "deployment": "kubelet-upgrade",
        "environment": "prod",
        "resource": resource,
        "version": "v1.29.2",
        "status": status,
        "attempt": 1,
        "kind": "deploy",
        "agent": "runner",
        "createdAt": "2026-03-01T09:57:50Z",
        "startedAt": "2026-03-01T09:57:50Z" if status == "inProgress" else None,
        "completedAt": None,
        "group": None,
        "message": None,
        **more,
    }


JOBS = [job("node-3", message="draining 12 pods"), job("node-4")]

BUDGETS: list[dict[str, Any]] = [
    {
        "policy": "Node Lifecycle",
        "rule": "two at a time",
        "ruleId": "1",
        "kind": "resourceConcurrency",
        "environment": None,
        "scope": "resource.kind == 'KubernetesNode'",
        "limit": 2,
        "used": 2,
        "holders": [{"name": "node-3", "since": CREATED}, {"name": "node-4", "since": CREATED}],
        "stoppedAt": None,
    },
    {
        "policy": "Node Lifecycle",
        "rule": "stop early",
        "ruleId": "2",
        "kind": "failureBudget",
        "environment": "prod",
        "scope": None,
        "limit": 1,
        "used": 1,
        "holders": [{"name": "kubelet-upgrade/prod/node-7", "since": CREATED}],
        "stoppedAt": "2026-03-01T09:40:00Z",
    },
]

RESOURCE: dict[str, Any] = {
    "id": "5f2b6f0a-0000-4000-8000-000000000001",
    "name": "node-1",
    "identifier": "node-1",
    "kind": "KubernetesNode",
    "version": "",
    "metadata": {"cluster": "prod-east"},
    "config": {},
    "variables": {},
    "createdAt": CREATED,
    "updatedAt": None,
}

VERSION: dict[str, Any] = {
    "id": "5f2b6f0a-0000-4000-8000-000000000002",
    "name": "api/12e4567",
    "deployment": "api",
    "tag": "12e4567",
    "status": "ready",
    "config": {},
    "jobAgentConfig": {},
    "message": None,
    "targetSelector": "resource.metadata['region'] == 'eu'",
    "dependencies": {},
    "metadata": {},
    "createdAt": CREATED,
    "updatedAt": None,
    "publishedAt": CREATED,
}

POLICY: dict[str, Any] = {
    "id": "5f2b6f0a-0000-4000-8000-000000000003",
    "name": "careful",
    "selector": None,
    "rules": [
        {"id": "5f2b6f0a-0000-4000-8000-000000000004", "name": "sign-off", "approval": {"minApprovals": 1}},
        {"id": "5f2b6f0a-0000-4000-8000-000000000005", "gradualRollout": {"timeScaleInterval": 600}},
    ],
    "priority": 0,
    "enabled": True,
    "description": None,
    "metadata": {},
    "createdAt": CREATED,
    "updatedAt": None,
}

EXPLANATION: dict[str, Any] = {
    "target": "api/prod/host-2",
    "state": "frozen",
    "current": "v1",
    "desired": "v2",
    "message": "v2: frozen by incident-42 by ben since 2026-03-02T10:10:00Z until 2026-03-02T10:40:00Z: "
    "database is down",
    "changes": "at 2026-03-02T10:40:00Z",
    "blocked": False,
    "job": {
        "id": "j-7",
        "version": "v1",
        "status": "successful",
        "attempt": 2,
        "agent": "runner",
        "message": "done",
        "reason": "",
        "links": {"log": "https://ci.example/7"},
        "metrics": [
            {
                "rule": "r-1",
                "metric": "errors",
                "status": "running",
                "dropped": 4,
                "measurements": [
                    {
                        "at": "2026-03-02T10:05:00Z",
                        "verdict": "passed",
                        "value": "0.002",
                        "condition": "result.value < 0.01",
                        "message": "errors: result.value < 0.01",
                        "answer": "",
                    }
                ],
            }
        ],
    },
    "actions": [
        {
            "command": "headgate unfreeze incident-42",
            "permission": "freeze:write",
            "effect": "ends the freeze",
            "roles": ["operator", "admin"],
        }
    ],
    "group": {"id": "g-1", "status": "ready", "message": "ready: api waiting", "role": "member", "hooks": ""},
    "slots": [
        {
            "policy": "careful",
            "rule": "one host",
            "held": False,
            "message": "1 of 2 resources active, limit 1",
        }
    ],
    "rules": [
        {
            "policy": "careful",
            "rule": "sign-off",
            "type": "approval",
            "version": "v2",
            "verdict": "allowed",
            "message": "v2 in prod approved by ana",
            "satisfiedAt": None,
            "nextEvaluationTime": None,
        },
        {
            "policy": None,
            "rule": None,
            "type": "freeze",
            "version": "v2",
            "verdict": "pending",
            "message": "frozen by incident-42 by ben since 2026-03-01T09:10:00Z until 2026-03-02T10:40:00Z: "
            "database is down",
            "satisfiedAt": None,
            "nextEvaluationTime": "2026-03-02T10:40:00Z",
        },
        {
            "policy": "careful",
            "rule": "only stable",
            "type": "versionSelector",
            "version": "v3-rc1",
            "verdict": "denied",
            "message": "v3-rc1 is not stable",
            "satisfiedAt": None,
            "nextEvaluationTime": None,
        },
    ],
    "warnings": ["the scope of v4 cannot be evaluated on host-2: no such key: region"],
    "nextEvaluationTime": "2026-03-02T10:40:00Z",
}

REASONS: dict[str, Any] = {
    "deployment": "api",
    "targets": 9,
    "reasons": [
        {
            "environment": "prod",
            "state": "rolledBack",
            "policy": None,
            "rule": None,
            "type": "rollback",
            "version": "v2",
            "message": "v2: v2 was rolled back here: verification of v2 failed",
            "changes": "when a person decides: see what you can do",
            "count": 1,
            "blocked": 1,
            "targets": ["api/prod/host-1"],
            "actions": [
                {
                    "command": "headgate retry api/prod/host-1",
                    "permission": "target:act",
                    "effect": "tries it again",
                    "roles": ["operator", "admin"],
                }
            ],
        },
        {
            "environment": "prod",
            "state": "waiting",
            "policy": "careful",
            "rule": "slowly",
            "type": "gradualRollout",
            "version": "v2",
            "message": "v2: position 2 (0 to 8) has its turn at 2026-03-02T10:10:00Z",
            "changes": "at 2026-03-02T10:10:00Z",
            "count": 8,
            "blocked": 0,
            "targets": [f"api/prod/host-{number}" for number in range(2, 7)],
            "actions": [],
        },
    ],
}
