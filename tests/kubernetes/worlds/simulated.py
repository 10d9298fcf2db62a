"""A story in virtual time, and what was written in it."""

from __future__ import annotations

from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.store import ObjectStore
from headgate.graph.controller import GraphController
from headgate.kernel.identifiers import NamedIds
from headgate.simulate import run
from headgate.simulate.graphs.part import GraphPart
from headgate.simulate.workloads.part import ClusterPart
from headgate.workload.plan.controller import WorkloadController

from .history import CLUSTER, CONTROLLER, PEOPLE, History, Write
from .stories import Story

_CONTROLLERS = (WorkloadController.name, GraphController.name)

_AUTHORS = {"garbage collector": CLUSTER, "scheduler": CLUSTER}


def play(story: Story) -> History:
    """Names of pods follow from ids and moments: with the operator's ids they are the same in both worlds."""
    scenario = story.scenario
    cluster = ClusterPart(scenario.cluster, NamedIds("workloads"), scenario.seed)
    is_graph = any(
        isinstance(source.document, dict) and source.document.get("kind") == "ResourceGraphDefinition"
        for source in scenario.objects
    )
    recorder = _Recorder(cluster.store)
    graph = (GraphPart(cluster, scenario.cluster, scenario.seed),) if is_graph else ()
    result = run.simulate(scenario, parts=(*graph, cluster))
    left = {(item.kind, item.name): item for item in cluster.store}
    return History(recorder.writes, left, result.end, [refused.step for refused in result.rejected])


class _Recorder:
    def __init__(self, store: ObjectStore) -> None:
        self.writes: list[Write] = []
        store.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        by = CONTROLLER if change.by in _CONTROLLERS else _AUTHORS.get(change.by, PEOPLE)
        verbs = list(_verbs(change))
        self.writes += [Write(change.at, by, verb, change.object) for verb in verbs]


def _verbs(change: ObjectChange) -> list[str]:
    item, old = change.object, change.old
    if change.kind == "added":
        return ["create", "status"] if item.status else ["create"]
    if change.kind == "deleted":
        return ["gone"] if old is not None and old.deleted_at is not None else ["delete", "gone"]
    assert old is not None
    if item.deleted_at is not None and old.deleted_at is None:
        return ["delete"]
    return ["status"] if item.status is not old.status else ["update"]
