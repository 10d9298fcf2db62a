"""What an order for the targets of a deployment would do, target by target, before it is given."""

from __future__ import annotations

import msgspec

from headgate.fleet.engine import orders
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import TargetsAction
from headgate.kernel.instants import Instant


class OrderPreview(msgspec.Struct, frozen=True):
    """From which tag a target would go to which, or why it cannot."""

    target: str
    before: str | None
    after: str | None
    problem: str | None


def of(engine: Engine, change: TargetsAction, now: Instant) -> list[OrderPreview]:
    """By name. Raises Rejected if it concerns nobody."""
    return [
        OrderPreview(
            one.target.name,
            one.before.tag if one.before is not None else None,
            one.after.tag if one.after is not None else None,
            one.problem,
        )
        for one in orders.prospects(engine.state, change, now)
    ]
