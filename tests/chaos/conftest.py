"""Every run is written down in a notebook, and judged by it and by the store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from headgate.store.sql.opening import open_store

from . import checking
from .notebook import Notebook


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes.jsonl"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'headgate.db'}"


@pytest.fixture
def broken_promises(notes: Path) -> Callable[[str], list[str]]:
    def check(url: str) -> list[str]:
        store = open_store(url)
        try:
            return checking.broken_promises(store, Notebook(notes))
        finally:
            store.close()

    return check
