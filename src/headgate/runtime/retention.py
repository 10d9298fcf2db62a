"""How long history is kept, by age and by number, and the forgetting of what is older.

What the engine works with is no history: live jobs, the newest release of every target, groups under way, and every
object stay until somebody deletes them. So does whatever explain and a rollback need.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.store.port import History, Store

KIND = "retention"
"""Of the workspace's document that says otherwise than the defaults."""
STEP_ROWS = 500
KEYS_HOURS = 24.0

Days = Annotated[float, msgspec.Meta(gt=0, le=36_600)]
Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class Limit(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What is older than so many days goes, and what is more than so many, the oldest first."""

    days: Days
    count: Count


class Retention(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """While `legal_hold` is on, nothing is forgotten."""

    jobs: Limit = Limit(365, 1_000_000)
    groups: Limit = Limit(365, 1_000_000)
    audit: Limit = Limit(730, 1_000_000)
    events: Limit = Limit(90, 1_000_000)
    log: Limit = Limit(90, 1_000_000)
    legal_hold: bool = False

    def limits(self) -> tuple[tuple[History, Limit], ...]:
        return (
            ("jobs", self.jobs),
            ("groups", self.groups),
            ("audit", self.audit),
            ("events", self.events),
            ("log", self.log),
        )


def of(store: Store, workspace: str) -> Retention:
    document = store.documents(workspace, KIND).get(KIND)
    return Retention() if document is None else msgspec.json.decode(document, type=Retention)


def forgetting(store: Store, workspaces: list[str], now: Instant) -> Iterator[int]:
    """Step by step, each a small transaction; how many rows went."""
    before = now - instants.hours(KEYS_HOURS)
    while (gone := store.prune_keys(before=before, limit=STEP_ROWS)) > 0:
        yield gone
    for workspace in workspaces:
        kept = of(store, workspace)
        if kept.legal_hold:
            continue
        for what, limit in kept.limits():
            edge = now - instants.hours(24 * limit.days)
            while True:
                gone = store.prune(workspace, what, before=edge, keep=limit.count, limit=STEP_ROWS)
                yield gone
                if gone == 0:
                    break
