"""A store with something in every table, and all that can be read of it."""

from __future__ import annotations

from headgate.store import Store
from headgate.store.port import Remembered
from headgate.store.schema import ENGINE_TABLES

from .values import HOME, NOW, append, audit, event, identifier, order, put_orders, row, token, workspace


def fill(store: Store, name: str = HOME) -> None:
    with store.begin(name) as transaction:
        append(transaction, b'{"type":"Put"}', b"{}")
        transaction.add_events([event("it's here", b'{"a":"\\u00e9"}')])
        transaction.add_audit([audit("web")])
        for table in ENGINE_TABLES:
            transaction.put(table.name, [row(table.name, workspace=name, **_current(table.column_names))])
        transaction.remember(Remembered("key", "print", 201, b"{}", NOW))
        transaction.advance(2, 5)
    put_orders(store, [order("job", workspace=name, deadline_at=NOW + 1)])
    store.put_document(name, "System", "web", b"{}")
    store.add_token(token(f"of {name}", name))


def _current(columns: tuple[str, ...]) -> dict[str, object]:
    given = {"is_current": True, "id": identifier("x")}
    return {column: value for column, value in given.items() if column in columns}


def content(store: Store, name: str = HOME) -> dict[str, object]:
    with store.begin(name) as transaction:
        remembered = transaction.recall("key")
    loaded = store.load(name)
    return {
        "workspace": [one for one in store.workspaces() if one.name == name],
        "head": store.head(name),
        "log": store.log_after(name, 0, 10),
        "events": store.events_after(name, 0, 10),
        "newest event": store.newest_event(name),
        "audit": store.audit_before(name, None, 10),
        "jobs": store.jobs_before(name, None, 10, {}),
        "groups": store.groups_before(name, None, 10, {}),
        "engine": (loaded.consumed, loaded.sequence, loaded.tables),
        "remembered": remembered,
        "order": store.dispatch(name, "job"),
        "documents": store.documents(name, "System"),
        "tokens": store.tokens(name),
        "token": store.token_by_hash(f"hash-of-of {name}"),
    }


def filled(store: Store) -> Store:
    store.migrate()
    assert store.add_workspace(workspace(HOME))
    fill(store)
    return store
