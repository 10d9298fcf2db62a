"""Gates of graphs, asked again one by one, with counts taken anew for each."""

from collections.abc import Callable, Iterator
from typing import Any

from headgate.cluster.port import ClusterPort
from headgate.graph.compile import definition, names
from headgate.graph.compile.compiled import CompiledGraph, CompiledNode
from headgate.graph.compile.compiler import compile_definition
from headgate.graph.reconcile import labels, nodes
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.items import GraphItem
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.rollouts import DefinitionRollout, RolloutMember
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.promises.books.graph_items import Plain, before_plan, is_open, member_before

MOST_CHECKED_ITEMS = 300
"""Of one collection: the check looks at every item for every admission."""
ITS_WAVE = "its wave"


class Gates:
    def __init__(
        self,
        cluster: ClusterPort,
        signals: Callable[[Instant], Any],
        known: Callable[[Key], Object | None],
    ) -> None:
        self._cluster = cluster
        self._signals = signals
        self._known = known
        self._compiled: tuple[tuple[str, int], CompiledGraph] | None = None

    def of_units(
        self, instance_pass: InstancePass, state: NodeState, asked: Callable[[NodeUnit], bool], now: Instant
    ) -> Iterator[tuple[NodeUnit, str]]:
        """The units that are asked about, each with the gate that is shut for it, or ''.

        Whoever was let go in the plan is counted among those under way by everyone after it.
        """
        newest = self._newest(instance_pass, state)
        members = self._members(state, newest)
        for item, unit in zip(members, state.units):
            if asked(unit):
                yield unit, self._shut(instance_pass, state, newest, members, item, now)
            if unit.is_granted_now:
                _let_go(item)

    def of_members(
        self, rollout: DefinitionRollout, asked: Callable[[RolloutMember], bool], now: Instant
    ) -> Iterator[tuple[RolloutMember, bool]]:
        """The instances that are asked about, each with whether its gates are open."""
        if rollout.accepted is None:
            return
        graph = rollout.accepted.newest
        members = Plain(
            member_before(member, rollout.number, index) for index, member in enumerate(rollout.members)
        )
        for item, member in zip(members, rollout.members):
            if not asked(member):
                continue
            own = {
                graph.plural: members,
                names.SIGNALS: self._signals(now),
                **dict.fromkeys(graph.item_names, item),
            }
            gates = graph.propagate_when
            yield (
                member,
                members.may_go(item) if gates is None else all(is_open(gate, own, now) for gate in gates),
            )
            if member.is_granted_now:
                _let_go(item)

    def _members(self, state: NodeState, newest: CompiledNode) -> Plain:
        """What was granted and is not written yet shows nothing about what was granted."""
        members = before_plan(state.units, newest)
        for item, unit in zip(members, state.units):
            live = self._cluster.get(unit.key)
            at = live.annotations.get(labels.REVISION) if live is not None else None
            if item.is_changed and at != str(unit.number):
                item.set_ready(False)
        return members

    def _shut(
        self,
        instance_pass: InstancePass,
        state: NodeState,
        newest: CompiledNode,
        members: Plain,
        item: GraphItem,
        now: Instant,
    ) -> str:
        gates = newest.propagate_when
        if gates is None:
            return "" if not state.node.is_collection or members.may_go(item) else ITS_WAVE
        bindings = self._bindings(instance_pass, state, members, item, now)
        return next((gate.text for gate in gates if not is_open(gate, bindings, now)), "")

    def _newest(self, instance_pass: InstancePass, state: NodeState) -> CompiledNode:
        """The node as the newest definition that the planner knows has it: its gates and readyWhen are read from there."""
        top = self._known(Key("kro.run", definition.KIND, "", instance_pass.graph.name))
        if top is None:
            return state.node
        key = (top.uid, top.generation)
        if self._compiled is None or self._compiled[0] != key:
            self._compiled = (key, compile_definition(top))
        return next((node for node in self._compiled[1].nodes if node.id == state.id), state.node)

    def _bindings(
        self, instance_pass: InstancePass, state: NodeState, members: Plain, item: GraphItem, now: Instant
    ) -> dict[str, object]:
        bindings: dict[str, object] = {names.SIGNALS: self._signals(now)}
        for other in instance_pass.states:
            value = other.binding()
            if value is not None:
                bindings[other.id] = value
        bindings[names.SCHEMA] = {
            "metadata": {"name": instance_pass.instance.name, "namespace": instance_pass.instance.namespace},
            "spec": instance_pass.instance.spec,
        }
        if state.node.is_collection:
            bindings[state.id] = members
        bindings.update(dict.fromkeys(nodes.names_of_item(state.node), item))
        return bindings


def _let_go(item: GraphItem) -> None:
    item.is_current = item.is_changed = True
    item.set_ready(False)
