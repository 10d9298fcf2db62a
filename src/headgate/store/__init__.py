"""Where workspaces are kept: one port, with SQLite and PostgreSQL behind it."""

from headgate.store.opening import open_store
from headgate.store.port import (
    AuditEntry,
    Event,
    Lease,
    LeaseLostError,
    LogEntry,
    Order,
    Store,
    Token,
    Transaction,
    UnavailableError,
    Workspace,
)

__all__ = [
    "AuditEntry",
    "Event",
    "Lease",
    "LeaseLostError",
    "LogEntry",
    "Order",
    "Store",
    "Token",
    "Transaction",
    "UnavailableError",
    "Workspace",
    "open_store",
]
