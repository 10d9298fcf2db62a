"""Items of a node and instances of a definition as they were before a plan, counted the slow way."""

from collections import ChainMap
from collections.abc import Iterable
from typing import Any

from headgate import cel
from headgate.graph.compile import names
from headgate.graph.compile.compiled import CompiledNode
from headgate.graph.reconcile import labels, nodes, revisions
from headgate.graph.reconcile.items import GraphItem
from headgate.graph.reconcile.nodes import NodeUnit
from headgate.graph.reconcile.rollouts import RolloutMember, is_instance_ready
from headgate.kernel import instants, waves
from headgate.kernel.instants import Instant


def is_open(gate: Any, bindings: dict[str, object], now: Instant) -> bool:
    own: dict[str, object] = {names.NOW: instants.to_datetime(gate.seen_moment(now))}
    try:
        return bool(gate.evaluate(ChainMap(own, bindings)))
    except cel.EvaluationError:
        return False


class Plain(list[GraphItem]):
    """Items as they were before the plan, counted the slow way; `older` are changes of an earlier propagation."""

    def __init__(self, items: Iterable[GraphItem], older: Iterable[GraphItem] = ()) -> None:
        super().__init__(items)
        self.older = tuple(older)

    def landed_count(self) -> int:
        return sum(item.is_current and item.is_changed and item.is_ready() for item in self)

    def in_flight_count(self) -> int:
        own = sum(item.is_current and item.is_changed and not item.is_ready() for item in self)
        return own + sum(not item.is_ready() for item in self.older)

    def rank_among_not_updated(self, item: GraphItem) -> int:
        return sum(not other.is_current for other in self[: item.index])

    def index_of(self, item: GraphItem) -> int:
        return item.index

    def may_go(self, item: GraphItem) -> bool:
        landed = self.landed_count()
        limit = waves.exponential_limit(landed)
        return waves.may_go(self.rank_among_not_updated(item), landed, self.in_flight_count(), limit)


def before_plan(units: list[NodeUnit], newest: CompiledNode) -> Plain:
    items = [_before(unit, newest) for unit in units]
    older = [
        item
        for item, unit in zip(items, units)
        if item.is_current
        and not item.is_changed
        and unit.grant is not None
        and unit.grant.step != revisions.CARRIED
    ]
    return Plain(items, older)


def _before(unit: NodeUnit, newest: CompiledNode) -> GraphItem:
    """An item that is let go in the plan was, until then, as ready as its object showed it to be."""
    was = unit.item
    is_new = unit.is_granted_now
    own_names = nodes.names_of_item(newest)
    return GraphItem(
        was.object,
        was.is_current and not is_new,
        (lambda own: nodes.readiness(own.object, newest.ready_when, own_names, nodes.ReadinessCache(), own))
        if is_new
        else was.is_ready(),
        is_changed=was.is_changed and not is_new,
        is_member=was.is_member,
        value=was.value,
        index=was.index,
    )


def member_before(member: RolloutMember, newest: int, index: int) -> GraphItem:
    """As its revisions and its status said before the plan; one that starts is no part of the line."""
    had = member.number_before
    is_current = not had or (member.is_updated and not member.is_granted_now)
    is_moved = had == newest and member.instance.annotations.get(labels.STARTED_ON) != str(had)
    return GraphItem(
        member.instance,
        is_current,
        had > 0 and is_instance_ready(member.instance, had),
        is_changed=is_current and is_moved,
        is_member=True,
        value=member.instance.spec,
        index=index,
    )
