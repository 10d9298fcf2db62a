"""Opens the store that a URL names."""

from pathlib import Path
from urllib.parse import urlsplit

from headgate.fleet.model import hiding
from headgate.kernel.problems import Problem, Rejected
from headgate.store.port import Store
from headgate.store.sql.drivers import Clock, DatabaseDriver, machine_clock
from headgate.store.sql.store import SqlStore

OPTION = "--database"
ALLOWED = "allowed are sqlite:///FILE, postgresql://USER@HOST/DATABASE and memory:"


def open_store(url: str, *, is_there: bool = True, clock: Clock = machine_clock) -> Store:
    """`migrate` is the caller's, who knows whether it may; `is_there` False for a server that may come later. `clock` is
    for databases that have none of their own."""
    store = SqlStore(_driver(url, clock), url)
    if is_there:
        try:
            store.ping()
        except BaseException:
            store.close()
            raise
    return store


def _driver(url: str, clock: Clock) -> DatabaseDriver:
    scheme = urlsplit(url).scheme
    if scheme == "memory":
        return _sqlite(None, clock)
    if scheme == "sqlite":
        path = url.removeprefix("sqlite://").removeprefix("/") if url.startswith("sqlite:///") else ""
        if not path:
            raise Rejected([Problem(OPTION, f'is "{url}", which names no file; {ALLOWED}')])
        return _sqlite(Path(path), clock)
    if scheme in ("postgresql", "postgres"):
        from headgate.store.sql.postgres import PostgresDriver

        return PostgresDriver(url)
    raise Rejected([Problem(OPTION, f'is "{hiding.of_address(url)}"; {ALLOWED}')])


def _sqlite(path: Path | None, clock: Clock) -> DatabaseDriver:
    from headgate.store.sql.sqlite import SqliteDriver

    return SqliteDriver(path, clock)
