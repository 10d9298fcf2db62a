"""Where workspaces are kept: one port, with SQLite and PostgreSQL behind it."""

from headgate.store.dispatches import Dispatch
from headgate.store.leases import Lease, LeaseLostError
from headgate.store.log import AuditEntry, Event, LogEntry
from headgate.store.port import (
    DiskFullError,
    NotAdmittedError,
    RefusedError,
    Store,
    Token,
    Transaction,
    UnavailableError,
    Workspace,
)
from headgate.store.schema import object_table

__all__ = [
    "AuditEntry",
    "DiskFullError",
    "Dispatch",
    "Event",
    "Lease",
    "LeaseLostError",
    "LogEntry",
    "NotAdmittedError",
    "RefusedError",
    "Store",
    "Token",
    "Transaction",
    "UnavailableError",
    "Workspace",
    "object_table",
]
