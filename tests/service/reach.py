"""What can be reached with each field that somebody can write: the permission that it asks for, and who feels it.

A field that is not in here fails the attack suite: whoever adds one says what it reaches.
"""

from __future__ import annotations

import msgspec

Rows = dict[str, tuple[str, str]]
"""From a field to the permission that it needs beside the route's own, '' for none, and what it reaches."""


class Thing(msgspec.Struct, frozen=True):
    """Operations that take the same fields. Everything below a field that is not itself in `rows` counts as it does."""

    operations: tuple[str, ...]
    permission: str
    rows: Rows


_STAMPS: Rows = {
    "updatedAt": ("", "nothing: it is passed over"),
    "id": ("", "the object's own id, once: that of another object is refused"),
}
_OBJECT: Rows = {
    **_STAMPS,
    "name": ("", "the name in paths, sentences and names of targets"),
    "metadata": ("", "selectors that read it"),
    "createdAt": ("fleet:write", "how old it seems, to selectors and to people"),
}


def _of(kind: str) -> tuple[str, ...]:
    return (f"create{kind}", f"put{kind}", f"patch{kind}")


_REPORT: Rows = {
    "status": ("", "the job's end, and with it what its target runs; a terminal status stays"),
    "message": ("", "what people read of the job"),
    "externalId": ("", "what people read of the job"),
    "links": ("", "links that people may follow"),
}
_REASON: Rows = {"reason": ("", "what people read of it in the audit log")}
_TO: Rows = {**_REASON, "to": ("", "which version the target gets, of those that ran there")}
_MANY: Rows = {
    "environment": ("", "the environment whose targets are acted on"),
    "selector": ("", "which targets are acted on"),
    "dryRun": ("", "nothing: it only shows"),
}
_HISTORY = ("jobs", "groups", "audit", "events", "log")
_OWN_ANSWER = ("", "the caller's own answer")
_ORDER_REASON = ("", "what people read of it in the audit log")
_FORCE = ("", "passes over the check of selectors that match nothing; never over a permission")
_GROUP: Rows = {
    **_REASON,
    "member": ("", "the member that is skipped"),
    "postHooks": ("", "whether the group's last hooks run"),
}

