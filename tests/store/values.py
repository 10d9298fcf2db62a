"""Values to store, each with a field or two that a test is about."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from headgate.kernel import identifiers, instants
from headgate.store import AuditEntry, Dispatch, Event, LogEntry, Store, Token, Transaction, Workspace
from headgate.store.schema import TABLES

HOME = "home"
NOW = instants.parse("2026-03-01T09:00:00Z")

AWKWARD_TEXTS = {
    "quotes": "it's a \"name\"; DROP TABLE job; -- ' \\' \\\\",
    "placeholders": "? $1 %s %(name)s :name {name} ${name}",
    "unicode": "Änderung 変更 تغيير 🚦 e\u0301 \u202eback \U0010ffff",
    "lines": "first\nsecond\r\n\tthird \x01\x7f",
    "empty": "",
    "blank": " ",
}
LONG_TEXT = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(100_000))


def workspace(name: str = HOME) -> Workspace:
    return Workspace(identifiers.derive("workspace", name), name, f"The workspace {name}", NOW)


def entry(seq: int, payload: bytes = b"{}", at: int = NOW) -> LogEntry:
    return LogEntry(seq, at, "change", payload, "ada")


def event(message: str, data: bytes = b"{}") -> Event:
    return Event(0, NOW, "version.created", "Version", "api/1", message, data)


def audit(name: str, kind: str = "Resource", user: str = "ada") -> AuditEntry:
    return AuditEntry(NOW, user, "create", kind, name, None, b'{"name":"x"}', "request-1")


def token(name: str, workspace: str | None = HOME) -> Token:
    return Token(
        id=f"id-of-{name}",
        name=name,
        hash=f"hash-of-{name}",
        workspace=workspace,
        role="operator",
        permissions=("job:run", "token:write"),
        agents=("runner",),
        created_at=NOW,
        created_by="ada",
        expires_at=NOW + instants.hours(1),
    )


def order(job: str, **given: Any) -> Dispatch:
    fields: dict[str, Any] = {
        "workspace": HOME,
        "job": job,
        "agent": "runner",
        "type": "pull",
        "document": json.dumps({"job": {"id": job}}).encode(),
        "created_at": NOW,
        "not_before": NOW,
    }
    return Dispatch(**fields | given)


def identifier(name: str) -> str:
    return identifiers.derive("test", name)


def row(table: str, **given: object) -> list[object]:
    """A row with something of the right kind in every column that is not given."""
    fillers = {"text": "", "int": 0, "bool": False, "json": b"{}", "time": NOW, "uuid": identifier("other")}
    names = TABLES[table].column_names
    assert not given.keys() - set(names)
    return [
        given.get(
            column.name,
            HOME if column.name == "workspace" else fillers[column.kind] if column.required else None,
        )
        for column in TABLES[table].columns
    ]


def put_orders(store: Store, orders: Sequence[Dispatch]) -> None:
    names = TABLES["job_dispatch"].column_names
    by_workspace: dict[str, list[Dispatch]] = {}
    for one in orders:
        by_workspace.setdefault(one.workspace, []).append(one)
    for name, some in by_workspace.items():
        with store.begin(name) as transaction:
            transaction.put("job_dispatch", [[getattr(one, column) for column in names] for one in some])


def append(transaction: Transaction, *payloads: bytes) -> None:
    head = transaction.head
    transaction.append([entry(head + position, payload) for position, payload in enumerate(payloads, 1)])


class Abandoned(Exception):  # noqa: N818
    """What goes wrong in the middle of a transaction."""


@contextmanager
def abandoned(store: Store, workspace: str = HOME) -> Iterator[Transaction]:
    """A transaction that fails when all of the block is done."""
    with suppress(Abandoned), store.begin(workspace) as transaction:
        yield transaction
        raise Abandoned


def payloads(store: Store, workspace: str = HOME) -> list[bytes]:
    return [one.payload for one in store.log_after(workspace, 0, 1_000_000)]


def eventually(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Waits until it holds. Only for what another process or the clock has to bring about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.005)
