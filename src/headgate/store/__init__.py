"""Where workspaces are kept: one port, with SQLite and PostgreSQL behind it."""

from headgate.store.opening import open_store
from headgate.store.port import (
    AuditEntry,
    DiskFullError,
    Event,
    Lease,
    LeaseLostError,
    LogEntry,
    NotAdmittedError,
    Order,
    RefusedError,
    Store,
    Token,
    Transaction,
    UnavailableError,
    Workspace,
)

__all__ = [
    "AuditEntry",
    "DiskFullError",
    "Event",
    "Lease",
    "LeaseLostError",
    "LogEntry",
    "NotAdmittedError",
    "Order",
    "RefusedError",
    "Store",
    "Token",
    "Transaction",
    "UnavailableError",
    "Workspace",
    "open_store",
]
