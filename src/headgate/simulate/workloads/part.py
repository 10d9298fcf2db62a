"""The cluster as a part of the simulated world: it serves manifests and steps, and fills its share of the result."""

import functools
from collections.abc import Iterable
from typing import Any

from headgate.cluster.simulated import matching, object_documents
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.behaviors import Behaviors, Statuses
from headgate.cluster.simulated.claims import ClaimProtection
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.garbage import Collector
from headgate.cluster.simulated.kubelet import Kubelet
from headgate.cluster.simulated.nodes import Nodes
from headgate.cluster.simulated.pods import Pods, PodSeen
from headgate.cluster.simulated.record import ClusterRecord
from headgate.cluster.simulated.scheduler import Scheduler
from headgate.cluster.simulated.settings import Cluster
from headgate.cluster.simulated.store import ObjectStore, replace
from headgate.fleet.engine import manifests
from headgate.fleet.state.state import Notice
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kernel.problems import Problem, Rejected
from headgate.promises import workload_news
from headgate.promises.base import Unfinished
from headgate.promises.requests import RequestDriver
from headgate.simulate.model import result as results
from headgate.simulate.model import steps
from headgate.simulate.model.result import Explained, Result, Warned
from headgate.simulate.workloads import operations, trees
from headgate.simulate.workloads import sets as workloads
from headgate.simulate.workloads.sets import Planned, Planner, RevisionNumbers, Workloads
from headgate.workload.plan import explain as workload_explain
from headgate.workload.plan import planner as plan
from headgate.workload.plan.controller import WorkloadController
from headgate.workload.plan.family import is_set
from headgate.workload.plan.situation import Announcement

_USER = "user"
_NOT_SIMULATED = ("kro.run/",)
MOST_WARNINGS = 200


