"""Random timelines: versions, what operators do, how agents behave, and crashes."""

from collections.abc import Callable
from typing import Any

from . import objects, policies, rules
from .choosing import STEP_SECONDS, Chooser
from .objects import ENVIRONMENTS, POST_HOOK, PRE_HOOK, USERS, Document, Fleet

LAST_STEP = 40
"""What expires does so in the first twenty minutes, in which most steps happen."""

JOB_STATUSES = (
    "successful",
    "failure",
    "cancelled",
    "skipped",
    "timedOut",
    "externalRunNotFound",
    "invalidIntegration",
    "queued",
    "actionRequired",
    "inProgress",
)


def publish(choose: Chooser, fleet: Fleet) -> Document:
    owner = choose.one(_published(fleet))
    tags = fleet.tags.setdefault(owner, [])
    tag = f"v{len(tags) if tags[:1] == ['v0'] else len(tags) + 1}"
    tags.append(tag)
    return {"publish": objects.version(choose, fleet, owner, tag)}


def _published(fleet: Fleet) -> list[str]:
    """A new version of a hook comes with the next cycle of each node: a stage may wait for one in which half of the nodes
    have it for ever."""
    names = fleet.deployments
    if fleet.is_staged and fleet.has_bracket:
        names = [name for name in names[1:-1] if name not in (PRE_HOOK, POST_HOOK)]
    return names or fleet.deployments


def _version(choose: Chooser, fleet: Fleet) -> Document:
    owner = choose.one(fleet.deployments)
    return {"deployment": owner, "tag": choose.one(fleet.tags.get(owner) or ["v1"])}


def vote(choose: Chooser, fleet: Fleet) -> Document:
    kind = choose.weighted({"approve": 70, "reject": 15, "withdraw": 15})
    ballot = {
        **_version(choose, fleet),
        "environment": choose.one(fleet.environments),
        "user": choose.one(USERS),
    }
    if choose.chance(50):
        ballot["roles"] = ["sre"]
    return {kind: ballot}


def _rule_of(choose: Chooser, fleet: Fleet) -> Document:
    name = choose.one(sorted(fleet.policies) or ["policy-1"])
    count = len(fleet.policies.get(name, ()))
    return {"policy": name, "rule": choose.number(0, max(0, count - 1))}


