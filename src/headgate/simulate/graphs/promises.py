"""The promises of the product that the planner of graphs can break, judged beside it at every plan and every write."""

from collections import ChainMap
from collections.abc import Callable, Iterable
from typing import Any

from headgate import cel
from headgate.cluster.port import Change
from headgate.graph import definition, labels, names, nodes, revisions
from headgate.graph.compile import compile_definition
from headgate.graph.compiled import CompiledGraph, CompiledNode
from headgate.graph.controller import GraphController
from headgate.graph.instances import Look
from headgate.graph.items import Item
from headgate.graph.nodes import NodeState, Unit
from headgate.graph.rollouts import Member, Rollout, is_instance_ready
from headgate.graph.scene import Scene
from headgate.kernel import instants, waves
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.simulate.cluster.store import Store

Broken = Callable[[str, Instant, str], None]

SENTENCES = {
    "NoGateSkipped": "nothing starts unless every gate that applies said allowed on the state it was decided on",
    "StopIsAbsolute": "after a pause is acknowledged no new unit starts",
    "NoStaleWrite": "an object never goes back to an older revision",
    "MonotoneProgress": "with faults over and gates open, the remaining work falls to zero",
    "NoStuckWithoutReason": (
        "every unit that has not converged has a reason, and a time or an event that wakes it"
    ),
    "ReplayEqualsDecision": "the same events give the same decisions, byte for byte",
}
MOST_CHECKED_ITEMS = 300
"""Of one collection: the check looks at every item for every admission."""


class Watch:
    def __init__(
        self,
        store: Store,
        broken: Broken,
        signals: Callable[[Instant], Any],
        seen: Callable[[], Scene],
    ) -> None:
        self._store = store
        self._seen = seen
        """What the planner was told; a pause is acknowledged when it knows."""
        self._broken = broken
        self._signals = signals
        self._known: dict[Key, tuple[str, int, str]] = {}
        """What was written last of each object, gone or not: for which instance, at which revision, and what."""
        self._compiled: tuple[tuple[str, int], CompiledGraph] | None = None
        store.listen(self._changed)

    def broken(self, promise: str, now: Instant, fact: str) -> None:
        self._broken(promise, now, f"{SENTENCES[promise]}: {fact}")

    def _changed(self, change: Change) -> None:
        item = change.object
        if change.by != GraphController.name or labels.NODE_ID not in item.labels or change.kind == "deleted":
            return
        owner = item.labels.get(labels.INSTANCE_ID, "")
        number = int(item.annotations.get(labels.REVISION) or 0)
        written = (owner, number, item.annotations.get(labels.CONTENT, ""))
        before = self._known.get(item.key)
        if not change.is_spec_write:
            self._known[item.key] = written
            return
        was_here = before is not None and before[0] == owner
        if was_here and before is not None and number < before[1]:
            fact = f"{item.kind} {item.name} goes from revision {before[1]} to {number}"
            self.broken("NoStaleWrite", change.at, fact)
        is_new = before is None or (number > before[1] and written[2] != before[2])
        if (not was_here or is_new) and self._is_paused(item):
            self.broken(
                "StopIsAbsolute", change.at, f"{item.kind} {item.name} starts towards revision {number}"
            )
        self._known[item.key] = written

    def _is_paused(self, item: Object) -> bool:
        found, view = item.labels, self._seen()
        top = view.get(Key("kro.run", definition.KIND, "", found.get(labels.DEFINITION_NAME, "")))
        if top is None:
            return False
        group = top.spec["schema"].get("group") or definition.DEFAULT_GROUP
        place = (found.get(labels.INSTANCE_NAMESPACE, ""), found.get(labels.INSTANCE_NAME, ""))
        instance = view.get(Key(group, found.get(labels.INSTANCE_KIND, ""), *place))
        return any(labels.is_paused(each.annotations) for each in (top, instance) if each is not None)

    def planned(self, look: Look, now: Instant) -> None:
        by_id = {state.id: state for state in look.states}
        for state in look.states:
            granted = [unit for unit in state.units if unit.is_granted_now]
            if not granted:
                continue
            self._check_dependencies(state, by_id, granted, now)
            if len(state.units) <= MOST_CHECKED_ITEMS:
                self._check_gates(look, state, granted, now)

    def planned_rollout(self, rollout: Rollout, now: Instant) -> None:
        """Instances that are let on to the newest graph revision, asked again one by one."""
        moved = [
            member
            for member in rollout.members
            if member.is_granted_now and labels.GRAPH_REVISION in member.instance.annotations
        ]
        if not moved or rollout.served is None or len(rollout.members) > MOST_CHECKED_ITEMS:
            return
        graph = rollout.served.newest
        members = Plain(
            _member_before(member, rollout.number, index) for index, member in enumerate(rollout.members)
        )
        for item, member in zip(members, rollout.members):
            if member not in moved:
                continue
            if rollout.is_paused or labels.is_paused(member.instance.annotations):
                self.broken(
                    "StopIsAbsolute", now, f"{member.instance.name} gets graph revision {rollout.number}"
                )
            own = {
                graph.plural: members,
                names.SIGNALS: self._signals(now),
                **dict.fromkeys((graph.singular, names.EACH), item),
            }
            gates = graph.propagate_when
            is_open = (
                members.may_go(item) if gates is None else all(_is_open(gate, own, now) for gate in gates)
            )
            if not is_open:
                fact = f"{member.instance.name} gets graph revision {rollout.number} against its gates"
                self.broken("NoGateSkipped", now, fact)
            item.is_current = item.is_changed = True
            item.set_ready(False)

    def _check_dependencies(
        self, state: NodeState, by_id: dict[str, NodeState], granted: list[Unit], now: Instant
    ) -> None:
        for name in state.node.depends_on:
            other = by_id.get(name)
            if other is None or other.is_excluded:
                continue
            for unit in other.units:
                found = self._store.get(unit.key)
                if found is None or unit.is_granted_now or not nodes.is_observed(found):
                    fact = f"{state.id} {granted[0].name} starts before {name} {unit.name} is there and ready"
                    self.broken("NoGateSkipped", now, fact)
                    return

    def _check_gates(self, look: Look, state: NodeState, granted: list[Unit], now: Instant) -> None:
        """Asked again one by one, with counts taken anew for each."""
        newest = self._newest(look, state)
        gates = newest.propagate_when
        members = _plain(state.units, newest)
        for item, unit in zip(members, state.units):
            found = self._store.get(unit.key)
            at = found.annotations.get(labels.REVISION) if found is not None else None
            if item.is_changed and at != str(unit.number):
                # Granted and not written yet, so what it shows is not about what was granted.
                item.set_ready(False)
        for item, unit in zip(members, state.units):
            if not unit.is_granted_now:
                continue
            if gates is None:
                is_open = not state.node.is_collection or members.may_go(item)
                words = "its wave"
            else:
                words = next(
                    (gate.text for gate in gates if not self._holds(gate, look, state, members, item, now)),
                    "",
                )
                is_open = not words
            if not is_open:
                self.broken("NoGateSkipped", now, f"{state.id} {unit.name} starts against {words}")
            item.is_current = item.is_changed = True
            item.set_ready(False)

    def _newest(self, look: Look, state: NodeState) -> CompiledNode:
        """The node as the definition has it now, which is where its gates and readyWhen are read from."""
        top = self._store.get(Key("kro.run", definition.KIND, "", look.graph.name))
        if top is None:
            return state.node
        key = (top.uid, top.generation)
        if self._compiled is None or self._compiled[0] != key:
            self._compiled = (key, compile_definition(top))
        return next((node for node in self._compiled[1].nodes if node.id == state.id), state.node)

    def _holds(
        self, gate: Any, look: Look, state: NodeState, members: "Plain", item: Item, now: Instant
    ) -> bool:
        bindings: dict[str, object] = {names.SIGNALS: self._signals(now)}
        for other in look.states:
            value = other.binding()
            if value is not None:
                bindings[other.id] = value
        bindings[names.SCHEMA] = {
            "metadata": {"name": look.instance.name, "namespace": look.instance.namespace},
            "spec": look.instance.spec,
        }
        if state.node.is_collection:
            bindings[state.id] = members
        bindings.update(dict.fromkeys(nodes.names_of_item(state.node), item))
        return _is_open(gate, bindings, now)


