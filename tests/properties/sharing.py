"""Sets that share devices on every level: what a random scenario says, with claims added.

What is shared may not change, so a set has the same in all of its documents. Chance comes from the scenario itself: nothing
is drawn for it, and all else that is random stays what it was.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any

Document = dict[str, Any]

_NAMES = ("gpu", "net")
_ASKED = {"spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "any"}}]}}}


def shared(scenario: Document) -> Document:
    result = copy.deepcopy(scenario)
    chance = random.Random(scenario["spec"]["seed"])
    known: dict[str, list[Document]] = {}
    for template in _templates(result["spec"]):
        template["resourceClaimTemplates"] = [{"name": name, "templateSpec": _ASKED} for name in _NAMES]
        for owner in _owners(template):
            name = owner.get("name", "")
            if name not in known:
                known[name] = list(_references(chance))
            owner["resourceSharing"] = known[name]
    return result


def _templates(value: Any) -> Iterator[Document]:
    """Of all sets that are applied or were there from the beginning."""
    if isinstance(value, list):
        for item in value:
            yield from _templates(item)
    elif isinstance(value, dict):
        if value.get("kind") == "PodCliqueSet" and "template" in value.get("spec", {}):
            yield value["spec"]["template"]
        else:
            for item in value.values():
                yield from _templates(item)


def _owners(template: Document) -> Iterator[Document]:
    yield template
    yield from template["cliques"]
    yield from template.get("podCliqueScalingGroups", ())


def _references(chance: random.Random) -> Iterator[Document]:
    for name in _NAMES:
        if chance.random() < 0.7:
            yield {"name": name, "scope": chance.choice(("AllReplicas", "PerReplica"))}