def skip(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {"id": f"skip-{choose.number(1, 3)}", **_rule_of(choose, fleet), "reason": "urgent"}
    if choose.chance(30):
        spec.update(_version(choose, fleet))
    if choose.chance(30):
        spec["environment"] = choose.one(fleet.environments)
    if choose.chance(30):
        spec["resource"] = choose.one(fleet.resources)
    if choose.chance(40):
        spec["expiresAt"] = f"+{choose.seconds(LAST_STEP)}s"
    return {"skip": spec}


def unskip(choose: Chooser, fleet: Fleet) -> Document:
    return {"unskip": f"skip-{choose.number(1, 3)}"}


def freeze(choose: Chooser, fleet: Fleet) -> Document:
    selector = choose.one(
        (
            "true",
            "resource.metadata['zone'] == 'a'",
            "resource.metadata['rack'] == '1'",
            "deployment.name == 'uncordon'",
            "environment.name == 'dev'",
        )
    )
    spec = {"name": f"stop-{choose.number(1, 2)}", "selector": selector, "reason": "an incident"}
    if fleet.peaceful or choose.chance(60):
        spec["expiresAt"] = f"+{choose.seconds(LAST_STEP)}s"
    return {"freeze": spec}


def unfreeze(choose: Chooser, fleet: Fleet) -> Document:
    return {"unfreeze": f"stop-{choose.number(1, 2)}"}


def signal(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {"name": "alarm", "value": {"firing": choose.chance(50)}}
    if choose.chance(40):
        spec["expiresAt"] = f"+{choose.seconds(LAST_STEP)}s"
    return {"signal": spec}


def set_version(choose: Chooser, fleet: Fleet) -> Document:
    status = choose.weighted({"ready": 40, "rejected": 25, "paused": 15, "failed": 10, "building": 10})
    return {"setVersion": {**_version(choose, fleet), "status": status}}


def reject_version(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {**_version(choose, fleet), "reason": "it is bad"}
    if choose.chance(50):
        spec["rollback"] = True
    return {"rejectVersion": spec}


def edit_version(choose: Chooser, fleet: Fleet) -> Document:
    """Another scope, other dependencies or another content under the same tag."""
    known = _version(choose, fleet)
    spec = objects.version(choose, fleet, known["deployment"], known["tag"])
    if choose.chance(50):
        spec["config"] = {"image": choose.one(("good", "other"))}
    return {"apply": objects.manifest("Version", f"{known['deployment']}/{known['tag']}", spec)}


def set_variable(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {"key": "size", "value": choose.one((1, 2, 3, None))}
    if choose.chance(50):
        spec["resource"] = choose.one(fleet.resources)
    else:
        spec["deployment"] = choose.one(fleet.deployments)
    return {"setVariable": spec}


def apply(choose: Chooser, fleet: Fleet) -> Document:
    kind = choose.one(
        ("Resource", "NewResource", "Deployment", "Environment", "Policy", "VariableSet", "JobAgent")
    )
    match kind:
        case "Resource":
            return {"apply": objects.resource(choose, choose.one(fleet.resources))}
        case "NewResource":
            name = f"node-{choose.number(7, 8)}"
            fleet.resources = [*fleet.resources, *({name} - set(fleet.resources))]
            return {"apply": objects.resource(choose, name)}
        case "Deployment":
            name = choose.one(fleet.deployments)
            return {"apply": objects.deployment(choose, fleet, name)}
        case "Environment":
            names = fleet.environments if fleet.peaceful else ENVIRONMENTS
            return {"apply": objects.environment(choose, fleet, choose.one(names))}
        case "Policy":
            name = choose.one(("policy-1", "policy-2", "policy-3"))
            return {"apply": policies.policy(choose, fleet, name)}
        case "VariableSet":
            spec = {"selector": choose.one(("true", "environment.name == 'prod'")), "variables": {"size": 9}}
            return {"apply": objects.manifest("VariableSet", "sizes", spec)}
    return {"apply": objects.manifest("JobAgent", "runner", {"type": "pull"})}


def switch(choose: Chooser, fleet: Fleet) -> Document:
    """A policy is switched off, or on again, at any moment of a cycle."""
    document = _known_policy(choose, fleet)
    spec = {**document["spec"], "enabled": not document["spec"].get("enabled", True)}
    return _policy_again(fleet, document, spec)


def trim(choose: Chooser, fleet: Fleet) -> Document:
    """A rule goes, in the middle of a backoff or of a cycle: a retry, a rollback, the bracket itself."""
    document = _known_policy(choose, fleet)
    rules = document["spec"]["rules"]
    spec = {**document["spec"], "rules": rules[: choose.number(0, len(rules))]}
    return _policy_again(fleet, document, spec)


def _known_policy(choose: Chooser, fleet: Fleet) -> Document:
    name = choose.one(sorted(fleet.documents) or ["policy-1"])
    return fleet.documents.get(name) or objects.manifest("Policy", name, {"rules": []})


def _policy_again(fleet: Fleet, document: Document, spec: Document) -> Document:
    again = {**document, "spec": spec}
    fleet.documents[document["metadata"]["name"]] = again
    return {"apply": again}


def leave(choose: Chooser, fleet: Fleet) -> Document:
    """A node is relabelled out of where it was, or a deployment no longer selects it."""
    if choose.chance(60):
        name = choose.one(fleet.resources)
        return {"apply": objects.manifest("Resource", name, {"kind": "Gone", "metadata": {"zone": "c"}})}
    name = choose.one(fleet.deployments)
    spec = {"resourceSelector": "false", "metadata": {"layer": "node"}}
    return {"apply": objects.manifest("Deployment", name, spec)}


def come_back(choose: Chooser, fleet: Fleet) -> Document:
    kind, names = choose.one((("Resource", fleet.resources), ("Deployment", fleet.deployments)))
    name = choose.one(names)
    document = fleet.manifest(kind, name)
    return {"apply": document if document is not None else objects.resource(choose, name)}


def bracket_over_all(choose: Chooser, fleet: Fleet) -> Document:
    """A bracket begins to apply while jobs of its members run."""
    fleet.has_bracket = True
    rules_of_it = [{"deploymentBracket": rules.bracket(choose, fleet)}]
    document = objects.manifest("Policy", "policy-1", {"rules": rules_of_it})
    fleet.policies["policy-1"] = rules_of_it
    return _policy_again(fleet, document, document["spec"])


def delete(choose: Chooser, fleet: Fleet) -> Document:
    kind = choose.weighted(
        {
            "Resource": 35,
            "Deployment": 12,
            "Environment": 12,
            "Policy": 20,
            "Version": 12,
            "VariableSet": 3,
            "Signal": 6,
            "JobAgent": 3,
        }
    )
    version = _version(choose, fleet)
    names = {
        "Resource": choose.one(fleet.resources),
        "Deployment": version["deployment"],
        "Environment": choose.one(fleet.environments),
        "Policy": choose.one(sorted(fleet.policies) or ["policy-1"]),
        "Version": f"{version['deployment']}/{version['tag']}",
        "VariableSet": "sizes",
        "Signal": "alarm",
        "JobAgent": "runner",
    }
    return {"delete": {"kind": kind, "name": names[kind]}}


def group(choose: Chooser, fleet: Fleet) -> Document:
    action = choose.one(("retry", "skipMember", "abort", "release"))
    spec: Document = {
        "action": action,
        "environment": choose.one(fleet.environments),
        "resource": choose.one(fleet.resources),
    }
    if action == "skipMember" or choose.chance(15):
        spec["member"] = choose.one(fleet.deployments)
    if action == "abort" and choose.chance(50):
        spec["postHooks"] = False
    return {"group": spec}


def _target(choose: Chooser, fleet: Fleet) -> str:
    parts = (fleet.deployments, fleet.environments, fleet.resources)
    return "/".join(choose.one(names) for names in parts)


def _order(choose: Chooser, fleet: Fleet, deployment: str) -> Document:
    action = choose.weighted({"retry": 30, "rollback": 30, "redeploy": 25, "adopt": 15})
    if action == "adopt" or choose.chance(30):
        return {"action": action, "to": choose.one(fleet.tags.get(deployment) or ["v1"])}
    return {"action": action}


def target(choose: Chooser, fleet: Fleet) -> Document:
    name = _target(choose, fleet)
    return {"target": {**_order(choose, fleet, name.partition("/")[0]), "target": name}}


def targets(choose: Chooser, fleet: Fleet) -> Document:
    deployment = choose.one(fleet.deployments)
    spec = {
        **_order(choose, fleet, deployment),
        "deployment": deployment,
        "environment": choose.one(fleet.environments),
    }
    if choose.chance(30):
        spec["selector"] = f"resource.name != '{choose.one(fleet.resources)}'"
    return {"targets": spec}


def resume(choose: Chooser, fleet: Fleet) -> Document:
    spec = _rule_of(choose, fleet)
    if choose.chance(30):
        spec["environment"] = choose.one(fleet.environments)
    if choose.chance(20):
        spec["value"] = choose.one(("a", "b", "Node", *fleet.resources))
    return {"resume": spec}


def report(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {"target": _target(choose, fleet), "status": choose.one(JOB_STATUSES)}
    if choose.chance(25):
        spec["attempt"] = choose.number(1, 2)
    return {"report": spec}


def crash(choose: Chooser, fleet: Fleet) -> Document:
    return {"crash": "engine"}


def explain(choose: Chooser, fleet: Fleet) -> Document:
    return {"explain": {"target": _target(choose, fleet)}}


def snapshot(choose: Chooser, fleet: Fleet) -> Document:
    return {"snapshot": {}}


Maker = Callable[[Chooser, Fleet], Document]
STEPS: dict[Maker, int] = {
    publish: 34,
    vote: 12,
    skip: 5,
    unskip: 2,
    freeze: 5,
    unfreeze: 4,
    signal: 5,
    reject_version: 3,
    set_version: 7,
    edit_version: 4,
    set_variable: 6,
    apply: 8,
    switch: 5,
    trim: 4,
    leave: 6,
    come_back: 6,
    bracket_over_all: 3,
    delete: 5,
    group: 9,
    target: 5,
    targets: 4,
    resume: 3,
    report: 5,
    crash: 4,
    explain: 3,
    snapshot: 1,
}
PEACEFUL_STEPS: dict[Maker, int] = {
    publish: 40,
    freeze: 5,
    signal: 5,
    set_variable: 8,
    crash: 5,
    explain: 3,
}
"""Nothing that a person would have to set right again."""
LIVELY_STEPS: dict[Maker, int] = {**STEPS, publish: 90, vote: 2, set_version: 3, freeze: 2}
"""Mostly new versions; what is done about them depends on what they do."""


def timeline(choose: Chooser, fleet: Fleet) -> list[Document]:
    makers = PEACEFUL_STEPS if fleet.peaceful else LIVELY_STEPS if fleet.is_lively else STEPS
    moment = 0
    steps: list[Document] = []
    for make in choose.several(lambda: choose.weighted(makers), 2, 20):
        moment += _gap_seconds(choose)
        steps.append({"at": f"+{moment}s", **make(choose, fleet)})
    return [*steps, *(_all_approvals(fleet, moment + STEP_SECONDS) if fleet.peaceful else ())]


def _gap_seconds(choose: Chooser) -> int:
    """Often none, so that several steps share an instant; mostly on the grid on which jobs end too."""
    if choose.chance(35):
        return 0
    odd = choose.number(1, STEP_SECONDS - 1) if choose.chance(8) else 0
    return choose.number(1, 6) * STEP_SECONDS + odd


def _all_approvals(fleet: Fleet, moment: int) -> list[Document]:
    at = f"+{moment}s"
    return [
        {
            "at": at,
            "approve": {
                "deployment": owner,
                "tag": tag,
                "environment": place,
                "user": user,
                "roles": ["sre"],
            },
        }
        for owner, tags in fleet.tags.items()
        for tag in tags
        for place in fleet.environments
        for user in USERS[:2]
    ]


def agents(choose: Chooser, fleet: Fleet) -> list[Document]:
    """Most jobs succeed; some fail on some attempts, some take no time at all, some wait for an agent, some are never
    heard of again."""
    found = [_agent(choose, fleet) for _ in range(choose.number(1 if fleet.is_lively else 0, 4))]
    return [*found, {"duration": f"{choose.one((60, 0, 30, 120, 300))}s"}]


def _agent(choose: Chooser, fleet: Fleet) -> Document:
    matches = [
        f"deployment.name == '{choose.one(fleet.deployments)}'",
        f"resource.name == '{choose.one(fleet.resources)}'",
        "version.tag == 'v1'",
        "version.tag == 'v2'",
    ]
    entry: Document = {"match": choose.one(matches), "duration": f"{choose.one((60, 0, 30, 120, 300, 600))}s"}
    if choose.chance(60):
        entry["outcomes"] = _outcomes(choose, fleet)
    if choose.chance(30):
        entry["claimedAfter"] = f"{choose.one((60, 30, 300))}s"
    if not fleet.peaceful and choose.chance(15):
        entry["timeout"] = f"{choose.one((60, 90))}s"
    if not fleet.peaceful and choose.chance(30):
        answers: list[Any] = [{"ok": choose.chance(60)} for _ in range(choose.number(1, 3))]
        entry["measurements"] = {"health": [*answers, *([{"error": "down"}] if choose.chance(15) else [])]}
    return entry


def _outcomes(choose: Chooser, fleet: Fleet) -> list[str]:
    if fleet.peaceful:
        return choose.one((["successful"], ["failure", "successful"], ["failure", "timedOut", "successful"]))
    if fleet.is_lively and choose.chance(60):
        return choose.one((["failure"], ["failure", "successful"], ["failure", "failure", "successful"]))
    options = ("failure", "successful", "timedOut", "externalRunNotFound", "skipped", "cancelled", "never")
    return [choose.one(options) for _ in range(choose.number(1, 3))]
