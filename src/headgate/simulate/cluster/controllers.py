"""Runs a controller against the cluster as a real one runs: told late, sure only of its own writes, killed at will."""

import random
from collections.abc import Sequence
from typing import Protocol

import msgspec

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, Delete, Object, Update, UpdateStatus
from headgate.simulate.cluster.agenda import Agenda
from headgate.simulate.cluster.store import Change, Refused, Store, replace
from headgate.simulate.cluster.view import Request, View, request_of

NAME = "controller"


class Outcome(msgspec.Struct, frozen=True):
    actions: Sequence[Action]
    next_look: Instant | None = None


class Controller(Protocol):
    def restarted(self, view: View) -> None:
        """A new view, and nothing remembered."""

    def reconcile(self, request: Request, now: Instant) -> Outcome: ...

    def applied(self, request: Request, actions: Sequence[Action], now: Instant) -> None:
        """So many of the actions were written; the view shows them."""


class Runner:
    """One controller. What it wrote is in its view at once; what others did arrives with the notifications."""

    def __init__(
        self,
        store: Store,
        agenda: Agenda,
        controller: Controller,
        *,
        lag: int = 0,
        seed: int = 1,
        crash_at_writes: Sequence[int] = (),
    ) -> None:
        self._store = store
        self._agenda = agenda
        self._controller = controller
        self._lag = lag
        self._chance = random.Random(seed)
        self._crash_at_writes = frozenset(crash_at_writes)
        self._writes_count = 0
        self._life = 0
        """Counts restarts: notifications meant for an earlier life are dropped."""
        self._requests: dict[Request, None] = {}
        self._looks: dict[Request, Instant] = {}
        self.refusals: list[tuple[Instant, str]] = []
        self.view = View()
        controller.restarted(self.view)
        store.listen(self._changed)

    @property
    def has_work(self) -> bool:
        return bool(self._requests)

    def looks(self) -> dict[Request, Instant]:
        """When each set wants to be looked at again by itself."""
        return self._looks

    def request(self, request: Request) -> None:
        self._requests[request] = None

    def _changed(self, change: Change) -> None:
        if request_of(change.object) is None:
            return
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
        known = self.view.get(item.key)
        is_news = self.view.forget(item) if change.kind == "deleted" else self.view.observe(item)
        request = request_of(item)
        is_own_status = change.by == NAME and change.kind == "modified" and _says_only_status(item, known)
        if is_news and request is not None and not is_own_status:
            self._requests[request] = None

    def wake(self, now: Instant) -> None:
        for request in [request for request, at in self._looks.items() if at <= now]:
            del self._looks[request]
            self._requests[request] = None

    def decide(self, now: Instant) -> None:
        """Each set that something was heard of, once."""
        requests, self._requests = list(self._requests), {}
        for request in requests:
            self._looks.pop(request, None)
            outcome = self._controller.reconcile(request, now)
            if outcome.next_look is not None:
                self._looks[request] = max(outcome.next_look, now)
            written, is_dead = self._write(outcome.actions, now)
            self._controller.applied(request, written, now)
            if is_dead:
                self.crash()
                return

    def _write(self, actions: Sequence[Action], now: Instant) -> tuple[list[Action], bool]:
        """What was written, and whether that killed the controller. What is refused is decided anew when heard of."""
        written: list[Action] = []
        for action in actions:
            try:
                self._apply(action, now)
            except Refused as refused:
                self.refusals.append((now, str(refused)))
                continue
            written.append(action)
            self._writes_count += 1
            if self._writes_count in self._crash_at_writes:
                return written, True
        return written, False

    def _apply(self, action: Action, now: Instant) -> None:
        match action:
            case Create(object=item):
                self._store.create(item, now, NAME)
            case Delete(key=key, uid=uid):
                self._store.delete(key, uid, now, NAME)
            case Update(object=item):
                self._store.update(replace(item), now, NAME)
            case UpdateStatus(key=key, uid=uid, status=status):
                self._store.update_status(key, uid, status, now, NAME)

    def crash(self) -> None:
        """Nothing is remembered; the new life begins with a fresh list of everything."""
        self._life += 1
        self._looks = {}
        self.view = View(item for item in self._store if request_of(item) is not None)
        self._requests = {}
        for item in self.view:
            request = request_of(item)
            if request is not None:
                self._requests[request] = None
        self._controller.restarted(self.view)


def _says_only_status(item: Object, known: Object | None) -> bool:
    """Compared with what was known: the answer to a write may be the first that is heard of somebody else's edit."""
    return (
        known is not None
        and known.uid == item.uid
        and known.spec is item.spec
        and known.deleted_at == item.deleted_at
        and known.labels == item.labels
        and known.annotations == item.annotations
    )
