"""What explain prints of the levels below a target: only what is not done there."""

from __future__ import annotations

from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.explanations import ExplanationLine, ExplanationTree, Level, PartState
from headgate.screens import explanation_text

NOW = instants.parse("2026-03-02T09:00:00Z")
ALLOWED = ExplanationLine("propagateWhen", "", "allowed", Reason.ALLOWED, "it is at revision 2 and ready")


def printed(*below: ExplanationTree) -> list[str]:
    job = ExplanationTree("job j1", "fleet", PartState.IN_PROGRESS, "v2, attempt 1", children=below)
    target = ExplanationTree("api/prod/east", "fleet", PartState.RUNNING, children=(job,))
    explanation = {"target": "api/prod/east", "state": "running", "tree": target.document()}
    return list(explanation_text.render(explanation, NOW))[1:]


def part(subject: str, level: Level, state: PartState, *children: ExplanationTree) -> ExplanationTree:
    return ExplanationTree(subject, level, state, children=children)


def test_a_graph_that_is_propagated_and_ready_is_done() -> None:
    ready = ExplanationTree("Deployment web", "graph", PartState.READY, "ready", lines=(ALLOWED,))
    node = part("web", "graph", PartState.READY, ready)
    assert printed(part("App demo", "graph", PartState.PROPAGATED, node)) == []


def test_a_graph_that_is_propagated_is_not_done_before_its_objects_are_ready() -> None:
    web = part("Deployment web", "graph", PartState.WAITING)
    node = part("web", "graph", PartState.WAITING, web, part("Service web", "graph", PartState.READY))
    assert printed(part("App demo", "graph", PartState.PROPAGATED, node)) == [
        "  App demo: Propagated",
        "    web: waiting",
        "      Deployment web: waiting",
    ]


def test_a_set_below_an_object_that_is_ready_is_told_until_it_is_done() -> None:
    pods = part("PodCliqueSet web", "workload", PartState.UPDATING)
    assert printed(part("App demo", "graph", PartState.READY, pods)) == [
        "  App demo: ready",
        "    PodCliqueSet web: updating",
    ]
    assert printed(part("App demo", "graph", PartState.READY, part("w", "workload", PartState.DONE))) == []
