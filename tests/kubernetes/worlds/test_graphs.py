"""Graphs in both worlds: what is written when, how much is under way at once, and what is left are the same."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from kube import ControlPlane

from . import playing, stories
from .comparing import differences
from .stories import Story

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
    ),
    "definitions": (
        "graph/definitions/breaking-change",
        "graph/definitions/instances-are-validated",
        "graph/external/by-selector",
    ),
}
"""Those of a batch are played at the same time."""


@pytest.mark.parametrize("batch", BATCHES)
def test_a_graph_is_the_same_in_both_worlds(stage: ControlPlane, batch: str) -> None:
    assert asyncio.run(playing.differences_of(stage, BATCHES[batch])) == {}
