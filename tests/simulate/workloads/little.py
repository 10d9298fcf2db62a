"""Small clusters and sets to vary."""

from typing import Any

from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.simulate import run, scenario
from headgate.simulate.model.result import Result
from headgate.simulate.workloads.part import ClusterPart

from ..small import document
from . import trivial


def clique(name: str, replicas: int = 1, **spec: Any) -> dict[str, Any]:
    pod_spec = {"containers": [{"name": "main", "image": "app:1"}]}
    return {"name": name, "spec": {"roleName": name, "replicas": replicas, "podSpec": pod_spec, **spec}}


def group(name: str, *cliques: str, replicas: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": name, "cliqueNames": list(cliques), "replicas": replicas, **more}


def pod_clique_set(
    *cliques: dict[str, Any],
    name: str = "llm",
    replicas: int = 1,
    groups: tuple[dict[str, Any], ...] = (),
    strategy: dict[str, Any] | None = None,
    **template: Any,
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "replicas": replicas,
        "template": {"cliques": list(cliques) or [clique("web")], **template},
    }
    if groups:
        spec["template"]["podCliqueScalingGroups"] = list(groups)
    if strategy is not None:
        spec["updateStrategy"] = strategy
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name},
        "spec": spec,
    }


def new_image(image: str, *cliques: dict[str, Any], at: str = "+5m", name: str = "llm") -> dict[str, Any]:
    """The step that gives all cliques another image."""
    changed = [
        {
            **item,
            "spec": {**item["spec"], "podSpec": {"containers": [{"name": "main", "image": image}]}},
        }
        for item in cliques
    ]
    patch = {"spec": {"template": {"cliques": changed}}}
    return {"at": at, "patch": {"kind": "PodCliqueSet", "name": name, "patch": patch}}


def play_trivially(*timeline: dict[str, Any], objects: list[Any], **spec: Any) -> Result:
    """With a planner that knows no budgets."""
    read = scenario.read(document(*timeline, objects=objects, **spec))
    part = ClusterPart(read.cluster, NamedIds(""), read.seed, planner=trivial.plan)
    return run.simulate(read, parts=[part])


def after(result: Result, text: str | None) -> str | None:
    """A time of the result as what had passed since the start."""
    return None if text is None else instants.show_duration(instants.parse(text) - result.start)


def lives(result: Result) -> list[tuple[str | None, ...]]:
    """Every pod: hostname-like place, revision, created, scheduled, ready, deleted, gone."""
    found = []
    for pod in result.pods:
        group_part = f"{pod['pcsg']}{pod['pcsgReplica']}." if pod["pcsg"] else ""
        place = f"{pod['pcsReplica']}.{group_part}{pod['clique']}.{pod['index']}"
        times = [
            after(result, pod[key]) for key in ("createdAt", "scheduledAt", "readyAt", "deletedAt", "goneAt")
        ]
        found.append((place, f"r{pod['revision']}", *times))
    return sorted(found, key=str)


def play(*timeline: dict[str, Any], objects: list[Any], **spec: Any) -> Result:
    """With the planner that runs in production."""
    return run.simulate(scenario.read(document(*timeline, objects=objects, **spec)))
