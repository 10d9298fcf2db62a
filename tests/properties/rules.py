"""Random rules of every kind, with valid fields."""

from collections.abc import Callable

from .choosing import Chooser
from .objects import POST_HOOK, PRE_HOOK, RESOURCE_SELECTORS, Document, Fleet

UNSUCCESSFUL = (
    "failure",
    "cancelled",
    "skipped",
    "invalidJobAgent",
    "invalidIntegration",
    "externalRunNotFound",
    "timedOut",
)
WINDOWS = (0, 30, 60, 120, 300)
VALUES = ("resource.name", "resource.kind", "resource.metadata['zone']")
"""What limits, positions and budgets are counted by."""


def named(name: str) -> str:
    return f"deployment.name == '{name}'"


def bracket(choose: Chooser, fleet: Fleet) -> Document:
    mode = choose.one(("collection_window", "wait_for_all", "immediate"))
    spec: Document = {"deploymentSelector": "true", "readinessMode": mode}
    if not fleet.peaceful and choose.chance(40):
        options = (
            "deployment.metadata['layer'] == 'node'",
            "deployment.metadata['layer'] != 'node'",
            f"deployment.name != '{fleet.deployments[-1]}'",
        )
        spec["deploymentSelector"] = choose.one(options)
    if mode != "immediate" or choose.chance(30):
        spec["readinessWindowSeconds"] = choose.one(WINDOWS)
    spec["unchangedMemberStrategy"] = choose.one(("skip_unchanged", "redeploy_current", "require_all"))
    spec["overlapStrategy"] = choose.one(("queue", "merge"))
    if choose.chance(25):
        spec["windowTrigger"] = choose.one(("eligible", "published"))
    if choose.chance(25):
        spec["requireAllTimeoutSeconds"] = choose.one(WINDOWS)
    if choose.chance(50):
        spec["rollbackStrategy"] = choose.one(("individual", "halt_and_notify", "all_members"))
    if choose.chance(20):
        spec["stuckTimeoutSeconds"] = choose.one((60, 300))
        spec["onStuck"] = choose.one(("release", "hold"))
    spec.update(_hooks(choose))
    if not fleet.peaceful and choose.chance(15):
        spec["hooksIdempotent"] = choose.chance(50)
    if choose.chance(15):
        spec["preparedStatePersists"] = choose.chance(50)
    return spec


def _hooks(choose: Chooser) -> Document:
    pre, post = {"preHookSelector": named(PRE_HOOK)}, {"postHookSelector": named(POST_HOOK)}
    none = {"preHookSelector": "false", "postHookSelector": "false"}
    return dict(choose.one(({}, {**pre, **post}, {}, {**pre, **post}, {**pre, **post}, none, pre, post)))


def concurrency(choose: Chooser, fleet: Fleet) -> Document:
    selector = "true" if choose.chance(50) else choose.one(RESOURCE_SELECTORS)
    spec: Document = {"groupSelector": selector}
    if choose.chance(40):
        spec |= {"limitType": "percentage", "limitValue": choose.one((1, 20, 34, 50))}
    else:
        spec |= {"limitType": "count", "limitValue": choose.number(1, 3)}
    if choose.chance(25):
        spec["holdThroughVerification"] = False
    if choose.chance(25):
        spec["groupBy"] = choose.one(VALUES)
    return spec


