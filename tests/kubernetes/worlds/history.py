"""What was written in a world, one write after the other, in words that both worlds share."""

from __future__ import annotations

import msgspec

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object

CONTROLLER, CLUSTER, PEOPLE = "controller", "cluster", "people"
"""Of the cluster are its own controllers; nodes are played by the story and count as people."""


class Write(msgspec.Struct, frozen=True):
    """`object` is as it is afterwards; one that is gone, as it was last."""

    at: Instant
    by: str
    verb: str
    """create, update, status, delete, or gone."""
    object: Object

    @property
    def about(self) -> tuple[str, str]:
        return self.object.kind, self.object.name


class History(msgspec.Struct):
    """`end` is when the story was over, and `refused` what the API server did not take, as path of the step."""

    writes: list[Write]
    objects: dict[tuple[str, str], Object]
    """Those that are left, by kind and name."""
    end: Instant
    refused: list[str]
