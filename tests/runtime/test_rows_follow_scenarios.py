"""The rows that decisions name are enough to go on from: after every decision of every fleet scenario, an engine that
is loaded from them stands where the one that decided stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.fleet.engine.engine import Decisions, Engine
from headgate.promises import turns
from headgate.runtime import rows
from headgate.simulate import run, scenario
from headgate.store.rows import EngineRows
from headgate.store.schema import ENGINE_TABLES, TABLES

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests/scenarios", "examples")
COMPARED_ALWAYS = 40
COMPARED_EVERY = 7
"""The first decisions are compared one by one: a row that is missing is often written a little later all the same."""


def scenario_files() -> list[Path]:
    found = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.yaml"))]
    return [file for file in found if "kind: Scenario" in file.read_text("utf-8")]


class StoredRows:
    """Keeps rows in dictionaries, as a store would."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {t.name: {} for t in ENGINE_TABLES}

    def delete(self, table: str, keys: Any, columns: tuple[str, ...] | None = None) -> None:
        names = columns or TABLES[table].key
        held = self.tables[table]
        for key in keys:
            for place in [p for p, row in held.items() if tuple(row[name] for name in names) == tuple(key)]:
                del held[place]

    def put(self, table: str, given: Any) -> None:
        schema = TABLES[table]
        for values in given:
            row = dict(zip(schema.column_names, values, strict=True))
            if isinstance(row.get("document"), bytes):
                row["document"] = row["document"].decode()
            self.tables[table][tuple(row[name] for name in schema.key)] = row

    def rows(self, sequence: int) -> EngineRows:
        tables = {
            name: [row for row in held.values() if row.get("is_current", True)]
            for name, held in self.tables.items()
        }
        return EngineRows(0, sequence, tables)  # type: ignore[arg-type]


def comparable(engine: Engine) -> dict[str, Any]:
    """Without what has no order of its own, and without records that say nothing."""
    document: dict[str, Any] = msgspec.json.decode(engine.dump())
    del document["pending"]
    for name, value in document.items():
        if isinstance(value, list):
            document[name] = sorted(value, key=lambda item: msgspec.json.encode(item))
    for name in ("progress", "verified"):
        document[name] = {key: value for key, value in document[name].items() if value}
    document["places"] = [place for place in document["places"] if place[3]]
    document["departed"] = {key: value for key, value in document["departed"].items() if value}
    document["retired"] = []
    return document


class Kept:
    """Stands behind every engine's `decide`. After a crash step two engines decide the same, one after the other."""

    def __init__(self) -> None:
        self.stored = StoredRows()
        self.count = 0
        self.now = 0
        self.newest: Engine | None = None

    def decided(self, engine: Engine, made: Decisions) -> None:
        rows.of_decisions(engine, [made]).write(self.stored)  # type: ignore[arg-type]
        self.newest = engine
        self.count += 1
        if self.count <= COMPARED_ALWAYS or self.count % COMPARED_EVERY == 0:
            self.compare()

    def compare(self) -> None:
        engine = self.newest
        assert engine is not None
        assert_stand_alike(
            engine, rows.restore("default", self.stored.rows(engine.state.sequence), engine.state.ids)
        )


def assert_stand_alike(engine: Engine, loaded: Engine) -> None:
    expected, found = comparable(engine), comparable(loaded)
    for part in expected:
        assert found[part] == expected[part], f"the rows of {part} do not follow"


@pytest.mark.parametrize("file", scenario_files(), ids=lambda file: str(file.relative_to(ROOT)))
def test_an_engine_loaded_from_rows_stands_where_the_one_that_decided_stands(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = Engine.decide
    # Promises let copies of the engine decide to see who is woken; nobody writes what those decide.
    monkeypatch.setattr(turns, "is_woken", lambda *_: None)
    for one in scenario.load_all(file):
        if run.cluster_for(one, one.seed):
            continue
        kept = Kept()

        def deciding(engine: Engine, now: int, kept: Kept = kept) -> Decisions:
            made = decide(engine, now)
            kept.now = now
            kept.decided(engine, made)
            return made

        monkeypatch.setattr(Engine, "decide", deciding)
        run.simulate(one)
        if kept.newest is not None:
            kept.newest.decide(kept.now)
            kept.compare()
