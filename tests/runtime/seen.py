"""Jobs and orders as the store has them."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.store import Dispatch, Store

from .stage import HOME, Stage

TARGET = "api/prod/a"


def rows(store: Store) -> list[dict[str, Any]]:
    found = store.jobs_before(HOME, None, 100, {})
    return [msgspec.json.decode(row["document"]) | {"status": row["status"]} for row in found]  # type: ignore[arg-type]


def only(store: Store) -> dict[str, Any]:
    (job,) = rows(store)
    return job


def order(stage: Stage) -> Dispatch:
    found = stage.store.dispatch(HOME, stage.job(TARGET))
    assert found is not None
    return found


def claim(stage: Stage) -> Dispatch:
    (found,) = stage.store.claim_dispatches(holder="agent", now=stage.clock.now, seconds=60, limit=10)
    return found
