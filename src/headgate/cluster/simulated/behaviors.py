"""How pods and objects of the scenario behave: the first entry that matches decides."""

from collections.abc import Sequence

from headgate import cel
from headgate.cluster.port import Conflict, ObjectChange
from headgate.cluster.simulated import matching, object_documents
from headgate.cluster.simulated.agenda import Agenda, Timer
from headgate.cluster.simulated.pods import PodSeen
from headgate.cluster.simulated.settings import Behavior
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object

ORDINARY = Behavior()
REVISION_ANNOTATION = "headgate.dev/revision"


class Behaviors:
    def __init__(self, entries: Sequence[Behavior]) -> None:
        self._entries = tuple((entry, matching.MATCH.selector(entry.match)) for entry in entries)

    def of_pod(self, pod: PodSeen) -> Behavior:
        if not self._entries:
            return ORDINARY
        bindings: dict[str, object] = {"pod": pod.document()}
        if pod.revision is not None:
            bindings["revision"] = pod.revision
        return self._first(bindings)

    def of_object(self, item: Object) -> Behavior:
        if not self._entries:
            return ORDINARY
        return self._first(object_bindings(item))

    def refusal(self, item: Object) -> str | None:
        """What a server would answer to a controller that writes the object like this; None if it takes it."""
        if not any(entry.refuses for entry, _ in self._entries):
            return None
        return self._first(object_bindings(item)).refuses

    def _first(self, bindings: dict[str, object]) -> Behavior:
        return next((entry for entry, selector in self._entries if selector.matches(bindings)), ORDINARY)


def revision_of(item: Object) -> int | None:
    """The number of the graph revision that an object was written for."""
    text = item.annotations.get(REVISION_ANNOTATION, "")
    return int(text) if text.isascii() and text.isdigit() else None


def object_bindings(item: Object) -> dict[str, object]:
    bindings: dict[str, object] = {"object": object_documents.write(item)}
    revision = revision_of(item)
    if revision is not None:
        bindings["revision"] = revision
    return bindings


class Statuses:
    """Sets the status of objects some time after each write of their spec, as their behavior says."""

    def __init__(self, store: ObjectStore, agenda: Agenda, behaviors: Behaviors) -> None:
        self._store = store
        self._agenda = agenda
        self._behaviors = behaviors
        self._timers: dict[str, Timer] = {}
        self.set_at: dict[str, list[Instant]] = {}
        """When each object, by uid, got its status."""
        self.failures: list[tuple[Instant, str, str]] = []
        """(when, object, what went wrong) of every `${}` that could not be evaluated."""
        store.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        item = change.object
        if item.kind == "Pod":
            return
        if change.kind == "deleted":
            self._agenda.cancel(self._timers.pop(item.uid, None))
        elif change.is_spec_write:
            self._agenda.cancel(self._timers.pop(item.uid, None))
            behavior = self._behaviors.of_object(item)
            if behavior.status is not None and behavior.never != "ready":
                self._timers[item.uid] = self._agenda.add(
                    change.at + behavior.status.after.microseconds,
                    lambda now: self._set(item, behavior, now),
                )

    def _set(self, seen: Object, behavior: Behavior, now: Instant) -> None:
        item = self._store.get(seen.key)
        if item is None or item.uid != seen.uid or behavior.status is None:
            return
        try:
            status = matching.filled(behavior.status.set, object_bindings(item))
            self._store.update_status(item.key, item.uid, {**item.status, **status}, now, "behavior")
        except cel.EvaluationError as error:
            self.failures.append((now, f"{item.kind} {item.name}", f"status.set: {error}"))
            return
        except Conflict:
            return
        self.set_at.setdefault(item.uid, []).append(now)
