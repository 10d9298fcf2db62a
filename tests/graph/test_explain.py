"""Every line of a graph's explanation says its reason in the words of all levels."""

from __future__ import annotations

from graph.planned import Bench
from headgate.cluster.simulated.store import replace
from headgate.graph.reconcile import explain_tree, labels
from headgate.graph.reconcile.propagate import DefinitionPlan
from headgate.kernel.decisions import Reason
from headgate.kernel.explanations import ExplanationLine, ExplanationTree, PartState
from headgate.kernel.objects import Key

POOL = Key("example.com", "Pool", "default", "pool")
TOP = Key("kro.run", "ResourceGraphDefinition", "", "pool")
WORKER = {"apiVersion": "example.com/v1", "kind": "Worker", "spec": {"release": "${schema.spec.release}"}}


def tree_of(bench: Bench) -> ExplanationTree:
    return explain_tree.of_instance(bench.plan(), lambda _: None)


def tree_of_definition(bench: Bench) -> ExplanationTree:
    plan = bench.controller.plan_of(TOP, bench.now, bench.controller.planner_cache)
    assert isinstance(plan, DefinitionPlan)
    return explain_tree.of_definition(plan, lambda _: None)


def lines_of(bench: Bench) -> list[ExplanationLine]:
    return [line for part in tree_of(bench).walk() for line in part.lines]


def said(bench: Bench) -> set[tuple[str, Reason]]:
    return {(line.verdict, line.reason) for line in lines_of(bench)}


def annotate(bench: Bench, key: Key, name: str, value: str) -> None:
    item = bench.store.get(key)
    assert item is not None
    bench.store.update(replace(item, annotations={**item.annotations, name: value}), bench.now, "user")
    bench.settle()


def edit_node(bench: Bench, **fields: object) -> None:
    top = bench.store.get(TOP)
    assert top is not None
    nodes = [{**node, **fields} for node in top.spec["resources"]]
    bench.store.update(replace(top, spec={**top.spec, "resources": nodes}), bench.now, "user")
    bench.settle()


def test_what_is_there_and_ready_is_allowed() -> None:
    assert said(Bench(3, None)) == {("allowed", Reason.ALLOWED)}


def test_who_is_not_ready_and_who_waits_for_its_wave_are_told_apart() -> None:
    bench = Bench(3, None)
    bench.edit(release="two")
    assert said(bench) == {("pending", Reason.NOT_READY), ("pending", Reason.WAVE_FULL)}


def test_a_gate_that_is_false_is_waited_for_and_one_that_cannot_be_asked_is_an_error() -> None:
    bench = Bench(2, ["${signals['go'].value == true}"])
    bench.edit(release="two")
    assert said(bench) == {("error", Reason.EVALUATION_FAILED)}
    assert {part.state for part in tree_of(bench).children} == {PartState.WAITING}
    assert all("cannot be evaluated" in line.message for line in lines_of(bench))
    bench.signals = {"go": {"value": False}}
    assert said(bench) == {("pending", Reason.GATE_FALSE)}


def test_an_instance_that_is_suspended_says_so_in_the_word_of_its_condition() -> None:
    bench = Bench(2, None)
    annotate(bench, POOL, labels.RECONCILE, "suspended")
    assert said(bench) == {("pending", Reason.RECONCILIATION_SUSPENDED)}
    assert tree_of(bench).state is PartState.WAITING


def test_a_definition_says_why_an_instance_is_behind_and_why_itself_is_not_taken() -> None:
    bench = Bench(2, None)
    annotate(bench, TOP, labels.PROPAGATION, labels.PAUSED)
    edit_node(bench, template={**WORKER, "metadata": {"name": "${worker}", "labels": {"a": "b"}}})
    tree = tree_of_definition(bench)
    assert [line.reason for child in tree.children for line in child.lines] == [Reason.PAUSED]
    edit_node(bench, template={})
    assert {line.reason for line in tree_of_definition(bench).lines} == {Reason.MISCONFIGURED}
