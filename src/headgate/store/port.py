"""The one port to storage. Everything above it speaks in these values; SQL stays behind it.

A workspace is a log of entries (accepted changes, and marks "decided at this moment") and the rows that follow from the
log. Whoever appends to a workspace's log holds its lock for the length of one transaction, so entries have one order
everywhere. Only the holder of the workspace's lease may append decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal

import msgspec

from headgate.kernel.instants import Instant
from headgate.store.job_lines import JobLines, LogEnd

Json = bytes
"""A JSON document as it was written, never parsed on its way through."""


class UnavailableError(Exception):
    """The database cannot be reached, or lost the transaction: nothing of it is known to be stored."""


class DiskFullError(UnavailableError):
    """There is no room to write: what was written before is there and can be read."""


class NotAdmittedError(UnavailableError):
    """The server answers, but knows neither this database nor this user, or not with this password."""


class RefusedError(UnavailableError):
    """The database refused the statement itself: the same again has no better chance, others beside it have."""


class LeaseLostError(Exception):
    """Somebody else holds the lease by now; nothing was written."""


class Workspace(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: str
    description: str = ""
    created_at: Instant = 0


class Lease(msgspec.Struct, frozen=True):
    """`token` grows with every new holder; writes that carry an older one are refused."""

    name: str
    holder: str
    token: int


History = Literal["jobs", "groups", "audit", "events", "log"]
EntryKind = Literal["change", "decided", "clock"]


class LogEntry(msgspec.Struct, frozen=True):
    """`change` is applied; after `decided` the engine decides at `at`; `clock` takes time back to `at`. `payload` is
    what the entry says, as JSON."""

    seq: int
    at: Instant
    kind: EntryKind
    payload: Json
    user: str = ""
    trace_parent: str | None = None


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """What happened, for people and programs that follow along. `seq` is gapless in its workspace."""

    seq: int
    at: Instant
    type: str
    kind: str
    name: str
    message: str
    data: Json = b"{}"


class AuditEntry(msgspec.Struct, frozen=True, rename="camel"):
    """Who changed what; `before` and `after` are documents, None where there was nothing."""

    at: Instant
    user: str
    action: str
    kind: str
    name: str
    before: Json | None = None
    after: Json | None = None
    request_id: str = ""
    seq: int = 0


class Dispatch(msgspec.Struct, rename="camel"):
    """A job to be run by an agent: the outbox. `document` is all that the agent needs to know.

    `claims` counts how often it was handed out; a claim ends with the lease `claimed_until`, and `token` tells claims
    of the same dispatch apart, and nobody knows it but who was given the claim.
    """

    workspace: str
    job: str
    agent: str
    type: str
    document: Json
    created_at: Instant
    not_before: Instant
    deadline_at: Instant | None = None
    claims: int = 0
    claimed_by: str | None = None
    claimed_until: Instant | None = None
    token: int = 0
    cancelled: bool = False
    state: Json = b"{}"
    """What the agent needs to go on after a restart, such as the id of the run it started."""


class HistoryPiece(msgspec.Struct, frozen=True):
    """A part of what was. The first piece of a segment, 0, has all there was at `at`, after entry `segment` of the log; the
    others have what changed from `at` on. It stands for the log up to `until`, whose moment is `until_at`."""

    segment: int
    piece: int
    at: Instant
    until: int
    until_at: Instant
    document: Json


class Token(msgspec.Struct, frozen=True, rename="camel"):
    """An API token; the secret itself is never stored. Without a workspace it is good for all of them."""

    id: str
    name: str
    hash: str
    workspace: str | None
    role: str | None
    permissions: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    created_at: Instant = 0
    created_by: str = ""
    expires_at: Instant | None = None


class Remembered(msgspec.Struct, frozen=True):
    """The answer to a request with an Idempotency-Key; `fingerprint` tells another request with the same key."""

    key: str
    fingerprint: str
    status: int
    body: Json
    at: Instant


Row = Mapping[str, object]


class Transaction(ABC):
    """Holds the workspace's lock. Everything becomes visible at once when the block ends, or not at all."""

    workspace: str
    head: int
    """The newest entry's number in the log; 0 when it is empty."""
    newest_event: int

    @abstractmethod
    def log_after(self, seq: int) -> list[LogEntry]: ...

    @abstractmethod
    def append(self, entries: Sequence[LogEntry]) -> None: ...

    @abstractmethod
    def put(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        """Inserts rows, or replaces those with the same key; columns in the order of the schema."""

    @abstractmethod
    def delete(
        self, table: str, keys: Sequence[Sequence[object]], columns: tuple[str, ...] | None = None
    ) -> None:
        """By the table's key, or by the columns that are named."""

    @abstractmethod
    def add_events(self, events: Sequence[Event]) -> None:
        """Numbers them on; the `seq` they bring is not looked at."""

    @abstractmethod
    def add_audit(self, entries: Sequence[AuditEntry]) -> None: ...

    @abstractmethod
    def advance(self, consumed: int, sequence: int) -> None:
        """The rows stand for the log up to `consumed`; `sequence` numbers the engine's own ids."""

    @abstractmethod
    def cancel_dispatches(self, jobs: Sequence[str]) -> None:
        """Dispatches that nobody has claimed go at once; others stay, marked, until their agent has stopped the job."""

    @abstractmethod
    def has_current_job(self, job: str) -> bool:
        """Whether the rows hold it as one that the engine works with."""

    @abstractmethod
    def recall(self, key: str) -> Remembered | None: ...

    @abstractmethod
    def remember(self, answer: Remembered) -> None: ...

    @abstractmethod
    def documents(self, kind: str) -> dict[str, Json]:
        """The workspace's small documents; written with `put` and `delete`."""

    @abstractmethod
    def tokens(self) -> list[Token]:
        """Of all workspaces."""

    @abstractmethod
    def add_token(self, token: Token) -> None: ...

    @abstractmethod
    def remove_token(self, token_id: str) -> None: ...


class UnknownWorkspaceError(Exception):
    """There is no workspace of that name."""


class EngineRows(msgspec.Struct):
    """All rows of a workspace's engine, table by table, and the log position that they stand for."""

    consumed: int
    sequence: int
    tables: dict[str, list[Row]]


class Store(ABC):
    """Safe to use from several threads."""

    url: str

    @abstractmethod
    def migrate(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def ping(self) -> None:
        """Raises `UnavailableError`."""

    @abstractmethod
    def clock(self) -> Instant:
        """What the database takes the time to be."""

    @abstractmethod
    def try_to_write(self) -> None:
        """Writes something and takes it back; raises `UnavailableError`."""

    @abstractmethod
    def workspaces(self) -> list[Workspace]: ...

    @abstractmethod
    def add_workspace(self, workspace: Workspace) -> bool:
        """False if one of that name is there already."""

    @abstractmethod
    def begin_with(self, workspace: Workspace) -> AbstractContextManager[tuple[Transaction, bool]]:
        """Adds the workspace in the transaction that writes about it; False if one of that name is there already."""

    @abstractmethod
    def remove_workspace(self, name: str) -> bool:
        """With everything in it."""

    @abstractmethod
    def take_lease(self, name: str, holder: str, seconds: float) -> Lease | None:
        """None while somebody else holds it."""

    @abstractmethod
    def renew_lease(self, lease: Lease, seconds: float) -> bool:
        """False if somebody else has taken it since."""

    @abstractmethod
    def release_lease(self, lease: Lease) -> None: ...

    @abstractmethod
    def leases(self) -> list[tuple[Lease, Instant]]:
        """With the moment each of them ends."""

    @abstractmethod
    def begin(self, workspace: str, lease: Lease | None = None) -> AbstractContextManager[Transaction]:
        """With a lease, raises `LeaseLostError` unless it is still the newest."""

    @abstractmethod
    def load(self, workspace: str) -> EngineRows: ...

    @abstractmethod
    def head(self, workspace: str) -> int: ...

    @abstractmethod
    def log_after(self, workspace: str, seq: int, limit: int) -> list[LogEntry]: ...

    @abstractmethod
    def wait_for_hint(self, seconds: float) -> bool:
        """Returns early, with True, when another process may have written. A hint only: look either way."""

    @abstractmethod
    def hint(self) -> None:
        """Tells other processes to look, where the database can; it does not end this store's own wait."""

    @abstractmethod
    def prune(self, workspace: str, what: History, *, before: Instant, keep: int, limit: int) -> int:
        """Forgets at most `limit` rows, the oldest first: those of before that moment, and those beyond the newest
        `keep`; how many went. What rows do not stand for yet, and what the engine works with, stays."""

    @abstractmethod
    def prune_keys(self, *, before: Instant, limit: int) -> int:
        """Old Idempotency-Keys, and cancelled dispatches whose agent never came back."""

    # Reading for people: newest first where there is a time, `after` is the last key of the page before.

    @abstractmethod
    def events_after(self, workspace: str, seq: int, limit: int) -> list[Event]: ...

    @abstractmethod
    def newest_event(self, workspace: str) -> int: ...

    @abstractmethod
    def audit_before(
        self, workspace: str, seq: int | None, limit: int, *, kind: str | None = None, name: str | None = None
    ) -> list[AuditEntry]: ...

    @abstractmethod
    def job(self, workspace: str, job: str) -> Row | None: ...

    @abstractmethod
    def jobs_before(
        self,
        workspace: str,
        after: tuple[Instant, str] | None,
        limit: int,
        equal: Mapping[str, str],
    ) -> list[Row]:
        """`equal` may name deployment, environment, resource, status, agent, group_id, tag."""

    @abstractmethod
    def groups_before(
        self, workspace: str, after: tuple[Instant, str] | None, limit: int, equal: Mapping[str, str]
    ) -> list[Row]: ...

    @abstractmethod
    def group(self, workspace: str, group: str) -> Row | None: ...

    @abstractmethod
    def typical_durations(self, workspace: str) -> dict[str, int]:
        """By deployment: the mean of its last successful jobs, in microseconds."""

    # The outbox.

    @abstractmethod
    def claim_dispatches(
        self,
        *,
        types: Iterable[str] | None = None,
        workspace: str | None = None,
        agent: str | None = None,
        holder: str,
        now: Instant,
        seconds: float,
        limit: int,
        without: Collection[tuple[str, str]] = (),
        note: Callable[[Dispatch], Json] | None = None,
    ) -> list[Dispatch]:
        """Hands out dispatches that are due and that nobody holds, oldest first, each to one caller only; none of the agents
        in `without`, which are named by workspace and name. `note` says what is kept as the state of a dispatch that was
        just claimed."""

    @abstractmethod
    def claim_states(self, workspace: str, type_: str, now: Instant) -> list[Json]:
        """States of the dispatches whose claims have not ended."""

    @abstractmethod
    def renew_dispatch(self, dispatch: Dispatch, until: Instant) -> bool:
        """False if the claim was lost, or the dispatch is gone or cancelled."""

    @abstractmethod
    def save_dispatch(self, dispatch: Dispatch) -> bool:
        """Writes `state`, `not_before` and the claim back, also of a cancelled dispatch, which has to be stopped yet;
        False if the claim was lost or the dispatch is gone."""

    @abstractmethod
    def claim_holders(self) -> list[str]:
        """Whoever has claimed dispatches."""

    @abstractmethod
    def release_claims(self, holder: str) -> None:
        """Offers what the holder has claimed again; for one that has ended."""

    @abstractmethod
    def give_back_dispatch(self, dispatch: Dispatch) -> None:
        """The claim was not received: it does not count, and its token is good for nothing."""

    @abstractmethod
    def end_lost_claims(self, type_: str, now: Instant, limit: int) -> list[Dispatch]:
        """Dispatches of the type whose lease is over, as they were; each is given to one caller, and is nobody's then."""

    @abstractmethod
    def finish_dispatch(self, workspace: str, job: str) -> None: ...

    @abstractmethod
    def dispatch(self, workspace: str, job: str) -> Dispatch | None: ...

    @abstractmethod
    def cancelled_dispatches(self, types: Iterable[str]) -> list[Dispatch]: ...

    @abstractmethod
    def oldest_waiting_dispatch(self) -> Instant | None:
        """When the oldest dispatch was made that nobody has claimed yet."""

    @abstractmethod
    def overdue_dispatches(self, now: Instant, limit: int) -> list[Dispatch]:
        """Past their deadline, whoever holds them."""

    # What jobs print.

    @abstractmethod
    def append_job_lines(self, given: JobLines, token: int) -> LogEnd | None:
        """How far the job's log goes then; None, and nothing is added, if `token` is not that of the newest claim."""

    @abstractmethod
    def job_lines(self, workspace: str, job: str, offset: int, limit: int) -> list[tuple[Instant, list[str]]]:
        """Lines from that one on, in the pieces that they came in, at most so many pieces."""

    @abstractmethod
    def job_log_end(self, workspace: str, job: str) -> LogEnd: ...

    # What was.

    @abstractmethod
    def add_history(self, workspace: str, pieces: Sequence[HistoryPiece]) -> None:
        """Those of the same segment and number are replaced."""

    @abstractmethod
    def drop_history_after(self, workspace: str, position: int) -> None:
        """Pieces that stand for later entries of the log."""

    @abstractmethod
    def history_span(self, workspace: str) -> tuple[Instant, HistoryPiece] | None:
        """The earliest moment, and the newest piece; None if there is nothing."""

    @abstractmethod
    def history_until(self, workspace: str, at: Instant) -> list[HistoryPiece]:
        """The pieces of the newest segment that begins by then, as far as they begin by then too."""

    @abstractmethod
    def history_between(self, workspace: str, since: Instant, until: Instant) -> Iterator[HistoryPiece]:
        """Pieces with changes of that time, the newest first: what a segment begins with is no change."""

    # Tokens.

    @abstractmethod
    def add_token(self, token: Token) -> None: ...

    @abstractmethod
    def token_by_hash(self, digest: str) -> Token | None: ...

    @abstractmethod
    def tokens(self, workspace: str | None) -> list[Token]: ...

    @abstractmethod
    def remove_token(self, token_id: str) -> bool: ...

    # Small documents of the service itself: systems, settings.

    @abstractmethod
    def documents(self, workspace: str, kind: str) -> dict[str, Json]: ...

    @abstractmethod
    def put_document(self, workspace: str, kind: str, name: str, document: Json) -> None: ...

    @abstractmethod
    def remove_document(self, workspace: str, kind: str, name: str) -> bool: ...
