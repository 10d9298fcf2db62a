"""Whatever graph, edit, fault or restart: the promises are kept, and where nothing is in the way all of it arrives."""

import json
from typing import Any

from hypothesis import given

from headgate.graph.reconcile import labels
from headgate.simulate import run, scenario
from headgate.simulate.graphs.part import GraphPart
from headgate.simulate.model.result import Result
from headgate.simulate.workloads.part import ClusterPart

from . import graphs, running
from .effort import examples

Document = dict[str, Any]


def play(document: Document) -> tuple[Result, ClusterPart]:
    loaded = scenario.read(document)
    cluster = ClusterPart(loaded.cluster, run.id_source(loaded.seed), loaded.seed)
    parts = (GraphPart(cluster, loaded.cluster, loaded.seed), cluster)
    return run.simulate(loaded, parts=parts), cluster


@examples(120)
@given(graphs.scenarios())
def test_no_promise_is_broken(document: Document) -> None:
    running.holds(_keeps_its_promises, document)


@examples(80)
@given(graphs.scenarios(with_faults=False))
def test_the_end_does_not_depend_on_the_way(document: Document) -> None:
    """What stands at the end is what a cluster that only ever saw the last edits has."""
    running.holds(_ends_as_if_made_anew, document)


@examples(50)
@given(graphs.scenarios(with_faults=False, with_lag=False))
def test_a_restart_changes_nothing(document: Document) -> None:
    running.holds(_is_the_same_with_crashes, document)


def _keeps_its_promises(document: Document) -> None:
    result, _ = play(document)
    assert not any("resources" in str(problem) for refused in result.rejected for problem in refused.errors)
    for broken in result.violations:
        raise AssertionError(f"{broken.promise}: {broken.message}")
    for warned in result.warnings:
        assert "never ends" not in warned.message, warned.message


def _ends_as_if_made_anew(document: Document) -> None:
    _keeps_its_promises(document)
    result, cluster = play(document)
    assert result.converged, [(unit.target, unit.state, unit.reason) for unit in result.waiting]
    tops = [_document_of(item) for item in cluster.store if item.kind in ("ResourceGraphDefinition", "Case")]
    spec = {
        **document["spec"],
        "objects": sorted(tops, key=lambda item: item["kind"], reverse=True),
        "timeline": [step for step in document["spec"]["timeline"] if "signal" in step],
    }
    fresh, anew = play({**document, "spec": spec})
    assert fresh.converged, [(unit.target, unit.state, unit.reason) for unit in fresh.waiting]
    assert _things(cluster) == _things(anew)


def _document_of(item: Any) -> Document:
    return {
        "apiVersion": item.api_version,
        "kind": item.kind,
        "metadata": {"name": item.name},
        "spec": item.spec,
    }


def _things(cluster: ClusterPart) -> dict[str, str]:
    return {
        item.name: json.dumps(item.spec, sort_keys=True)
        for item in sorted(cluster.store, key=lambda item: item.name)
        if labels.NODE_ID in item.labels
    }


def _is_the_same_with_crashes(document: Document) -> None:
    undisturbed, calm = play(document)
    seconds = [0, 20, 61, 185, 420]
    disturbed, _ = play(running.with_crashes(document, seconds))
    assert _writes(undisturbed) == _writes(disturbed)
    cluster = {**document["spec"]["cluster"], "crashAtWrites": list(range(1, 60))}
    killed, mended = play({**document, "spec": {**document["spec"], "cluster": cluster}})
    if undisturbed.converged:
        # Who is looked at first at one instant follows from the death; what comes of it does not.
        assert killed.converged, [(unit.target, unit.state, unit.reason) for unit in killed.waiting]
        assert _things(calm) == _things(mended)
    for broken in (*disturbed.violations, *killed.violations):
        raise AssertionError(f"{broken.promise}: {broken.message}")


def _writes(result: Result) -> list[Any]:
    return [
        (item["kind"], item["name"], item["writes"], item["deletedAt"])
        for item in result.objects
        if item["node"] is not None
    ]