def _is_open(gate: Any, bindings: dict[str, object], now: Instant) -> bool:
    own: dict[str, object] = {names.NOW: instants.to_datetime(gate.seen_moment(now))}
    try:
        return bool(gate.evaluate(ChainMap(own, bindings)))
    except cel.EvaluationError:
        return False


class Plain(list[Item]):
    """Items as they were before the plan, counted the slow way; `older` are changes of an earlier propagation."""

    def __init__(self, items: Iterable[Item], older: Iterable[Item] = ()) -> None:
        super().__init__(items)
        self.older = tuple(older)

    def landed_count(self) -> int:
        return sum(item.is_current and item.is_changed and item.is_ready() for item in self)

    def in_flight_count(self) -> int:
        own = sum(item.is_current and item.is_changed and not item.is_ready() for item in self)
        return own + sum(not item.is_ready() for item in self.older)

    def rank_among_not_updated(self, item: Item) -> int:
        return sum(not other.is_current for other in self[: item.index])

    def index_of(self, item: Item) -> int:
        return item.index

    def may_go(self, item: Item) -> bool:
        landed = self.landed_count()
        limit = waves.exponential_limit(landed)
        return waves.may_go(self.rank_among_not_updated(item), landed, self.in_flight_count(), limit)


def _plain(units: list[Unit], newest: CompiledNode) -> Plain:
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


def _before(unit: Unit, newest: CompiledNode) -> Item:
    """An item that is let go in the plan was, until then, as ready as its object showed it to be."""
    was = unit.item
    is_new = unit.is_granted_now
    own_names = nodes.names_of_item(newest)
    return Item(
        was.object,
        was.is_current and not is_new,
        (lambda own: nodes.readiness(own.object, newest.ready_when, own_names, nodes.ReadyMemory(), own))
        if is_new
        else was.is_ready(),
        is_changed=was.is_changed and not is_new,
        is_member=was.is_member,
        value=was.value,
        index=was.index,
    )


def _member_before(member: Member, newest: int, index: int) -> Item:
    """As its annotations and its status said before the plan; one that starts is no part of the line."""
    found = member.instance.annotations
    had = found.get(labels.GRAPH_REVISION)
    is_current = had is None or (member.is_updated and not member.is_granted_now)
    is_moved = had == str(newest) and found.get(labels.STARTED_ON) != had
    return Item(
        member.instance,
        is_current,
        had is not None and is_instance_ready(member.instance),
        is_changed=is_current and is_moved,
        is_member=True,
        value=member.instance.spec,
        index=index,
    )