class ClusterPart:
    step_kinds = frozenset({"patch", "killPod", "endPod", "cordon", "uncordon", "workload"})

    def __init__(self, cluster: Cluster, ids: IdSource, seed: int = 1, planner: Planner = plan.plan) -> None:
        self._now: Instant = 0
        self._warnings: list[Warned] = []
        self._notices: list[tuple[Instant, Notice]] = []
        self._numbers = RevisionNumbers()
        self.agenda = Agenda()
        self.store = ObjectStore(ids)
        self.nodes = Nodes(cluster.nodes, cluster.pods_per_node)
        behaviors = Behaviors(cluster.behaviors)
        self.pods = Pods(self.store, self._numbers.note)
        self.workloads = Workloads(self.store, self.pods, self._tell)
        self._is_bound_pod_by_pod = cluster.binds == "pods"
        if self._is_bound_pod_by_pod and planner is plan.plan:
            planner = functools.partial(plan.plan, is_bound_pod_by_pod=True)
        self.scheduler = Scheduler(
            self.store,
            self.agenda,
            self.pods,
            self.nodes,
            behaviors,
            cluster.schedule.microseconds,
            knows_gangs=not self._is_bound_pod_by_pod,
        )
        self.kubelet = Kubelet(
            self.store,
            self.agenda,
            self.pods,
            behaviors,
            cluster.start.microseconds,
            cluster.terminate.microseconds,
            orders_startup=not self._is_bound_pod_by_pod,
        )
        ClaimProtection(self.store, self.agenda)
        Collector(self.store, self.agenda, cluster.collect.microseconds)
        self._statuses = Statuses(self.store, self.agenda, behaviors)
        self.record = ClusterRecord(self.store, self._statuses)
        self._ending = operations.OperationEnding(self.workloads, self.pods, self.scheduler, self.kubelet)
        self._unfinished: list[Unfinished] = []
        self._has_lag = cluster.lag.microseconds > 0
        controller = WorkloadController(planner, ids)
        self._wake_driver = RequestDriver(controller, workload_news.waits)
        self.driver: ControllerDriver[Planned] = ControllerDriver(
            self.store,
            self.agenda,
            controller,
            self.workloads,
            lag=cluster.lag.microseconds,
            seed=seed,
            crash_at_writes=cluster.crash_at_writes,
            refusal=behaviors.refusal,
        )

    def _tell(self, now: Instant, event: Announcement) -> None:
        about = event.object
        self._notices.append((now, Notice(event.reason, about.kind, about.name, event.message)))

    def _warn(self, now: Instant, target: str, message: str) -> None:
        warning = Warned(now, target, "", message)
        if len(self._warnings) < MOST_WARNINGS and warning not in self._warnings[-20:]:
            self._warnings.append(warning)

    def serves(self, api_version: str | None, kind: str) -> bool:
        return api_version is None or not api_version.startswith(_NOT_SIMULATED)

    def apply(self, item: manifests.ForeignObject, now: Instant) -> None:
        self._now = now
        given = object_documents.read(item.document)
        old = self.store.get(given.key)
        if old is None or old.deleted_at is not None:
            self._refuse_while_going(old)
            self.store.create(self._accepted(given, None, now), now, _USER)
        else:
            self._edit(old, given, now)

    def _refuse_while_going(self, old: Object | None) -> None:
        if old is not None:
            raise Rejected(
                [Problem("metadata.name", f"{old.kind} {old.name} is being deleted and not gone yet")]
            )

    def _accepted(self, given: Object, old: Object | None, now: Instant) -> Object:
        if not is_set(given):
            return given
        item, warnings = workloads.checked(given, old, self.store)
        for warning in warnings:
            self._warn(now, f"{item.kind} {item.name}", warning)
        self._numbers.note(item.namespace, item.name, workloads.revision_hash(item))
        return item

    def _edit(self, old: Object, given: Object, now: Instant) -> None:
        accepted = self._accepted(given, old, now)
        changed = replace(
            accepted,
            uid=old.uid,
            owners=old.owners,
            finalizers=accepted.finalizers,
            resource_version=old.resource_version,
        )
        self.store.update(changed, now, _USER)

    def play(self, step: steps.Step, now: Instant) -> None:
        self._now = now
        payload = step.payload
        match step.kind:
            case "patch":
                self._patch(payload, now)
            case "delete":
                item = self.find(payload.kind, payload.name, payload.api_version, payload.namespace)
                self.store.delete(item.key, item.uid, now, _USER)
            case "killPod":
                for pod in self._chosen(payload, is_forced=payload.force):
                    if payload.force:
                        self.store.remove(pod.key, pod.uid, now, _USER)
                    else:
                        self.store.delete(pod.key, pod.uid, now, _USER)
            case "endPod":
                for pod in self._chosen(payload):
                    self.kubelet.end(pod, payload.phase, payload.reason, now)
            case "cordon":
                self.nodes.cordon(payload.nodes)
                self.scheduler.requeue(now)
            case "uncordon":
                self.nodes.uncordon(payload.nodes)
                self.scheduler.requeue(now)
            case _:
                item = self._find_set(payload.name, payload.namespace)
                edited = operations.edited(payload.action, item, self._tree(item, now).state)
                self._edit(item, edited, now)

    def _patch(self, payload: steps.PatchStep, now: Instant) -> None:
        old = self.find(payload.kind, payload.name, payload.api_version, payload.namespace)
        document = object_documents.merged(object_documents.write(old), payload.patch)
        for key in ("apiVersion", "kind"):
            if document.get(key) != getattr(old, {"apiVersion": "api_version"}.get(key, key)):
                raise Rejected([Problem(f"patch.{key}", "must not change")])
        given = object_documents.read(document)
        if given.key != old.key:
            raise Rejected([Problem("patch.metadata", "must not change the name or the namespace")])
        self._edit(old, given, now)
        status = payload.patch.get("status")
        if isinstance(status, dict):
            self.store.update_status(old.key, old.uid, document["status"], now, _USER)

    def find(
        self, kind: str, name: str, api_version: str | None, namespace: str | None, field: str = "name"
    ) -> Object:
        """`field` is where the name was given."""
        objects = [
            item
            for item in self.store
            if item.kind == kind
            and item.name == name
            and item.deleted_at is None
            and api_version in (None, item.api_version)
            and namespace in (None, item.namespace)
        ]
        if len(objects) == 1:
            return objects[0]
        if not objects:
            raise Rejected([Problem(field, f"{kind} {name} is not there")])
        places = ", ".join(sorted(f"{item.api_version} in {item.namespace}" for item in objects))
        raise Rejected(
            [
                Problem(
                    field,
                    f"{kind} {name} is there {len(objects)} times: {places}; say apiVersion or namespace",
                )
            ]
        )

    def _find_set(self, name: str, namespace: str | None, field: str = "name") -> Object:
        return self.find("PodCliqueSet", name, None, namespace, field)

    def _chosen(
        self, payload: steps.KillPodStep | steps.EndPodStep, *, is_forced: bool = False
    ) -> list[PodSeen]:
        """Of those that match, the oldest; of equal age by name. Only force reaches what is on its way out."""
        selector = matching.pod_selector(payload.match, "match")
        candidates = sorted(
            (pod for pod in self.pods if pod.deleted_at is None or is_forced),
            key=lambda pod: (pod.created_at, pod.name),
        )
        chosen: list[PodSeen] = []
        for pod in candidates:
            bindings: dict[str, object] = {"pod": pod.document()}
            if pod.revision is not None:
                bindings["revision"] = pod.revision
            if len(chosen) < payload.count and selector.matches(bindings):
                chosen.append(pod)
        if not chosen:
            raise Rejected([Problem("match", f"no pod matches {payload.match}")])
        return chosen

    def next_event(self) -> Instant | None:
        if self.driver.has_work:
            return self._now
        upcoming = self.agenda.next_moment()
        requeue_at = min(self.driver.requeues().values(), default=None)
        if requeue_at is None or (upcoming is not None and upcoming <= requeue_at):
            return upcoming
        return min((*self._wanted_requeues(), *(() if upcoming is None else (upcoming,))), default=None)

    def _wanted_requeues(self) -> list[Instant]:
        """A set that is done does not keep a run going."""
        requeues = self.driver.requeues()
        if not requeues:
            return []
        convergence = self.workloads.convergence()
        return [max(at, self._now) for request, at in requeues.items() if not convergence.get(request, True)]

    def is_repeating(self) -> bool:
        return not (self.agenda.has_new_things or self.driver.has_work or self._wanted_requeues())

    def advance(self, now: Instant) -> None:
        self._now = now
        self.agenda.run_due(now)
        self.driver.wake(now)

    def decide(self, now: Instant) -> None:
        self._now = now
        conflicts_before = len(self.driver.conflicts)
        has_news = self.driver.has_work
        self.driver.decide(now)
        if has_news and not self.driver.has_work and self._wake_driver.is_due():
            self._drive_wakes(now)
        if not self._has_lag:
            self.workloads.judge_silence(now)
            for at, message in self.driver.conflicts[conflicts_before:]:
                self._warn(at, "planner", f"a write was refused: {message}")

    def _drive_wakes(self, now: Instant) -> None:
        self.workloads.watch.wakes_driven(self._wake_driver.unanswered(self.driver.runner, now), now)

    def crash(self, now: Instant) -> None:
        self._now = now
        self.driver.crash()

    def is_converged(self, now: Instant) -> bool:
        return all(self.workloads.convergence().values())

    def explain(self, question: steps.ExplainStep, now: Instant) -> Explained:
        item = self._find_set(question.workload or "", question.namespace, "workload")
        return operations.explained(item, self._tree(item, now), now)

    def explain_object(self, item: Object, now: Instant) -> ExplanationTree | None:
        """What a graph holds and this level knows more about."""
        return self._tree(item, now) if is_set(item) else None

    def _tree(self, item: Object, now: Instant) -> ExplanationTree:
        parts = self.workloads.parts_of(item.key)
        return workload_explain.explain(item, parts, now, is_bound_pod_by_pod=self._is_bound_pod_by_pod)

    def snapshot(self, now: Instant) -> Iterable[dict[str, Any]]:
        for item in sorted(self.store, key=lambda item: (item.kind, item.namespace, item.name)):
            yield {
                "apiVersion": item.api_version,
                "kind": item.kind,
                "namespace": item.namespace,
                "name": item.name,
                "generation": item.generation,
                "status": item.status,
            }

    def end(self, now: Instant, *, was_cut: bool) -> None:
        self._unfinished = self._ending.unfinished(now)
        if not self.driver.has_work:
            self._drive_wakes(now)
        watch = self.workloads.watch
        watch.ended(self._unfinished, now, is_over=not was_cut)
        if not self._unfinished and not was_cut:
            watch.left_over(list(self.workloads.sets()), now)

    def fill(self, document: dict[str, Any]) -> None:
        ordered = sorted(self.pods.every, key=lambda pod: (pod.created_at, pod.name))
        document["pods"].extend(pod.document() for pod in ordered)
        document["objects"].extend(self.record.documents())
        conditions = sorted(self.record.conditions, key=lambda item: (item.at, item.name))
        document["conditions"].extend(condition.document() for condition in conditions)

    def report(self, result: Result) -> None:
        for pcs in self.workloads.sets():
            self.workloads.ledger.open(pcs, self.workloads.truth)
        result.workload_budgets.extend(
            sorted(
                self.workloads.ledger.peaks(),
                key=lambda peak: (peak.peak_at is None, peak.peak_at or 0, peak.scope, peak.kind),
            )
        )
        for at, target, message in self._statuses.failures:
            self._warn(at, target, message)
        result.warnings.extend(self._warnings)
        result.notices.extend(self._notices)
        result.violations.extend(self.workloads.watch.violations)
        result.waiting.extend(
            results.WaitingAtEnd(item.name, item.state, "; ".join(item.reasons)) for item in self._unfinished
        )
        result.workloads.extend(trees.of(self.pods.every))
