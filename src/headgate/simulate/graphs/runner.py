"""Runs the planner of graphs as a controller runs: told late, sure only of its own writes, killed at will."""

import random
from collections.abc import Callable, Mapping, Sequence

import msgspec

from headgate.graph import definition, labels, propagate, revisions
from headgate.graph.memory import Memory
from headgate.graph.propagate import DefinitionPlan, InstancePlan
from headgate.graph.resolving import Served
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, Delete, Key, Object, Update, UpdateStatus
from headgate.simulate.cluster.agenda import Agenda
from headgate.simulate.cluster.store import Change, Refused, Store, replace
from headgate.simulate.graphs.view import Seen

NAME = "graphs"

Planned = DefinitionPlan | InstancePlan
Observer = Callable[[Planned, Instant], None]
"""Told of each plan before it is written."""


class Runner:
    def __init__(
        self,
        store: Store,
        agenda: Agenda,
        signals: Callable[[Instant], Mapping[str, object]],
        observer: Observer,
        *,
        lag: int = 0,
        seed: int = 1,
        crash_at_writes: Sequence[int] = (),
    ) -> None:
        self._store = store
        self._agenda = agenda
        self._signals = signals
        self._observer = observer
        self._lag = lag
        self._patience = max(lag, instants.seconds(1))
        self._chance = random.Random(seed)
        self._crash_at_writes = frozenset(crash_at_writes)
        self._writes_count = 0
        self._life = 0
        self.memory = Memory()
        self.view = Seen()
        self._definitions: dict[str, None] = {}
        """Names of those to be looked at."""
        self._instances: dict[Key, None] = {}
        self._definition_of: dict[tuple[str, str], str] = {}
        """By group and kind of the instances."""
        self._served: dict[str, Served] = {}
        self._external_kinds: dict[str, frozenset[tuple[str, str]]] = {}
        self._with_conflicts: set[Key] = set()
        self.looks: dict[str | Key, Instant] = {}
        self.plans: dict[str | Key, Planned] = {}
        """The last one of each definition and instance."""
        self.refusals: list[tuple[Instant, str]] = []
        store.listen(self._changed)

    @property
    def has_work(self) -> bool:
        return bool(self._definitions or self._instances)

    def _changed(self, change: Change) -> None:
        if self._lag and change.by != NAME:
            life = self._life
            at = change.at + self._chance.randint(0, self._lag)
            self._agenda.add(at, lambda _: self._deliver(change, life))
        else:
            self._deliver(change, self._life)

    def _deliver(self, change: Change, life: int) -> None:
        if life != self._life:
            return
        item = change.object
        before = self.view.get(item.key)
        if change.kind == "deleted":
            if self.view.forget(item):
                self._mark(item, before, is_gone=True)
        elif self.view.observe(item):
            # Compared with what was known, and not with what was there: an own write may be the first news of an edit.
            is_own_status = before is not None and change.by == NAME and _is_only_status(before, item)
            self._mark(item, before, is_own_status=is_own_status)

    def _mark(
        self, item: Object, before: Object | None, *, is_gone: bool = False, is_own_status: bool = False
    ) -> None:
        """Whom a change concerns. The planner's own status of an instance concerns its definition alone."""
        key = item.key
        if key.kind == revisions.KIND or key.kind == revisions.GRAPH_KIND:
            return
        if key.kind == definition.KIND and key.group == "kro.run":
            if not is_own_status:
                self._definitions[item.name] = None
                self.mark_instances_of(item.name)
            return
        owner = self._definition_of.get((key.group, key.kind))
        if owner is not None:
            self._definitions[owner] = None
            if not is_own_status:
                self._instances[key] = None
        for carrier in (item, before):
            if carrier is not None and labels.INSTANCE_ID in carrier.labels:
                self._mark_instance_with(carrier)
        for name, kinds in self._external_kinds.items():
            if (key.group, key.kind) in kinds:
                self.mark_instances_of(name)
        if key.kind == "CustomResourceDefinition" and labels.DEFINITION_NAME in item.labels:
            self._definitions[item.labels[labels.DEFINITION_NAME]] = None
        if is_gone or labels.INSTANCE_ID not in item.labels:
            for waiting in self._with_conflicts:
                self._instances[waiting] = None

    def _mark_instance_with(self, item: Object) -> None:
        found = item.labels
        name = found.get(labels.DEFINITION_NAME, "")
        for (group, kind), definition_name in self._definition_of.items():
            if definition_name == name:
                key = Key(group, kind, found.get(labels.INSTANCE_NAMESPACE, ""), found[labels.INSTANCE_NAME])
                self._instances[key] = None

    def mark_everything(self) -> None:
        for item in self.view:
            if item.kind == definition.KIND and item.api_version == definition.API_VERSION:
                self._definitions[item.name] = None
                self.mark_instances_of(item.name)
            elif labels.FINALIZER in item.finalizers:
                # An instance; it may have to go after its definition has gone.
                self._definition_of[item.key.group, item.kind] = item.labels.get(labels.DEFINITION_NAME, "")
                self._instances[item.key] = None

    def mark_instances_of(self, name: str) -> None:
        for (group, kind), definition_name in self._definition_of.items():
            if definition_name == name:
                for item in self.view.of_kind(group, kind):
                    self._instances[item.key] = None

    def wake(self, now: Instant) -> None:
        for request in [request for request, at in self.looks.items() if at <= now]:
            del self.looks[request]
            if isinstance(request, str):
                self._definitions[request] = None
            else:
                self._instances[request] = None

    def decide(self, now: Instant) -> None:
        """Each definition and instance that something was heard of, once; definitions first."""
        definitions, self._definitions = sorted(self._definitions), {}
        for name in definitions:
            if self._decide_definition(name, now):
                return
        instances, self._instances = sorted(self._instances), {}
        for key in instances:
            if self._decide_instance(key, now):
                return

    def plan_of(self, request: str | Key, now: Instant, memory: Memory) -> Planned | None:
        """What would be decided now, without doing it."""
        if isinstance(request, str):
            item = self.view.get(Key("kro.run", definition.KIND, "", request))
            if item is None or item.deleted_at is not None:
                return None
            return propagate.plan_definition(item, self.view, self._signals(now), now, memory)
        item = self.view.get(request)
        if item is None:
            return None
        served = self._served.get(self._definition_of.get((request.group, request.kind), ""))
        if served is None:
            top = self.plan_of(item.labels.get(labels.DEFINITION_NAME, ""), now, memory)
            served = top.rollout.served if isinstance(top, DefinitionPlan) else None
        if served is not None:
            # The view may have heard of a pause that the definition was not looked at for yet.
            top_item = self.view.get(Key("kro.run", definition.KIND, "", served.name))
            is_paused = top_item is not None and labels.is_paused(top_item.annotations)
            if is_paused != served.is_paused:
                served = msgspec.structs.replace(served, is_paused=is_paused)
        return propagate.plan_instance(item, served, self.view, self._signals(now), now, memory)

    def _decide_definition(self, name: str, now: Instant) -> bool:
        self.looks.pop(name, None)
        plan = self.plan_of(name, now, self.memory)
        if not isinstance(plan, DefinitionPlan):
            self.plans.pop(name, None)
            self._served.pop(name, None)
            return False
        self._serve(name, plan)
        return self._carry_out(name, plan, now)

    def _serve(self, name: str, plan: DefinitionPlan) -> None:
        served = plan.rollout.served
        before = self._served.get(name)
        if served is None:
            self._served.pop(name, None)
            return
        self._served[name] = served
        newest = served.newest
        kind = (newest.api_version.partition("/")[0], newest.kind)
        is_new = self._definition_of.get(kind) != name
        self._definition_of[kind] = name
        self._external_kinds[name] = frozenset(
            (_group(node.api_version), node.kind)
            for graph in (newest, *served.graphs.values())
            for node in graph.nodes
            if node.external_ref is not None
        )
        if is_new or before is None or before.is_paused != served.is_paused or before.newest is not newest:
            self.mark_instances_of(name)
            if is_new and self.view.of_kind(*kind):
                self._definitions[name] = None

    def _decide_instance(self, key: Key, now: Instant) -> bool:
        self.looks.pop(key, None)
        plan = self.plan_of(key, now, self.memory)
        if not isinstance(plan, InstancePlan):
            self.plans.pop(key, None)
            self._with_conflicts.discard(key)
            return False
        if plan.look is not None and any(unit.problem for unit in plan.look.units):
            self._with_conflicts.add(key)
        else:
            self._with_conflicts.discard(key)
        return self._carry_out(key, plan, now)

    def _carry_out(self, request: str | Key, plan: Planned, now: Instant) -> bool:
        """Whether writing it killed the planner."""
        self.plans[request] = plan
        if plan.next_look is not None:
            self.looks[request] = max(plan.next_look, now)
        self._observer(plan, now)
        for action in plan.actions:
            try:
                self._apply(action, now)
            except Refused as refused:
                # Decided on a state that has moved: the rest is decided anew when the news has come.
                self.refusals.append((now, str(refused)))
                self.looks[request] = min(self.looks.get(request, now + self._patience), now + self._patience)
                return False
            self._writes_count += 1
            if self._writes_count in self._crash_at_writes:
                self.crash()
                return True
        return False

    def _apply(self, action: Action, now: Instant) -> None:
        match action:
            case Create(object=item):
                self._store.create(replace(item), now, NAME)
            case Delete(key=key, uid=uid):
                self._store.delete(key, uid, now, NAME)
            case Update(object=item):
                self._store.update(replace(item), now, NAME)
            case UpdateStatus(key=key, uid=uid, status=status):
                self._store.update_status(key, uid, status, now, NAME)

    def crash(self) -> None:
        """Nothing is remembered; the new life begins with a fresh list of everything."""
        self._life += 1
        self.memory = Memory(self.memory.compiled)
        self.looks = {}
        self.plans = {}
        self._served = {}
        self._definition_of = {}
        self._external_kinds = {}
        self._with_conflicts = set()
        self._instances = {}
        self._definitions = {}
        self.view = Seen(self._store)
        self.mark_everything()


def _is_only_status(before: Object, item: Object) -> bool:
    return (
        before.uid == item.uid
        and before.generation == item.generation
        and before.deleted_at == item.deleted_at
        and before.labels == item.labels
        and before.annotations == item.annotations
        and before.finalizers == item.finalizers
    )


def _group(api_version: str) -> str:
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


def encoded(plan: Planned | None) -> bytes:
    """A decision as bytes, to compare two of them."""
    if plan is None:
        return b""
    return msgspec.json.encode(plan.actions, enc_hook=repr, order="deterministic")