def gradual_rollout(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {
        "rolloutType": choose.one(("linear", "linearNormalized", "exponential")),
        "timeScaleInterval": choose.one((0, 30, 60, 120, 300)),
    }
    if choose.chance(25):
        spec["bracketAware"] = choose.chance(50)
    if choose.chance(60 if fleet.peaceful else 20) and (not fleet.peaceful or _has_one_order(fleet, spec)):
        spec["advanceOn"] = "success"
    if not fleet.peaceful and choose.chance(25):
        spec["stopAfterFailures"] = choose.number(1, 2)
    if choose.chance(20):
        spec["groupBy"] = choose.one(VALUES)
    return spec


def _has_one_order(fleet: Fleet, spec: Document) -> bool:
    """In a bracket every member has an order of its own by rules that it does not share, and waves have another: two
    resources can wait for each other for ever."""
    if not fleet.has_bracket:
        return fleet.is_in_order
    return fleet.is_of_bracket and spec.get("bracketAware", True)


def dependency(choose: Chooser, fleet: Fleet) -> Document:
    """Always on an earlier name; in a peaceful fleet only on what gets a job by itself."""
    names = fleet.deployments
    if len(names) < 2:
        return {"dependsOn": named("nothing"), "appliesTo": named("nobody")}
    later = choose.number(1, len(names) - 1)
    earlier = choose.number(0, later - 1)
    if not fleet.peaceful and choose.chance(5):
        return {"dependsOn": named("nothing"), "appliesTo": named(names[later])}
    if not fleet.peaceful and choose.chance(10):
        return {"dependsOn": named(names[earlier])}
    if not fleet.peaceful and choose.chance(10):
        return {"dependsOn": "deployment.metadata['layer'] == 'app'", "appliesTo": named(names[later])}
    return {"dependsOn": named(names[earlier]), "appliesTo": named(names[later])}


def approval(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {"minApprovals": choose.number(0 if fleet.peaceful else 1, 2)}
    if choose.chance(15):
        spec["roles"] = ["sre"]
    return spec


def progression(choose: Chooser, fleet: Fleet) -> Document:
    sign = choose.weighted({"==": 80, "!=": 20})
    spec: Document = {
        "dependsOnEnvironmentSelector": f"environment.name {sign} '{choose.one(fleet.environments)}'",
        "minimumSuccessPercentage": choose.one((100, 50, 0, 33.4)),
        "minimumSoakTimeMinutes": choose.one((0, 1, 5)),
        "require": choose.one(("all", "any")),
        "scopedVersions": choose.one(("enforce", "exempt")),
    }
    if choose.chance(20):
        spec["maximumAgeHours"] = choose.one((0.25, 1))
    if choose.chance(20):
        spec["requireVerificationPassed"] = False
    return spec


def window(choose: Chooser, fleet: Fleet) -> Document:
    """Those of a peaceful fleet leave a minute in which all of them are open."""
    allows = choose.chance(50)
    if fleet.peaceful:
        rule = "FREQ=MINUTELY;INTERVAL=5" if allows else "FREQ=HOURLY;BYMINUTE=3,20"
        spec: Document = {"rrule": rule, "durationMinutes": 3 if allows else 1, "allowWindow": allows}
    else:
        rule = choose.one(
            ("FREQ=MINUTELY;INTERVAL=5", "FREQ=MINUTELY;INTERVAL=10", "FREQ=HOURLY;BYMINUTE=3,20")
        )
        spec = {"rrule": rule, "durationMinutes": choose.one((1, 3)), "allowWindow": allows}
    if choose.chance(25):
        spec["firstDeployment"] = choose.one(("bypass", "enforce"))
    return spec


def cooldown(choose: Chooser, fleet: Fleet) -> Document:
    return {"intervalSeconds": choose.one((0, 60, 120, 300))}


def version_selector(choose: Chooser, fleet: Fleet) -> Document:
    if fleet.peaceful:
        return {"selector": "version.tag != 'none'"}
    return {"selector": choose.one(("version.tag != 'v1'", "version.tag != 'v2'", "version.tag != 'none'"))}


def retry(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {
        "maxRetries": choose.number(2 if fleet.peaceful else 0, 3),
        "backoffSeconds": choose.one((0, 30, 60)),
    }
    if choose.chance(40):
        spec["backoffStrategy"] = choose.one(("exponential", "linear"))
    if choose.chance(20):
        spec["maxBackoffSeconds"] = choose.one((60, 90))
    if not fleet.peaceful and choose.chance(30):
        spec["retryOnStatuses"] = choose.some(UNSUCCESSFUL) or ["failure"]
    return spec


def rollback(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {}
    if choose.chance(40):
        spec["onJobStatuses"] = choose.some(UNSUCCESSFUL) or ["failure"]
    if choose.chance(40):
        spec["onVerificationFailure"] = choose.chance(70)
    if not fleet.peaceful and choose.chance(20):
        spec["rejectAfter"] = choose.number(1, 2)
    return spec


def verification(choose: Chooser, fleet: Fleet) -> Document:
    metric: Document = {
        "name": "health",
        "intervalSeconds": choose.one((30, 60)),
        "count": choose.number(1, 3),
    }
    if choose.chance(25):
        metric["provider"] = {"type": "sleep", "durationSeconds": choose.one((0, 30, 60))}
    else:
        metric["provider"] = {"type": "http", "url": "http://probe.test/health"}
        metric["successCondition"] = "result.ok"
    if choose.chance(30):
        metric["failureThreshold"] = choose.number(0, 2)
    if choose.chance(30):
        metric["successThreshold"] = 1
    metrics = [metric]
    if choose.chance(20):
        short = {"type": "sleep", "durationSeconds": choose.one((0, 30, 60))}
        metrics.append({"name": "settled", "provider": short})
    return {
        "metrics": metrics,
        "triggerOn": choose.weighted(
            {"jobSuccess": 70, "jobStarted": 10, "jobCreated": 10, "jobFailure": 10}
        ),
    }


TIME_GATES = ("now >= timestamp('2026-03-02T09:04:00Z')", "now.getMinutes() % 2 == 0")
WAVE_GATES = (
    "linearlyUpdated(target, targets, 1)",
    "linearlyUpdated(target, targets, 2)",
    "exponentiallyUpdated(target, targets)",
)
OTHER_GATES = (
    "!('alarm' in signals)",
    "!signals['alarm'].firing",
    "targets.filter(t, t.updated()).all(t, t.ready())",
    "resource.metadata['rack'] == '1'",
)


def gate(choose: Chooser, fleet: Fleet) -> Document:
    """Waves over hooks can wait for ever: a hook gets its new version only with the next cycle."""
    texts: tuple[str, ...] = (*TIME_GATES, *WAVE_GATES, *OTHER_GATES)
    if fleet.peaceful:
        has_waves = not fleet.has_bracket and not fleet.is_in_order
        texts = (*TIME_GATES, *WAVE_GATES) if has_waves else TIME_GATES
    return {"when": [choose.one(texts) for _ in range(choose.number(1, 2))]}


def failure_budget(choose: Chooser, fleet: Fleet) -> Document:
    options = ("100%",) if fleet.peaceful else (0, 1, "10%", "50%")
    spec: Document = {"maxFailed": choose.one(options), "per": choose.one(("environment", "policy"))}
    if choose.chance(20):
        spec["groupBy"] = choose.one(VALUES)
    return spec


def scoped_version(choose: Chooser, fleet: Fleet) -> Document:
    spec: Document = {"requireApprovals": choose.number(0, 2)}
    if not fleet.peaceful and choose.chance(40):
        spec["allow"] = False
    return spec


Maker = Callable[[Chooser, Fleet], Document]
KINDS: dict[str, tuple[Maker, int]] = {
    "resourceConcurrency": (concurrency, 16),
    "gradualRollout": (gradual_rollout, 10),
    "deploymentDependency": (dependency, 14),
    "approval": (approval, 4),
    "anyApproval": (approval, 1),
    "environmentProgression": (progression, 4),
    "deploymentWindow": (window, 6),
    "versionCooldown": (cooldown, 6),
    "versionSelector": (version_selector, 4),
    "retry": (retry, 12),
    "rollback": (rollback, 10),
    "verification": (verification, 8),
    "gate": (gate, 8),
    "failureBudget": (failure_budget, 7),
    "scopedVersion": (scoped_version, 4),
}
"""How a rule of each kind is made, and how often; brackets are put in by the policy, seldom two of them."""


SELDOM_IF_LIVELY = (
    "approval",
    "environmentProgression",
    "versionSelector",
    "scopedVersion",
    "gate",
    "deploymentWindow",
)
"""What keeps most versions from most targets."""


def any_rule(choose: Chooser, fleet: Fleet) -> Document:
    weights = {
        kind: 1 if fleet.is_lively and kind in SELDOM_IF_LIVELY else weight
        for kind, (_, weight) in KINDS.items()
        if kind != "environmentProgression" or (len(fleet.environments) > 1 and not fleet.peaceful)
    }
    kind = choose.weighted(weights)
    return {kind: KINDS[kind][0](choose, fleet)}


def hook_order(fleet: Fleet) -> list[Document]:
    """The dependencies from which the first and the last deployment are seen to be hooks."""
    first, *between, last = fleet.deployments
    return [
        {"deploymentDependency": {"dependsOn": named(first), "appliesTo": f"!({named(first)})"}},
        {
            "deploymentDependency": {
                "dependsOn": " || ".join(named(name) for name in between),
                "appliesTo": named(last),
            }
        },
    ]
