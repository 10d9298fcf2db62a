"""Graphs in both worlds: what is written when, in which waves, and what is left are the same."""

from __future__ import annotations

import pytest

from kube import ControlPlane

from . import playing

BATCHES = {
    "collections": (
        "graph/collections/chained",
        "graph/collections/dependents-wait-for-every-item",
        "graph/collections/empty-is-ready",
        "graph/collections/included-and-not",
        "graph/collections/list-from-another-object",
        "graph/collections/never-ready-stays-in-progress",
        "graph/collections/one-object-for-each-value",
        "graph/collections/several-dimensions",
        "graph/collections/too-many-items",
    ),
    "definitions": (
        "graph/definitions/breaking-change",
        "graph/definitions/instances-are-validated",
        "graph/definitions/refused-edit-changes-nothing",
        "graph/status/only-what-can-be-computed",
        "graph/status/own-conditions",
    ),
    "propagation": (
        "graph/drift/any-item-is-put-back",
        "graph/propagation/aborted-definition",
        "graph/propagation/aborted-instance",
        "graph/propagation/defaults-and-none",
        "graph/propagation/gates-on-ready-all-ready",
        "graph/propagation/landed-is-remembered",
        "graph/propagation/old-status-is-not-readiness",
        "graph/propagation/suspended-instance",
    ),
    "others": (
        "graph/external/by-selector",
        "graph/external/data-is-followed",
        "graph/external/waits-until-it-exists",
    ),
    "instances without a namespace": ("graph/ownership/cluster-scoped-instances-are-rolled",),
    "instances in graphs": (
        "graph/ownership/instance-in-a-graph",
        "graph/ownership/held-instances-are-rolled",
        "graph/ownership/the-old-status-of-an-instance-is-not-readiness",
        "graph/deletion/a-cascade-leaves-what-another-graph-holds",
    ),
    "order": (
        "graph/order/author-position",
        "graph/order/branches-do-not-wait-for-each-other",
        "graph/order/condition-on-missing-status",
        "graph/order/data-that-comes-later",
        "graph/order/waits-for-two",
    ),
    "pruning": (
        "graph/pruning/a-chain-of-names",
        "graph/pruning/left-out-and-nothing-else",
        "graph/pruning/left-out-with-dependents",
        "graph/pruning/not-across-instances",
    ),
}
"""Those of a batch are played at the same time."""


@pytest.mark.parametrize("batch", BATCHES)
def test_a_graph_is_the_same_in_both_worlds(stage: ControlPlane, batch: str) -> None:
    assert playing.differences_of(stage, BATCHES[batch]) == {}
