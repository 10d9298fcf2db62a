"""What every promise is: a name, a sentence, and on each level the things it may observe."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, ClassVar

import msgspec

from headgate.cluster.port import ClusterPort, ObjectChange
from headgate.fleet.model import changes, records
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.rollouts import DefinitionRollout
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.promises.books.graph_writes import GraphWrite
from headgate.promises.books.mirror import Mirror
from headgate.promises.books.tally import PodTally
from headgate.promises.books.unavailability import BudgetStep
from headgate.workload.model import PodCliqueSet

Broken = Callable[[str, Instant, str], None]
"""Takes the promise's name, the moment, and the sentence."""

STILL_TO_RUN = frozenset({"waiting", "running", "retrying"})
"""Members of a group that have a job ahead of them, or under way."""


class Unconverged(msgspec.Struct, frozen=True):
    """One target that is not where it should be: why, what wakes it, and every rule line of its explanation."""

    target: str
    state: str
    reason: str
    wakes: str
    verdicts: tuple[tuple[str, str], ...] = ()
    """(verdict, message) of each rule."""
    is_woken: bool = True
    """Whether it stands on the list of everything that is said to wake it."""


class RunEnding(msgspec.Struct, frozen=True):
    """`was_cut` says that time ran out, so that what is left may still be on its way."""

    at: Instant
    converged: bool
    was_cut: bool
    next_wake: Instant | None
    unconverged: tuple[Unconverged, ...] = ()


class Unfinished(msgspec.Struct, frozen=True):
    """A graph or a set that is not where it should be when the run ends."""

    name: str
    state: str
    reasons: tuple[str, ...]
    """What the planner says is in the way."""
    is_held: bool
    """A gate, a person or an error keeps it where it is: paused, aborted, replaced only on deletion."""
    is_hindered: bool
    """Something outside is not over: no room, never ready, crashing, not there."""


class Promise:
    """Subclasses override what they need to see; the rest costs nothing."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    _broken: Broken

    def broken(self, now: Instant, fact: str) -> None:
        self._broken(self.name, now, f"{self.sentence}: {fact}")


class FleetPromise(Promise):
    """Keeps its own books from accepted changes, jobs and groups as they change, and what the engine says when asked."""

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        self.mirror = mirror
        self._broken = broken

    def changed(self, change: changes.Change, now: Instant) -> None:
        """An accepted change, but for reports; the mirror has it already."""

    def reported(self, report: changes.JobReported, now: Instant) -> None:
        """By far the most of what is accepted, and next to nobody asks: what a report does is seen at the job."""

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None: ...

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None: ...

    def group_changed(self, group: records.Group, now: Instant) -> None: ...

    def repeated(self, job: records.Job, was_changed: bool, now: Instant) -> None:
        """A report was delivered a second time."""

    def decided(self, now: Instant) -> None: ...

    def reloaded(self, before: bytes, after: bytes, now: Instant) -> None:
        """The state as written out, and as written out again by the engine that loaded it."""

    def compared(self, survivor: bytes, reloaded: bytes, now: Instant) -> None:
        """Decisions after a crash: those of an engine that went on, and of the one that came back."""

    def reconciled_afresh(self, differences: Sequence[str], now: Instant) -> None:
        """What an engine that looks at everything would do at once, after this one has decided."""

    def wakes_driven(self, unanswered: Sequence[str], now: Instant) -> None:
        """What units wait for was made to happen in a copy of the engine: what is said of those that slept through it."""

    def ended(self, ending: RunEnding) -> None: ...


class ObjectPromise(Promise):
    """Of a level that lives on a cluster: it reads the cluster, and never what the planner counted."""

    def __init__(self, cluster: ClusterPort, broken: Broken) -> None:
        self.cluster = cluster
        self._broken = broken

    def ended(self, unfinished: Iterable[Unfinished], now: Instant, *, is_over: bool) -> None:
        """`is_over`: nothing more can happen by itself."""

    def wakes_driven(self, unanswered: Sequence[str], now: Instant) -> None:
        """What requests wait for was made up, and the clock went on: what is said of those that do not come back."""


class GraphPromise(ObjectPromise):
    def __init__(
        self,
        cluster: ClusterPort,
        broken: Broken,
        signals: Callable[[Instant], Any],
        is_paused: Callable[[Object], bool],
        known: Callable[[Key], Object | None],
    ) -> None:
        """`known` is what the planner was told: it decides on that. `is_paused` says of an object of a graph whether its
        pause is known, and so acknowledged."""
        super().__init__(cluster, broken)
        self.signals = signals
        self.is_paused = is_paused
        self.known = known

    def written(self, write: GraphWrite) -> None: ...

    def planned(self, instance_pass: InstancePass, now: Instant) -> None: ...

    def planned_rollout(self, rollout: DefinitionRollout, now: Instant) -> None:
        """Instances are let on to the newest graph revision."""

    def replayed(self, name: str, before: bytes, after: bytes, now: Instant) -> None:
        """One decision of the planner that went on, and of one that remembers nothing."""

    def left_waiting(self, instance_pass: InstancePass, now: Instant) -> None:
        """The last plan of an instance that is not done when the run ends."""

    def left_waiting_rollout(self, rollout: DefinitionRollout, now: Instant) -> None:
        """The last plan of a definition whose instances are not all let on."""


class WorkloadPromise(ObjectPromise):
    def decides_on(self, pcs: PodCliqueSet) -> None:
        """The set as the planner last saw it."""

    def changed(self, change: ObjectChange) -> None: ...

    def acted(
        self, pcs: PodCliqueSet, steps: Sequence[BudgetStep], tally: PodTally, was_paused: bool, now: Instant
    ) -> None: ...

    def silent(self, name: str, now: Instant) -> None:
        """A set that is not done, for which the planner does nothing and says nothing."""

    def left_over(self, sets: Collection[PodCliqueSet], now: Instant) -> None:
        """The run has ended and everything is done."""


def canonical(state: bytes) -> bytes:
    """The order of keys is no part of a state: what follows from it would show in the decisions."""
    return json.dumps(json.loads(state), sort_keys=True, ensure_ascii=False).encode()


def first_difference(expected: bytes, actual: bytes) -> str:
    """What stands around the first byte in which two documents differ."""
    place = next(
        (index for index, (one, other) in enumerate(zip(expected, actual)) if one != other),
        min(len(expected), len(actual)),
    )
    start = max(0, place - 60)
    was, became = (text[start : place + 60].decode("utf-8", "replace") for text in (expected, actual))
    return f"...{was}... became ...{became}..."