THINGS: tuple[Thing, ...] = (
    Thing(
        ("createWorkspace",), "workspace:admin",
        {"name": ("", "the tenant's name"), "description": ("", "what people read of it")},
    ),
    Thing(
        ("putSystem",), "fleet:write",
        {
            "name": ("", "nothing: it is the path's"),
            "description": ("", "what people read of it"),
            "metadata": ("", "what people read of it"),
        },
    ),
    Thing(
        _of("Resource"), "resource:write",
        {
            **_OBJECT,
            "identifier": ("", "the resource's own: that of another is refused"),
            "kind": ("", "selectors that read it"),
            "version": ("", "selectors that read it"),
            "config": ("", "selectors and templates of jobs that read it"),
            "variables": ("variable:write", "releases on the resource"),
        },
    ),
    Thing(
        _of("Environment"), "fleet:write",
        {
            **_OBJECT,
            "resourceSelector": ("", "which resources are release targets; its steps are bounded"),
            "systems": ("", "which deployments come here"),
        },
    ),
    Thing(
        _of("Deployment"), "fleet:write",
        {
            **_OBJECT,
            "resourceSelector": ("", "which resources are release targets; its steps are bounded"),
            "jobAgent": ("", "who runs its jobs"),
            "jobAgentSelector": ("", "who runs its jobs"),
            "jobAgentConfig": ("job:config", "what jobs are given, of what the agent opens"),
            "variables": ("variable:write", "releases of all its targets"),
            "systems": ("", "which environments it comes to"),
        },
    ),
    Thing(
        _of("Policy"), "policy:write",
        {
            **_OBJECT,
            "description": ("", "what people read of it"),
            "enabled": ("", "every target that it selects"),
            "priority": ("", "the order in which policies are shown"),
            "selector": ("", "which targets it holds; its steps are bounded"),
            "rules": ("", "when targets that it selects may change; each expression has a bound"),
        },
    ),
    Thing(
        _of("JobAgent"), "fleet:write",
        {
            **_OBJECT,
            "type": ("", "what runs its jobs"),
            "config": ("", "where jobs go and with which credentials; see the suite of agents"),
            "overridable": ("", "what deployments and versions may fill in; see the suite of agents"),
        },
    ),
    Thing(
        _of("Freeze"), "freeze:write",
        {
            **_OBJECT,
            "reason": ("", "what people read of it"),
            "selector": ("", "which targets stand still"),
            "expiresAt": ("", "until when"),
            "user": ("fleet:write", "whose doing it seems to be"),
        },
    ),
    Thing(
        _of("Signal"), "signal:write",
        {
            **_OBJECT,
            "value": ("", "gates that read it"),
            "expiresAt": ("", "until when gates read it"),
            "setAt": ("", "nothing: it is passed over"),
        },
    ),
    Thing(
        _of("VariableSet"), "fleet:write",
        {
            **_OBJECT,
            "selector": ("", "which targets have its variables"),
            "priority": ("", "which of several sets counts"),
            "variables": ("variable:write", "releases of all targets that it selects"),
        },
    ),
    Thing(
        ("putResourceSet",), "resource:write",
        {
            "provider": ("", "resources of that provider, and those that have none"),
            "resources": ("", "as fields of a resource; `current` needs target:adopt"),
        },
    ),
    Thing(
        ("putResourceVariable", "putDeploymentVariable"), "variable:write",
        {"value": ("", "releases of the resource or the deployment")},
    ),
    Thing(
        ("createVersion", "patchVersion", "patchVersionOfDeployment"), "version:write",
        {
            **_OBJECT,
            "createdAt": ("version:import", "the order of versions: which of them is the newest"),
            "id": ("version:import", "what refers to the version by its id"),
            "deployment": ("", "nothing: it is the path's"),
            "tag": ("", "the version's name in its deployment, once"),
            "status": ("", "whether it is a candidate at all"),
            "config": ("", "templates of jobs, version selectors"),
            "jobAgentConfig": ("job:config", "what jobs are given, of what the agent opens"),
            "message": ("", "what people read of it"),
            "targetSelector": ("version:scope", "which targets it is for"),
            "dependencies": ("", "what must run before it: it can only wait longer"),
            "publishedAt": ("", "nothing: it is passed over, gates go by the server's"),
            "rejection": ("", "nothing: it is passed over; to lift one needs version:reject"),
        },
    ),
    Thing(
        ("rejectVersion", "rejectVersionOfDeployment"), "version:reject",
        {
            "reason": ("", "what people read of it; it must not be empty"),
            "rollback": ("", "whether targets that run the version go back"),
        },
    ),
    Thing(
        ("putRetention",), "workspace:admin",
        {
            **dict.fromkeys(_HISTORY, ("", "how long the workspace's own history is kept, above a least")),
            "legalHold": ("", "whether anything of the workspace's history is deleted at all"),
        },
    ),
    Thing(
        ("createRule", "putRule"), "policy:write",
        {"*": ("", "when targets that the policy selects may change; each expression has a bound")},
    ),
    Thing(("patchJob",), "job:report", _REPORT),
    Thing(("callbackJob",), "", _REPORT),
    Thing(
        ("reportJob",), "job:run",
        {**_REPORT, "token": ("", "nothing but the claim that it belongs to")},
    ),
    Thing(
        ("claimJobs",), "job:run",
        {
            "holder": ("", "what people read of the claim"),
            "limit": ("", "how many jobs it takes, 100 at most"),
            "waitSeconds": ("", "how long a connection stays open, 30 seconds at most"),
            "leaseSeconds": ("", "how long nobody else is offered the job, an hour at most"),
        },
    ),
    Thing(
        ("appendJobLog",), "job:run",
        {
            "token": ("", "nothing but the claim that it belongs to"),
            "lines": ("", "what people read of the job, without its secrets; bounded for each job"),
            "offset": ("", "which of the lines are new"),
        },
    ),
    Thing(("heartbeatJob",), "job:run", {"token": ("", "nothing but the claim that it belongs to")}),
    Thing(
        tuple(f"{act}Target{suffix}" for act in ("retry", "rollback", "redeploy") for suffix in ("", "ByParts")),
        "target:act", _TO,
    ),
    Thing(("retryTargets", "rollbackTargets", "redeployTargets"), "target:act", {**_TO, **_MANY}),
    Thing(
        ("adoptTarget", "adoptTargetByParts"), "target:adopt",
        {**_REASON, "version": ("", "what the target is said to run, where nothing is known of it")},
    ),
    Thing(
        ("adoptTargets",), "target:adopt",
        {**_REASON, **_MANY, "version": ("", "what targets are said to run, where nothing is known of them")},
    ),
    Thing(("retryGroup", "abortGroup", "releaseGroup", "skipMemberOfGroup"), "group:act", _GROUP),
    Thing(
        ("vote",), "approval:write",
        {
            "deployment": ("", "the version that is voted on"),
            "tag": ("", "the version that is voted on"),
            "environment": ("", "where the vote counts"),
            "status": ("", "the vote; it is always the caller's own"),
            "reason": ("", "what people read of it"),
        },
    ),
    Thing(
        ("createSkip",), "skip:write",
        {
            "rule": ("", "the rule that is passed over, of every policy that has it"),
            "policy": ("", "narrows the skip"),
            "deployment": ("", "narrows the skip"),
            "tag": ("", "narrows the skip"),
            "environment": ("", "narrows the skip"),
            "resource": ("", "narrows the skip"),
            "reason": ("", "what people read of it; it must not be empty"),
            "expiresAt": ("", "until when"),
        },
    ),
    Thing(
        ("resumeBudget",), "budget:resume",
        {
            "rule": ("", "the budget whose line goes on"),
            "policy": ("", "narrows it"),
            "environment": ("", "narrows it"),
            "value": ("", "narrows it to one line of groupBy"),
        },
    ),
    Thing(
        ("apply",), "read",
        {
            "manifests": ("", "as fields of each object, with the permission of its kind and of each guarded field"),
            "set": ("", "which objects are marked as this set's"),
            "prune": ("", "deletes what the set no longer has, with the permission of each kind"),
            "confirm": ("", "deletes what has release targets; never passes over a permission"),
            "dryRun": ("", "nothing: it only shows"),
            "force": _FORCE,
        },
    ),
    Thing(("diff",), "read", dict.fromkeys(("manifests", "set", "prune", "deletions"), _OWN_ANSWER)),
    Thing(
        ("plan",), "read",
        {
            **dict.fromkeys(("manifests", "version", "set", "prune", "deletions", "assume"), _OWN_ANSWER),
            **dict.fromkeys(("orders", "groups", "statuses", "approvals", "skips", "endedSkips"), _OWN_ANSWER),
            "force": _FORCE,
            "until": ("", "how far the plan looks, 90 days at most"),
        },
    ),
    Thing(
        ("simulate",), "read",
        {
            "scenario": ("", "the caller's own answer: it is played in a process of its own, and bounded"),
            "files": ("", "texts that stand in for files which the scenario names; the server's own are not read"),
            "until": ("", "how far it is played, 90 days at most"),
            "seed": _OWN_ANSWER,
        },
    ),
    Thing(
        ("pauseWorkload", "resumeWorkload", "abortWorkload", "pauseGraph", "resumeGraph"), "target:act",
        {"reason": _ORDER_REASON},
    ),
    Thing(
        ("partitionWorkload",), "target:act",
        {"partition": ("", "which replicas of the set are updated"), "reason": _ORDER_REASON},
    ),
    Thing(
        ("beginOidcLogin",), "",
        {"returnTo": ("", "the page that the caller's own browser goes on with: a path of this server, or /")},
    ),
    Thing(
        ("createToken",), "token:write",
        {
            "name": ("", "the user's name in votes and audit log; no other user's"),
            "role": ("", "what it may do: no more than its maker"),
            "permissions": ("", "what it may do: no more than its maker"),
            "agents": ("", "narrows it to their jobs"),
            "expiresAt": ("", "until when: no longer than its maker"),
            "allWorkspaces": ("", "where: only for whoever has it everywhere"),
        },
    ),
    Thing(
        ("beginSession",), "",
        {
            "token": ("", "a session of whoever has the token: no more than it"),
            "code": ("", "a session of whoever made the code, once"),
        },
    ),
)  # fmt: skip


def by_operation() -> dict[str, Thing]:
    return {operation: thing for thing in THINGS for operation in thing.operations}
