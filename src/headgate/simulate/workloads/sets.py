"""PodCliqueSets on the simulated cluster: accepted like by an API server, and watched while they are moved."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Plan
from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.pods import Pods, PodSeen
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, DeleteObject, Key, Object
from headgate.promises.books import unavailability
from headgate.promises.books.tally import PodTally
from headgate.promises.watch import WorkloadWatch
from headgate.workload import labels, model, names
from headgate.workload.checks import validate
from headgate.workload.expand import revisions
from headgate.workload.model import PodCliqueSet
from headgate.workload.plan import controller, situation
from headgate.workload.plan.family import Family, claim_templates, is_set, request_for


class Planned(Plan, Protocol):
    """What is read of a plan; the planner's own type has more."""

    @property
    def stuck(self) -> Sequence[Any]: ...
    @property
    def events(self) -> Sequence[situation.Announcement]: ...


Planner = controller.Planner[Planned]
Announce = Callable[[Instant, situation.Announcement], None]
"""Takes the events of a plan, each with its moment."""


class RevisionNumbers:
    """Numbers the contents of each set in the order in which they were accepted."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], dict[str, int]] = {}

    def note(self, namespace: str, pcs: str, revision_hash: str) -> int:
        known = self._numbers.setdefault((namespace, pcs), {})
        return known.setdefault(revision_hash, len(known) + 1)


class Sets:
    """Reads each set once for every version of it."""

    def __init__(self) -> None:
        self._read: dict[Key, tuple[int, str, PodCliqueSet]] = {}

    def read(self, item: Object) -> PodCliqueSet:
        known = self._read.get(item.key)
        if known is None or known[:2] != (item.generation, item.uid):
            known = self._read[item.key] = (item.generation, item.uid, model.read(item))
        return known[2]


class Workloads:
    """Looks at what is planned for all sets. What it keeps is for the result, not for the planner."""

    def __init__(
        self,
        store: ObjectStore,
        pods: Pods,
        tell: Announce,
    ) -> None:
        self._store = store
        self._pods = pods
        self._tell = tell
        self._sets = Sets()
        self._sets_seen = Sets()
        self._cache = ObjectCache(lambda item: None)
        """What the planner sees; each of its lives has one of its own."""
        self._seen = PodTally()
        """Counted from what the planner sees."""
        self.truth = PodTally()
        """Counted from what there is."""
        self._pending: tuple[PodCliqueSet, unavailability.Pending, bool] | None = None
        self._plans: dict[Key, Planned] = {}
        self._silent: dict[Key, None] = {}
        self._versions_count = 0
        self._converged: tuple[int, dict[Key, bool]] = (-1, {})
        self.watch = WorkloadWatch(store)
        self.ledger = unavailability.BudgetLedger()
        store.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        self._versions_count += 1
        self.truth.changed(change.old, None if change.kind == "deleted" else change.object)
        if change.kind == "added" and change.object.kind == "Pod":
            pod = self._pods[change.object.uid]
            pod.is_surge = self._is_above_replicas(pod)

    def _is_above_replicas(self, pod: PodSeen) -> bool:
        namespace = pod.key.namespace
        pcs = self.object_of(request_for(namespace, pod.pcs or ""))
        group = self.truth.groups.get((namespace, pod.group_object))
        clique = self.truth.cliques.get((namespace, pod.clique_object))
        return any(
            item is not None and index is not None and index >= int(item.spec.get("replicas", index + 1))
            for item, index in ((pcs, pod.pcs_replica), (group, pod.pcsg_replica), (clique, pod.index))
        )

    def restarted(self, cache: ObjectCache) -> None:
        self._cache = cache
        self._seen = PodTally()
        self._sets_seen = Sets()
        self._pending = None
        cache.listen(self._seen.changed)

    def planned(self, request: Key, plan: Planned, now: Instant) -> None:
        item = self._cache.get(request)
        assert item is not None, "a plan is made of a set that the planner sees"
        pcs = self._sets_seen.read(item)
        self.watch.decides_on(pcs)
        self._plans[request] = plan
        for event in plan.events:
            self._tell(now, event)
        if not plan.actions and not plan.stuck and plan.requeue_at is None:
            self._silent[request] = None
        deleted = _deleted_objects(plan.actions, self._cache.get)
        pending = unavailability.before(pcs, plan.actions, self._seen, deleted)
        self._pending = (pcs, pending, pcs.update_strategy.paused)

    def written(self, request: Key, actions: Sequence[Action], now: Instant) -> None:
        if self._pending is None:
            return
        pcs, pending, was_paused = self._pending
        self._pending = None
        steps = list(unavailability.steps(pcs, pending, self._seen))
        for step in steps:
            self.ledger.note(pcs, step, now)
        self.watch.acted(pcs, steps, self._seen, was_paused, now)

    def requests(self) -> list[Key]:
        return sorted(item.key for item in self._store if is_set(item))

    def sets(self) -> Iterator[PodCliqueSet]:
        for request in self.requests():
            item = self.object_of(request)
            if item is not None:
                yield self._sets.read(item)

    def object_of(self, request: Key) -> Object | None:
        return self._store.get(request)

    def parts_of(self, request: Key) -> tuple[Object, ...]:
        """And the claim templates that it refers to."""
        family = Family()
        parts = [item for item in self._store if not is_set(item) and family.set_of(item) == request]
        of = self._store.get(request)
        return (*parts, *(claim_templates(of, self._store.get) if of is not None else ()))

    def holds(self, item: Object) -> Iterator[str]:
        """Why somebody wants the set to stay as it is."""
        pcs = self._sets.read(item)
        strategy = pcs.update_strategy
        if strategy.paused:
            yield "it is paused"
        if strategy.type == "OnDelete":
            yield "its pods are replaced only when somebody deletes them"
        order, spent = item.annotations.get(situation.ABORT), item.status.get("spentAbort")
        if situation.is_abort_of(order, revisions.revision_hash(pcs), spent):
            yield "its update was aborted"
        if item.status.get("rolledBack"):
            yield "its update was rolled back"

    def reasons(self, request: Key, now: Instant) -> list[str]:
        """What the planner says is in the way, and what somebody has ordered."""
        item, plan = self.object_of(request), self._plans.get(request)
        held = list(self.holds(item)) if item is not None else []
        return [*held, *(str(stuck) for stuck in plan.stuck)] if plan is not None else held

    def judge_silence(self, now: Instant) -> None:
        """A set that is not done and for which nothing is to be done now must have a reason, at any time."""
        for request in self._silent:
            if not self.convergence().get(request, True) and not self.reasons(request, now):
                self.watch.silent(request.name, now)
        self._silent.clear()

    def convergence(self) -> dict[Key, bool]:
        """For each set, and for each that is gone and has left something."""
        version, convergence = self._converged
        if version != self._versions_count:
            convergence = self._judge_convergence()
            self._converged = (self._versions_count, convergence)
        return convergence

    def _judge_convergence(self) -> dict[Key, bool]:
        convergence = {request_for(pcs.namespace, pcs.name): self._is_done(pcs) for pcs in self.sets()}
        for item in self._store:
            pcs_name = item.labels.get(labels.PART_OF)
            if pcs_name is None:
                continue
            request = request_for(item.namespace, pcs_name)
            if item.deleted_at is not None or request not in convergence:
                convergence[request] = False
        return convergence

    def _is_done(self, pcs: PodCliqueSet) -> bool:
        wanted = set(range(pcs.replicas))
        return self.truth.set_replicas((pcs.namespace, pcs.name)) == wanted and all(
            self._is_replica_done(pcs, index) for index in wanted
        )

    def _is_replica_done(self, pcs: PodCliqueSet, index: int) -> bool:
        is_moved = index >= pcs.update_strategy.partition
        for clique in pcs.template.standalone_cliques:
            name = names.standalone_clique(pcs.name, index, clique.name)
            if not self._is_clique_done(pcs, clique, name, is_moved):
                return False
        for group in pcs.template.scaling_groups:
            place = (pcs.namespace, names.scaling_group(pcs.name, index, group.name))
            item = self.truth.groups.get(place)
            if item is None:
                return False
            replicas = int(item.spec.get("replicas", 0))
            if group.scale_config is None and replicas != group.replicas:
                return False
            if self.truth.group_replicas(place) != set(range(replicas)):
                return False
            for replica in range(replicas):
                for clique in pcs.template.members(group):
                    name = names.member_clique(pcs.name, index, group.name, replica, clique.name)
                    if not self._is_clique_done(pcs, clique, name, is_moved):
                        return False
        return True

    def _is_clique_done(self, pcs: PodCliqueSet, clique: model.Clique, name: str, is_moved: bool) -> bool:
        place = (pcs.namespace, name)
        item = self.truth.cliques.get(place)
        if item is None:
            return False
        replicas = int(item.spec.get("replicas", 0))
        if clique.auto_scaling is None and replicas != clique.replicas:
            return False
        pods = self.truth.pods.get(place, {}).values()
        if len(pods) != replicas or any(not pod.is_available or pod.number >= replicas for pod in pods):
            return False
        if not is_moved:
            return True
        wanted = _clique_hash(pcs, clique.name)
        return all(pod.template_hash == wanted for pod in pods)


def _deleted_objects(actions: Sequence[Action], get: Callable[[Key], Object | None]) -> dict[Key, Object]:
    objects: dict[Key, Object] = {}
    for action in actions:
        if isinstance(action, DeleteObject):
            item = get(action.key)
            if item is not None and item.uid == action.uid:
                objects[action.key] = item
    return objects


def _clique_hash(pcs: PodCliqueSet, name: str) -> str:
    key = ("clique hash", name)
    if key not in pcs.memo:
        pcs.memo[key] = revisions.clique_hash(pcs, name)
    clique_hash: str = pcs.memo[key]
    return clique_hash


def checked(item: Object, old: Object | None, store: ObjectStore) -> tuple[Object, tuple[str, ...]]:
    """The object to store, and warnings. Raises Rejected."""
    verdict = validate.check(item, old, filter(is_set, store))
    return verdict.accepted(), verdict.warnings


def revision_hash(item: Object) -> str:
    return revisions.revision_hash(model.read(item))
