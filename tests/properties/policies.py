"""Random policies: a few rules each, some of them with a bracket."""

from . import rules
from .choosing import Chooser
from .objects import Document, Fleet, manifest

SELECTORS = (
    "true",
    "deployment.metadata['layer'] == 'node'",
    "environment.name == 'prod'",
    "resource.metadata['zone'] == 'a'",
    "deployment.name != 'kubelet'",
)
NAMES = ("", "careful", "first", "second")


def policy(choose: Chooser, fleet: Fleet, name: str) -> Document:
    spec: Document = {}
    found: list[Document] = []
    fleet.is_of_bracket = False
    if choose.chance(65 if name == "policy-1" else 0 if fleet.peaceful else 10):
        fleet.has_bracket = fleet.is_of_bracket = True
        found.append({"deploymentBracket": rules.bracket(choose, fleet)})
        if len(fleet.deployments) >= 3 and choose.chance(40):
            found += rules.hook_order(fleet)
        if choose.chance(30):
            found.append({"rollback": rules.rollback(choose, fleet)})
    elif choose.chance(60):
        spec["selector"] = choose.one(SELECTORS)
    found += [rules.any_rule(choose, fleet) for _ in range(choose.number(0, 4))]
    spec["rules"] = _with_names(choose, found)
    if not fleet.peaceful and choose.chance(4):
        spec["enabled"] = False
    fleet.policies[name] = found
    document = fleet.documents[name] = manifest("Policy", name, spec)
    return document


def _with_names(choose: Chooser, found: list[Document]) -> list[Document]:
    names = list(NAMES)
    result = []
    for rule in found:
        name = choose.one(names) if choose.chance(20) else ""
        if name:
            names.remove(name)
        result.append({"name": name, **rule} if name else rule)
    return result


def retry_for_all() -> Document:
    return manifest("Policy", "try-again", {"rules": [{"retry": {"maxRetries": 3, "backoffSeconds": 30}}]})


def stages(choose: Chooser) -> Document:
    """Every environment but the first waits for the first."""
    rule = {
        "dependsOnEnvironmentSelector": "environment.name == 'dev'",
        "minimumSuccessPercentage": choose.one((100, 50, 0)),
        "minimumSoakTimeMinutes": choose.one((0, 1, 5)),
        "scopedVersions": "exempt",
    }
    spec = {"selector": "environment.name != 'dev'", "rules": [{"environmentProgression": rule}]}
    return manifest("Policy", "stages", spec)
