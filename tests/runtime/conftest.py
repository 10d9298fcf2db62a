"""Stores of every kind, as the tests of the store have them, and stages on them that are cleared when a test ends."""

from collections.abc import Callable, Iterator

import pytest

from headgate.store import Store
from store.conftest import emptied_postgres_url, migrated_postgres_url, opened, shared_url, store_url

from .stage import HOME, Stage, workspace

__all__ = ["emptied_postgres_url", "migrated_postgres_url", "opened", "shared_url", "store_url"]


@pytest.fixture
def prepared(opened: Callable[[str], Store]) -> Callable[[str], Store]:
    """Opens a store with the workspace in it."""

    def prepare(url: str) -> Store:
        store = opened(url)
        store.add_workspace(workspace(HOME))
        return store

    return prepare


@pytest.fixture
def staged(opened: Callable[[str], Store]) -> Iterator[Callable[[Store], Stage]]:
    """Stages whose workers stop before their stores are closed."""
    stages: list[Stage] = []

    def build(store: Store) -> Stage:
        stages.append(Stage(store))
        return stages[-1]

    yield build
    for stage in stages:
        stage.worker.stop()


@pytest.fixture
def stage(prepared: Callable[[str], Store], staged: Callable[[Store], Stage]) -> Stage:
    return staged(prepared("memory:"))
