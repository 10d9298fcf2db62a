"""Random scenarios, as plain documents: a fleet, its policies, and what happens to it."""

from typing import Any

from hypothesis import strategies as st

from . import interventions, objects, policies, timelines
from .choosing import CHOOSERS, Chooser
from .objects import DEPLOYMENTS, ENVIRONMENTS, Document, Fleet

START = "2026-03-02T09:00:00Z"


def scenarios() -> st.SearchStrategy[Document]:
    """Anything may happen: failures, operators that change their mind, objects that come and go, crashes."""
    return CHOOSERS.map(lambda choose: _scenario(choose, peaceful=False, until="+3h"))


def peaceful_scenarios() -> st.SearchStrategy[Document]:
    """Faults pass, gates open in the end, everything is approved: such a fleet has to converge."""
    return CHOOSERS.map(lambda choose: _scenario(choose, peaceful=True, until="+48h"))


def _scenario(choose: Chooser, *, peaceful: bool, until: str) -> Document:
    fleet = _fleet(choose, peaceful=peaceful)
    steps = timelines.timeline(choose, fleet)
    spec: Document = {
        "start": START,
        "until": until,
        "seed": choose.number(1, 3),
        "objects": fleet.objects,
        "agents": timelines.agents(choose, fleet),
        "timeline": steps,
    }
    document: Document = {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "found-by-chance"},
        "spec": spec,
    }
    is_watched = not peaceful and choose.chance(50)
    return interventions.added(choose, fleet, document) if is_watched else document


def _fleet(choose: Chooser, *, peaceful: bool) -> Fleet:
    fleet = Fleet(peaceful=peaceful, is_lively=not peaceful and choose.chance(50))
    fleet.resources = [f"node-{number}" for number in range(1, choose.number(1, 6) + 1)]
    fleet.environments = list(ENVIRONMENTS[: choose.weighted({1: 50, 2: 35, 3: 15})])
    fleet.deployments = _deployments(choose)
    fleet.objects = [
        *(objects.resource(choose, name) for name in fleet.resources),
        *(objects.environment(choose, fleet, name) for name in fleet.environments),
        *(objects.deployment(choose, fleet, name) for name in fleet.deployments),
    ]
    if peaceful:
        fleet.objects.append(policies.retry_for_all())
        fleet.is_staged = choose.chance(30)
        fleet.is_in_order = choose.chance(30)
    if fleet.is_staged:
        fleet.objects.append(policies.stages(choose))
    for number in range(1, choose.number(1, 3) + 1):
        fleet.objects.append(policies.policy(choose, fleet, f"policy-{number}"))
    fleet.objects += objects.initial_versions(choose, fleet)
    return fleet


def _deployments(choose: Chooser) -> list[str]:
    if choose.chance(60):
        return [DEPLOYMENTS[0], *DEPLOYMENTS[1 : 1 + choose.number(1, 3)], DEPLOYMENTS[-1]]
    return choose.some(DEPLOYMENTS) or ["engine"]


def steps_of(document: Document) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["spec"]["timeline"]
    return found


def with_publications_swapped(steps: list[Document]) -> list[Document]:
    """Neighbours of one instant that publish versions of different deployments change places."""
    found = list(steps)
    for index in range(len(found) - 1):
        one, other = found[index], found[index + 1]
        if one["at"] != other["at"] or "publish" not in one or "publish" not in other:
            continue
        if one["publish"]["deployment"] != other["publish"]["deployment"]:
            found[index], found[index + 1] = other, one
    return found
