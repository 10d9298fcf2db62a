"""One suite over all stores: `store` is each of them in turn, `shared_url` those that several processes share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import postgres
from headgate.store import Store
from headgate.store.schema import TABLES
from headgate.store.sql.opening import open_store

from .values import HOME, workspace


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest) -> str:
    return _url(request)


@pytest.fixture(params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest) -> str:
    return _url(request)


def _url(request: pytest.FixtureRequest) -> str:
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        return f"sqlite:///{folder / 'headgate.db'}"
    url: str = request.getfixturevalue("emptied_postgres_url")
    return url


@pytest.fixture(scope="session")
def migrated_postgres_url(postgres_server_url: str) -> Iterator[str]:
    with postgres.fresh_database(postgres_server_url) as url:
        store = open_store(url)
        store.migrate()
        store.close()
        yield url


@pytest.fixture
def emptied_postgres_url(migrated_postgres_url: str) -> Iterator[str]:
    """One database for all tests of a worker, empty for each: creating one takes half a second."""
    yield migrated_postgres_url
    deletions = ";".join(f'DELETE FROM "{name}"' for name in TABLES)
    postgres.execute(migrated_postgres_url, f"SET lock_timeout = '20s'; {deletions}")


@pytest.fixture
def opened(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Store]]:
    """Opens stores that are closed when the test ends."""
    stores: list[Store] = []

    def open_one(url: str) -> Store:
        store = open_store(url)
        stores.append(store)
        store.migrate()
        return store

    yield open_one
    for store in reversed(stores):
        store.close()


@pytest.fixture
def store(store_url: str, opened: Callable[[str], Store]) -> Store:
    """With an empty workspace `home`."""
    found = opened(store_url)
    assert found.add_workspace(workspace(HOME))
    return found


@pytest.fixture
def two_stores(shared_url: str, opened: Callable[[str], Store]) -> tuple[Store, Store]:
    """One database, opened twice as by two processes."""
    one, other = opened(shared_url), opened(shared_url)
    assert one.add_workspace(workspace(HOME))
    return one, other
