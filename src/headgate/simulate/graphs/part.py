"""Graphs as a part of the simulated world, on the cluster that they share with workloads."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from headgate.cluster.cache import ObjectCache
from headgate.cluster.simulated import object_documents
from headgate.cluster.simulated.behaviors import Behaviors
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.settings import Cluster
from headgate.fleet.engine import manifests
from headgate.fleet.model import objects as model
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import explain_tree, labels
from headgate.graph.reconcile.accepted_graphs import request_for
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.propagate import InstancePlan
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, Object
from headgate.kernel.problems import Problem, Rejected
from headgate.promises import graph_news
from headgate.promises.base import Unfinished
from headgate.promises.requests import RequestDriver
from headgate.promises.watch import GraphWatch
from headgate.simulate.graphs import endings, rows
from headgate.simulate.graphs.admission import Admission
from headgate.simulate.model import result as results
from headgate.simulate.model import steps
from headgate.simulate.model.result import Explained, ExplainedLine, Result
from headgate.simulate.workloads.part import ClusterPart

_USER = "user"


class GraphPart:
    step_kinds = frozenset({"patch"})

    def __init__(self, cluster: ClusterPart, settings: Cluster, seed: int = 1) -> None:
        self._cluster = cluster
        self._store = cluster.store
        self._now: Instant = 0
        self._signals: Mapping[str, model.Signal] = {}
        self._seen_signals: dict[str, object] = {}
        self._admission = Admission(cluster.store)
        self._watch = GraphWatch(cluster.store, self._signal_values, lambda: self.driver.runner.cache)
        self._rows = rows.GraphRows(cluster.store)
        self._ready: dict[str, bool] = {}
        self._unfinished: list[Unfinished] = []
        self._controller = GraphController(self._signal_values)
        self._wake_driver = RequestDriver(self._controller, graph_news.waits)
        self.driver: ControllerDriver[GraphPlan] = ControllerDriver(
            cluster.store,
            cluster.agenda,
            self._controller,
            self,
            lag=settings.lag.microseconds,
            seed=seed,
            crash_at_writes=settings.crash_at_writes,
            refusal=Behaviors(settings.behaviors).refusal,
        )

    def read_signals(self, signals: Mapping[str, model.Signal]) -> None:
        self._signals = signals

    def _signal_values(self, now: Instant) -> dict[str, object]:
        return {name: signal.value for name, signal in self._signals.items() if not signal.is_over(now)}

    def serves(self, api_version: str | None, kind: str) -> bool:
        return (
            self._admission.is_definition(api_version, kind)
            or (api_version is not None and self._admission.has_no_namespace(api_version, kind))
            or self._admission.graph_for(api_version, kind) is not None
        )

    def apply(self, item: manifests.ForeignObject, now: Instant) -> None:
        self._put(item.document, now)

    def _put(self, document: dict[str, Any], now: Instant) -> None:
        self._now = now
        old = self._store.get(self._admission.key_of(document))
        if old is not None and old.deleted_at is not None:
            raise Rejected(
                [Problem("metadata.name", f"{old.kind} {old.name} is being deleted and not gone yet")]
            )
        accepted = self._admission.accepted(document, old)
        if old is None:
            self._store.create(accepted, now, _USER)
        else:
            self._store.update(accepted, now, _USER)

    def play(self, step: steps.Step, now: Instant) -> None:
        self._now = now
        payload = step.payload
        old = self._find(payload)
        if old is None or not self.serves(old.api_version, old.kind):
            self._cluster.play(step, now)
        elif step.kind == "delete":
            self._store.delete(old.key, old.uid, now, _USER)
        else:
            document = object_documents.merged(object_documents.write(old), payload.patch)
            if not old.namespace:
                document["metadata"].pop("namespace", None)
            self._put(document, now)

    def _find(self, payload: steps.DeleteStep | steps.PatchStep) -> Object | None:
        """The one object that is meant. None if there are none or several, which the cluster has words for."""
        matching = [
            item
            for item in self._store
            if item.kind == payload.kind
            and item.name == payload.name
            and item.deleted_at is None
            and payload.api_version in (None, item.api_version)
            and payload.namespace in (None, item.namespace)
        ]
        return matching[0] if len(matching) == 1 else None

    def next_event(self) -> Instant | None:
        if self.driver.has_work:
            return self._now
        return min([*self._wanted_looks(), *self._ends_of_signals()], default=None)

    def _wanted_looks(self) -> list[Instant]:
        return [max(at, self._now) for request, at in self.driver.requeues().items()]

    def _ends_of_signals(self) -> list[Instant]:
        return [
            signal.expires_at
            for signal in self._signals.values()
            if signal.expires_at is not None and signal.expires_at > self._now and self.driver.runner.plans
        ]

    def is_repeating(self) -> bool:
        """The end of a signal may open a gate, so it is awaited as long as something is unfinished."""
        if self.driver.has_work or self._wanted_looks():
            return False
        return not (self._ends_of_signals() and endings.unfinished(self.driver.runner.plans, self._store))

    def advance(self, now: Instant) -> None:
        self._now = now
        self.driver.wake(now)

    def decide(self, now: Instant) -> None:
        self._now = now
        values = self._signal_values(now)
        if values != self._seen_signals:
            self._seen_signals = values
            self._controller.enqueue_everything()
        has_news = self.driver.has_work
        self.driver.decide(now)
        if has_news and not self.driver.has_work and self._wake_driver.is_due():
            self._drive_wakes(now)

    def _drive_wakes(self, now: Instant) -> None:
        self._watch.wakes_driven(self._wake_driver.unanswered(self.driver.runner, now), now)

    def restarted(self, cache: ObjectCache) -> None:
        """The watch asks for the present cache each time."""

    def written(self, request: Key, actions: Sequence[Action], now: Instant) -> None:
        """Every write is seen on the cluster."""

    def planned(self, request: Key, plan: GraphPlan, now: Instant) -> None:
        if not isinstance(plan, InstancePlan):
            self._watch.planned_rollout(plan.rollout, now)
            return
        if plan.instance_pass is None:
            return
        self._watch.planned(plan.instance_pass, now)
        units = list(plan.instance_pass.units)
        written = {unit.key for unit in units if unit.is_written}
        for unit in units:
            last = unit.last_applied
            item = last.object
            is_taken = last is not unit and last.key in written
            if item is None or is_taken or labels.NODE_ID not in item.labels:
                continue
            is_ready = unit.is_ready
            if is_ready and not self._ready.get(item.uid) and item.kind != "Pod":
                self._cluster.record.note_ready(item.uid, now)
            self._rows.note(item.uid, is_ready, now)
            self._ready[item.uid] = is_ready

    def crash(self, now: Instant) -> None:
        """What the old planner would have decided is what the new one decides."""
        self._now = now
        if not self.driver.has_work:
            self._compare_with_a_fresh_one(now)
        self.driver.crash()

    def _compare_with_a_fresh_one(self, now: Instant) -> None:
        fresh = PlannerCache()
        for request in list(self.driver.runner.plans):
            before = _encoded(self._controller.plan_of(request, now, self._controller.planner_cache))
            after = _encoded(self._controller.plan_of(request, now, fresh))
            self._watch.replayed(request.name, before, after, now)

    def is_converged(self, now: Instant) -> bool:
        return not self.driver.has_work and not endings.unfinished(self.driver.runner.plans, self._store)

    def explain(self, question: steps.ExplainStep, now: Instant) -> Explained:
        if question.definition is not None:
            request = request_for(question.definition)
            subject = f"definition {question.definition}"
        elif question.instance is not None:
            request = self._instance_key(question.instance, question.namespace)
            subject = f"instance {question.instance}"
        else:
            return self._cluster.explain(question, now)
        plan = self._controller.plan_of(request, now, self._controller.planner_cache)
        if plan is None:
            raise Rejected([Problem("definition", f"{subject} is not there")])
        lines = tuple(
            ExplainedLine(
                line.node if line.item and line.node else None,
                line.item or line.node or None,
                explained.kind,
                str(line.revision) if line.revision else None,
                "pending" if explained.verdict == "error" else explained.verdict,
                explained.message,
                explained.requeue_at,
            )
            for line in plan.lines()
            for explained in (line.line,)
        )
        state, message = explain_tree.state_and_message(plan)
        return Explained(now, subject, state.value, lines, message, tree=self._tree(plan, now))

    def _tree(self, plan: GraphPlan, now: Instant) -> ExplanationTree:
        if isinstance(plan, InstancePlan):
            return explain_tree.of_instance(plan, partial(self._below, now))
        return explain_tree.of_definition(plan, partial(self._below, now))

    def _below(self, now: Instant, item: Object) -> ExplanationTree | None:
        """An object may be an instance of another graph, or a workload."""
        if self._admission.graph_for(item.api_version, item.kind) is None:
            return self._cluster.explain_object(item, now)
        plan = self._controller.plan_of(item.key, now, self._controller.planner_cache)
        return None if plan is None else self._tree(plan, now)

    def _instance_key(self, name: str, namespace: str | None) -> Key:
        matching = [
            item.key
            for item in self._store
            if item.name == name
            and namespace in (None, item.namespace)
            and self._admission.graph_for(item.api_version, item.kind) is not None
        ]
        if len(matching) == 1:
            return matching[0]
        if not matching:
            raise Rejected([Problem("instance", f"instance {name} is not there")])
        places = ", ".join(sorted(f"{key.kind} in {key.namespace or 'no namespace'}" for key in matching))
        message = f"instance {name} is there {len(matching)} times: {places}"
        if len({key.namespace for key in matching}) > 1:
            message += "; say the namespace"
        raise Rejected([Problem("instance", message)])

    def snapshot(self, now: Instant) -> Iterable[dict[str, Any]]:
        """Everything on the cluster is in the snapshot of the cluster."""
        return ()

    def end(self, now: Instant, *, was_cut: bool) -> None:
        self._unfinished = endings.unfinished(self.driver.runner.plans, self._store)
        if not self.driver.has_work:
            self._drive_wakes(now)
        waiting = endings.left_waiting(self.driver.runner.plans, self._store)
        self._watch.ended(self._unfinished, waiting, now, is_over=not was_cut)

    def fill(self, document: dict[str, Any]) -> None:
        """Objects and conditions are written down by the cluster."""

    def report(self, result: Result) -> None:
        result.violations.extend(self._watch.violations)
        result.waiting.extend(
            results.WaitingAtEnd(item.name, item.state, "; ".join(item.reasons)) for item in self._unfinished
        )
        result.graphs.extend(self._rows.graphs(self.driver.runner.plans.values()))


def _encoded(plan: GraphPlan | None) -> bytes:
    """A decision as bytes, to compare two of them."""
    if plan is None:
        return b""
    return msgspec.json.encode(plan.actions, enc_hook=repr, order="deterministic")
