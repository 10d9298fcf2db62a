"""Sets and graphs of a cluster as they are printed, without a cluster."""

import pytest
from click.testing import CliRunner

from headgate.cli import cluster_trees, exit_codes, main
from headgate.graph.reconcile import labels, operate
from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.explanations import ExplanationLine, ExplanationTree, PartFacts, PartState
from headgate.kernel.objects import Object
from headgate.screens import tree_text

POD = ExplanationTree("pod web-0", "workload", PartState.NOT_SCHEDULED, "revision 2")
OTHER = ExplanationTree("pod web-1", "workload", PartState.READY, "revision 1")
CLIQUE = ExplanationTree(
    "clique front", "workload", PartState.NOT_AVAILABLE, "1 of 2 pods", children=(POD, OTHER)
)
TREE = ExplanationTree(
    "PodCliqueSet web",
    "workload",
    PartState.UPDATING,
    "revision 2",
    PartFacts("set", 2),
    (ExplanationLine("update", "", "pending", Reason.UPDATING, "1 of 2 replicas are available"),),
    (CLIQUE, ExplanationTree("clique back", "workload", PartState.AVAILABLE)),
)


def test_a_terminal_is_drawn_a_tree() -> None:
    assert list(tree_text.whole(TREE.document(), is_drawn=True)) == [
        "PodCliqueSet web: updating, revision 2",
        "│ 1 of 2 replicas are available",
        "├─ clique front: not available, 1 of 2 pods",
        "│  ├─ pod web-0: not scheduled, revision 2",
        "│  └─ pod web-1: ready, revision 1",
        "└─ clique back: available",
    ]


def test_where_there_is_no_room_what_is_settled_is_left_out_and_then_what_comes_last() -> None:
    document = TREE.document()
    assert tree_text.fitting(document, None) == tree_text.fitting(document, 6)
    assert tree_text.fitting(document, 5) == [
        "PodCliqueSet web: updating, revision 2; 1 more are available",
        "│ 1 of 2 replicas are available",
        "└─ clique front: not available, 1 of 2 pods; 1 more are ready",
        "   └─ pod web-0: not scheduled, revision 2",
    ]
    assert tree_text.fitting(document, 3)[1:] == ["│ 1 of 2 replicas are available", "and 2 more lines"]


def test_a_pipe_gets_plain_lines() -> None:
    assert list(tree_text.whole(TREE.document(), is_drawn=False)) == [
        "PodCliqueSet web: updating, revision 2",
        "  1 of 2 replicas are available",
        "  clique front: not available, 1 of 2 pods",
        "    pod web-0: not scheduled, revision 2",
        "    pod web-1: ready, revision 1",
        "  clique back: available",
    ]


def test_an_explanation_leaves_out_what_is_settled() -> None:
    assert list(tree_text.unsettled(TREE.document(), instants.parse("2026-03-02T09:00:00Z"))) == [
        "Explain PodCliqueSet web at 2026-03-02T09:00:00Z: updating",
        "  revision 2",
        "  1 of 2 replicas are available",
        "  clique front: not available, 1 of 2 pods",
        "    pod web-0: not scheduled, revision 2",
    ]


def test_names_of_a_cluster_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    cluster_trees.status("web", ExplanationTree("pod \x1b[2J", "workload", PartState.READY), "table")
    assert capsys.readouterr().out == "pod \\x1b[2J: ready\n"


def test_a_pause_of_a_graph_leaves_other_annotations_alone() -> None:
    item = Object("v1", "Shop", "default", "web", annotations={"note": "kept"})
    paused = operate.pause(item)
    assert labels.is_paused(paused.annotations)
    assert operate.pause(paused) is paused
    assert operate.resume(paused).annotations == {"note": "kept"}
    assert operate.resume(item) is item


@pytest.mark.parametrize("group", ["workload", "graph"])
def test_a_kubeconfig_that_is_not_there_is_said(group: str) -> None:
    done = CliRunner().invoke(main.headgate, [group, "status", "--kubeconfig", "/nowhere/config"])
    assert done.exit_code == exit_codes.UNREADABLE
    assert "/nowhere/config: there is no such file" in done.stderr


@pytest.mark.parametrize("target", ["shop/", "/web", "shop/..", "shop/a/b"])
def test_a_target_is_a_definition_or_a_kind_and_a_name(target: str) -> None:
    done = CliRunner().invoke(main.headgate, ["graph", "explain", target, "--kubeconfig", "/nowhere/config"])
    assert (done.exit_code, done.stderr) == (
        exit_codes.UNREADABLE,
        f'TARGET: is "{target}"; allowed is a definition, or an instance as KIND/NAME\n',
    )
