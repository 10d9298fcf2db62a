"""Graphs over time, for text and page: which object was at which revision when, and when it was ready."""

from collections.abc import Iterable

from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.store import ObjectStore
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import labels
from headgate.graph.reconcile.propagate import InstancePlan
from headgate.kernel.instants import Instant
from headgate.simulate.model.result import Graph, GraphRow


class _Life:
    def __init__(self, node: str, name: str, instance: str, at: Instant, revision: int) -> None:
        self.node = node
        self.name = name
        self.instance = instance
        self.writes: list[tuple[Instant, int]] = [(at, revision)]
        self.ready: list[tuple[Instant, bool]] = []
        self.deleted_at: Instant | None = None


class GraphRows:
    def __init__(self, store: ObjectStore) -> None:
        self._lives: dict[str, _Life] = {}
        store.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        item = change.object
        node = item.labels.get(labels.NODE_ID)
        if node is None:
            return
        revision = int(item.annotations.get(labels.REVISION) or 0)
        life = self._lives.get(item.uid)
        if life is None:
            instance = item.labels.get(labels.INSTANCE_NAME, "")
            self._lives[item.uid] = _Life(node, item.name, instance, change.at, revision)
        elif change.kind == "deleted" or item.deleted_at is not None:
            life.deleted_at = life.deleted_at or change.at
        elif change.is_spec_write and change.by == GraphController.name:
            life.writes.append((change.at, revision))

    def note(self, uid: str, is_ready: bool, now: Instant) -> None:
        life = self._lives.get(uid)
        if life is not None and (not life.ready or life.ready[-1][1] != is_ready):
            life.ready.append((now, is_ready))

    def graphs(self, plans: Iterable[GraphPlan]) -> list[Graph]:
        """One for each instance, nodes in the order of the graph."""
        order: dict[str, list[str]] = {}
        edges: dict[str, dict[str, tuple[str, ...]]] = {}
        for plan in plans:
            if isinstance(plan, InstancePlan) and plan.instance_pass is not None:
                order[plan.instance.name] = [state.id for state in plan.instance_pass.states]
                edges[plan.instance.name] = {
                    state.id: tuple(sorted(state.node.depends_on)) for state in plan.instance_pass.states
                }
        by_instance: dict[str, list[_Life]] = {}
        for life in self._lives.values():
            by_instance.setdefault(life.instance, []).append(life)
        graph_rows: list[Graph] = []
        for instance, lives in sorted(by_instance.items()):
            places = {node: index for index, node in enumerate(order.get(instance, []))}
            lives.sort(
                key=lambda life: (places.get(life.node, len(places)), life.node, life.writes[0][0], life.name)
            )
            made = tuple(
                GraphRow(
                    life.node,
                    life.name,
                    tuple(life.writes),
                    tuple(life.ready),
                    life.deleted_at,
                )
                for life in lives
            )
            newest = max(number for life in lives for _, number in life.writes)
            graph_rows.append(Graph(instance, made, newest, edges.get(instance, {})))
        return graph_rows
