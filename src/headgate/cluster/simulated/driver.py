"""Drives a controller as a real one is driven: told late, sure only of its own writes, killed at will."""

import random
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from headgate.cluster import port
from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Controller, PlanT
from headgate.cluster.port import Conflict, ObjectChange, WriteRefused
from headgate.cluster.refusals import Untaken
from headgate.cluster.runner import Runner
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.store import ObjectStore
from headgate.cluster.simulated.writing import StoreWriter
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, Object

PlanT_contra = TypeVar("PlanT_contra", contravariant=True)


class ClusterObserver(Protocol[PlanT_contra]):
    """Looks at each plan before it is written and after."""

    def restarted(self, cache: ObjectCache) -> None:
        """A new life of the controller, which sees this."""

    def planned(self, request: Key, plan: PlanT_contra, now: Instant) -> None: ...

    def written(self, request: Key, actions: Sequence[Action], now: Instant) -> None:
        """So many of the actions were written; the cache shows them."""


class ControllerDriver(Generic[PlanT]):
    """One controller. What it wrote is in its cache at once; what others did arrives with the notifications."""

    def __init__(
        self,
        store: ObjectStore,
        agenda: Agenda,
        controller: Controller[PlanT],
        observer: ClusterObserver[PlanT],
        *,
        lag: int = 0,
        seed: int = 1,
        crash_at_writes: Sequence[int] = (),
        refusal: Callable[[Object], str | None] = lambda _: None,
    ) -> None:
        """`refusal` is what the server answers instead of making or changing an object."""
        self._store = store
        self._agenda = agenda
        self._controller = controller
        self._observer = observer
        self._lag = lag
        self._chance = random.Random(seed)
        self._crash_at_writes = frozenset(crash_at_writes)
        self._refusal = refusal
        self._writes_count = 0
        self._life = 0
        """Counts restarts: notifications meant for an earlier life are dropped."""
        self.conflicts: list[tuple[Instant, str]] = []
        self.runner: Runner[PlanT] = Runner(store, controller, patience=max(lag, instants.seconds(1)))
        observer.restarted(self.runner.cache)
        store.listen(self._changed)

    @property
    def has_work(self) -> bool:
        return bool(self.runner.queue)

    def requeues(self) -> dict[Key, Instant]:
        """When each request wants to be looked at again by itself."""
        return self.runner.queue.requeues

    def _changed(self, change: ObjectChange) -> None:
        if not self._controller.watches(change.object):
            return
        if self._lag and change.by != self._controller.name:
            life = self._life
            at = change.at + self._chance.randint(0, self._lag)
            self._agenda.add(at, lambda _: self._deliver(change, life))
        else:
            self.runner.observe(change)

    def _deliver(self, change: ObjectChange, life: int) -> None:
        if life == self._life:
            self.runner.observe(change)

    def wake(self, now: Instant) -> None:
        self.runner.queue.wake(now)

    def decide(self, now: Instant) -> None:
        """Each request that something was heard of, once, unless a write kills the controller."""
        writer = StoreWriter(self._store, now, self._controller.name, self._refusal)
        for request, plan in self.runner.passes(now):
            self._observer.planned(request, plan, now)
            written, is_dead = self._write(writer, request, plan.actions, now)
            self._observer.written(request, written, now)
            if is_dead:
                self.crash()
                return

    def _write(
        self, writer: StoreWriter, request: Key, actions: Sequence[Action], now: Instant
    ) -> tuple[list[Action], bool]:
        """What was written, and whether that killed the controller."""
        written: list[Action] = []
        for action in actions:
            problem = _problem_with(writer, action)
            if problem is not None:
                if isinstance(problem, Conflict):
                    self.conflicts.append((now, str(problem)))
                for status_write in self.runner.not_written(request, action, problem, now):
                    _problem_with(writer, status_write)
                return written, False
            written.append(action)
            self._writes_count += 1
            if self._writes_count in self._crash_at_writes:
                return written, True
        for taken_back in self.runner.written(request):
            if _problem_with(writer, taken_back) is None:
                self.runner.queue.add(request)
            else:
                self.runner.failed(request, now)
        return written, False

    def crash(self) -> None:
        """Nothing is remembered, and what was on its way to the old life is lost."""
        self._life += 1
        self.runner.restart()
        self._observer.restarted(self.runner.cache)


def _problem_with(writer: StoreWriter, action: Action) -> Untaken | None:
    try:
        port.write(writer, action)
    except (Conflict, WriteRefused) as problem:
        return problem
    return None
