"""Whether orders would be carried out now, asked of what carries them out: so that whoever offers one can say before it is
given why it would be refused."""

from __future__ import annotations

from typing import Literal

import msgspec

from headgate.fleet.cycles import operators
from headgate.fleet.engine import orders
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import GroupOrder, TargetOrder
from headgate.fleet.model.records import GROUP_ENDED, Group
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target
from headgate.kernel.instants import Instant

_OF_TARGETS: tuple[TargetOrder, ...] = ("retry", "redeploy", "rollback")
_OF_GROUPS: tuple[GroupOrder, ...] = ("retry", "abort", "release")


class OrderOutlook(msgspec.Struct, frozen=True, rename="camel"):
    """Whether an order would be carried out now: `refusal` is the sentence that it would be answered with, null if it would
    be. `to` is the version that it would bring, null where it brings none or one has to be named; `versions` are those that
    can be named."""

    action: Literal["retry", "redeploy", "rollback", "abort", "release"]
    refusal: str | None
    to: str | None = None
    versions: list[str] = []


def of_target(engine: Engine, name: str, now: Instant) -> list[OrderOutlook]:
    target = engine.state.targets[name]
    return [_of_order(engine.state, target, action, now) for action in _OF_TARGETS]


def _of_order(state: State, target: Target, action: TargetOrder, now: Instant) -> OrderOutlook:
    """Going back may be refused without a version and not with one."""
    order_prospect = orders.prospect(state, target, action, None, now)
    versions = [
        version.tag
        for version in (orders.ran_here(state, target) if action == "rollback" else ())
        if orders.prospect(state, target, action, version, now).problem is None
    ]
    to = order_prospect.after.tag if order_prospect.after is not None else None
    return OrderOutlook(action, None if versions else order_prospect.problem, to, versions)


def of_group(engine: Engine, group: Group, now: Instant) -> list[OrderOutlook]:
    """Nothing can be ordered for one that has ended."""
    live = engine.groups.get(group.id)
    site = None if live is None else engine.state.sites.get((live.rule, live.environment, live.resource))
    if live is None or site is None or live.status in GROUP_ENDED:
        return []
    return [
        OrderOutlook(action, operators.refusal(engine.state, site, live, action, now))
        for action in _OF_GROUPS
    ]
