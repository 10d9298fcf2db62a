"""One pass of the planner: what it goes by, what it means to remember, and what it wants written."""

from collections.abc import Iterable
from typing import Any

import msgspec

from headgate.kernel.decisions import Reason
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, DeleteObject, Key, Object, Update, UpdateStatus
from headgate.workload.expand.revisions import Revision
from headgate.workload.model import PodCliqueSet
from headgate.workload.plan import observed
from headgate.workload.plan.observed import Tree
from headgate.workload.plan.persisted_state import PersistedState, ReplicaRecord

ABORT = "headgate.dev/abort"
"""Its value names the revision that is given up and, after an @, the generation at which that was ordered."""


def is_abort_of(value: str | None, revision_hash: str, spent: str | None) -> bool:
    """An abort holds until the next template; the same template coming back later is a new update."""
    return value is not None and value != spent and value.partition("@")[0] == revision_hash


"""Annotation of a set: the hash of the revision that is abandoned. Another template makes it void."""
SCHEDULED_AT = "headgate.dev/scheduled-at"
"""Annotation of a base gang: that it once stood, so that its scaled gangs need not wait when an update takes it apart."""


class Announcement(msgspec.Struct, frozen=True):
    """Something that the people behind a set should be told, about one of its objects."""

    object: Key
    message: str
    reason: Reason = Reason.PUT_BACK


class Writes(msgspec.Struct):
    """In the order in which they are carried out: intents and names first, then what is added, at last what is taken."""

    revisions: list[Action] = []
    updates: dict[Key, Action] = {}
    """One for each object: what is put back may be moved on in the same pass."""
    statuses: list[Action] = []
    claims: list[Action] = []
    """Before the pods that use them."""
    creates: list[Action] = []
    gangs: list[Action] = []
    gates: list[Action] = []
    unavailable_deletes: list[Action] = []
    """Of pods that go because they are not available, or with something that is not: refused if one has become so, and
    then nothing else is taken either."""
    deletes: list[Action] = []
    created_pods: dict[str, list[str]] = {}
    """Names of new pods by PodClique."""
    deleted_uids: set[str] = set()

    def create(self, item: Object) -> None:
        self.creates.append(Create(item))

    def delete(self, item: Object, reason: str, *, only_as_seen: bool = False) -> None:
        if item.deleted_at is None and item.uid not in self.deleted_uids:
            self.deleted_uids.add(item.uid)
            version = item.resource_version if only_as_seen else None
            where = self.unavailable_deletes if only_as_seen else self.deletes
            where.append(DeleteObject(item.key, item.uid, reason, version))

    def delete_pod(self, pod: observed.Pod, reason: str) -> None:
        self.delete(pod.object, reason, only_as_seen=not pod.is_available)

    def delete_clique(self, clique: observed.ObservedClique, reason: str) -> None:
        """The clique before its pods: what is left when the planner stops in between is then on its way out."""
        if clique.object is not None:
            self.delete(clique.object, reason)
        for pod in clique.pods:
            self.delete_pod(pod, reason)

    def update(self, item: Object) -> None:
        self.updates[item.key] = Update(item)

    def status(self, item: Object, status: dict[str, Any]) -> None:
        if item.status != status:
            self.statuses.append(UpdateStatus(item.key, item.uid, status))

    def in_order(self, first: Iterable[Action]) -> tuple[Action, ...]:
        return (
            *self.revisions,
            *first,
            *self.updates.values(),
            *self.statuses,
            *self.claims,
            *self.creates,
            *self.gangs,
            *self.gates,
            *self.unavailable_deletes,
            *self.deletes,
        )


class ClaimWait(msgspec.Struct, frozen=True):
    """Why a ResourceClaim cannot be used now."""

    reason: Reason
    since: Instant
    message: str
    help: str


class Situation(msgspec.Struct):
    pcs: PodCliqueSet
    source: Object
    tree: Tree
    persisted: PersistedState
    newest: Revision
    """Of the template as it stands."""
    target: Revision
    """What units are moved to: the newest, unless the set was rolled back from it."""
    now: Instant
    ids: IdSource
    writes: Writes
    looks: list[Instant] = []
    """Moments at which something is due even if nobody writes anything."""
    events: list[Announcement] = []
    gates_startup: bool = False
    """Whether gates hold the order in which cliques start, too."""
    kept_claims: set[str] = set()
    """The names of all ResourceClaims that there are to be, as far as the pass has come."""
    claims_waited_for: dict[str, ClaimWait] = {}
    """Those of them that no new pod may use yet."""
    pods_held_back: dict[str, int] = {}
    """How many pods are not made yet, by the first claim that they wait for."""

    @property
    def strategy(self) -> str:
        return self.pcs.update_strategy.type

    @property
    def is_paused(self) -> bool:
        return self.pcs.update_strategy.paused

    @property
    def is_aborted(self) -> bool:
        return is_abort_of(self.source.annotations.get(ABORT), self.newest.hash, self.persisted.spent_abort)

    @property
    def may_update(self) -> bool:
        return self.is_willing and not self.is_paused

    @property
    def is_willing(self) -> bool:
        """Whether outdated replicas are to be moved at all, be it later."""
        return not self.is_aborted and self.strategy != "OnDelete"

    @property
    def is_updating(self) -> bool:
        progress = self.persisted.progress
        return progress is not None and progress.ended_at is None

    def revision(self, revision_hash: str | None) -> Revision:
        """One that somebody removed cannot be built from any more; then what is aimed at must do."""
        if revision_hash == self.newest.hash:
            return self.newest
        return self.tree.revisions.get(revision_hash or "", self.target)

    def is_new(self, index: int) -> bool:
        """Moved to the target, and nothing of other content left in it."""
        record = self.persisted.records.get(index)
        if record is None:
            return True
        if record.revision != self.target.hash:
            return False
        replica = self.tree.replicas.get(index)
        return replica is None or replica.is_at(self.target)

    def is_at_own(self, index: int) -> bool:
        """Nothing is left in it of another content than that of the revision it was last moved to."""
        record = self.persisted.records.get(index)
        replica = self.tree.replicas.get(index)
        return record is None or replica is None or replica.is_at(self.revision(record.revision))

    def is_available(self, index: int) -> bool:
        record = self.persisted.records.get(index)
        replica = self.tree.replicas.get(index)
        return record is not None and not record.is_torn_down and replica is not None and replica.is_available

    def may_move(self, index: int) -> bool:
        return index >= self.pcs.update_strategy.partition

    def requeue_at(self, moment: Instant) -> None:
        if moment > self.now:
            self.looks.append(moment)

    def record(self, index: int) -> ReplicaRecord:
        return self.persisted.records[index]
