"""The one port to storage. Everything above it speaks in these values; SQL stays behind it.

A workspace is a log of entries (accepted changes, and marks "decided at this moment") and the rows that follow from the
log. Whoever appends to a workspace's log holds its lock for the length of one transaction, so entries have one order
everywhere. Only the holder of the workspace's lease may append decisions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal

import msgspec

from headgate.kernel.instants import Instant
from headgate.store.dispatches import Dispatches
from headgate.store.history import HistoryPieces
from headgate.store.job_logs import JobLogs
from headgate.store.leases import Lease, Leases
from headgate.store.log import AuditEntry, Event, Log, LogEntry
from headgate.store.rows import Json, Rows


class UnavailableError(Exception):
    """The database cannot be reached, or lost the transaction: nothing of it is known to be stored."""


class DiskFullError(UnavailableError):
    """There is no room to write: what was written before is there and can be read."""


class NotAdmittedError(UnavailableError):
    """The server answers, but knows neither this database nor this user, or not with this password."""


class RefusedError(UnavailableError):
    """The database refused the statement itself: the same again has no better chance, others beside it have."""


class Workspace(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: str
    description: str = ""
    created_at: Instant = 0


History = Literal["jobs", "groups", "audit", "events", "log"]


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


class NewerSchemaError(Exception):
    """The database was written by a later version of Headgate."""


class UnknownWorkspaceError(Exception):
    """There is no workspace of that name."""


class Store(Log, Rows, Leases, Dispatches, JobLogs, HistoryPieces):
    """All ports to one database, and what belongs to none of them: workspaces, transactions, tokens, documents. Safe to use
    from several threads."""

    url: str

    @abstractmethod
    def migrate(self) -> None:
        """Brings the database to this version's schema; raises `NewerSchemaError`."""

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
    def begin(self, workspace: str, lease: Lease | None = None) -> AbstractContextManager[Transaction]:
        """With a lease, raises `LeaseLostError` unless it is still the newest."""

    @abstractmethod
    def prune(self, workspace: str, what: History, *, before: Instant, keep: int, limit: int) -> int:
        """Forgets at most `limit` rows, the oldest first: those of before that moment, and those beyond the newest
        `keep`; how many went. What rows do not stand for yet, and what the engine works with, stays."""

    @abstractmethod
    def prune_keys(self, *, before: Instant, limit: int) -> int:
        """Old Idempotency-Keys, and cancelled dispatches whose agent never came back."""

    @abstractmethod
    def add_token(self, token: Token) -> None: ...

    @abstractmethod
    def token_by_hash(self, digest: str) -> Token | None: ...

    @abstractmethod
    def tokens(self, workspace: str | None) -> list[Token]: ...

    @abstractmethod
    def remove_token(self, token_id: str) -> bool: ...

    @abstractmethod
    def documents(self, workspace: str, kind: str) -> dict[str, Json]: ...

    @abstractmethod
    def put_document(self, workspace: str, kind: str, name: str, document: Json) -> None: ...

    @abstractmethod
    def remove_document(self, workspace: str, kind: str, name: str) -> bool: ...
