"""Two engines from one log: one decides and writes rows, the other follows, and is loaded from the rows now and then."""

from __future__ import annotations

from random import Random

import pytest

from headgate.fleet.engine.engine import Decisions, Engine
from headgate.fleet.model.changes import Change
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.runtime import rows
from headgate.runtime.replica import digest_of
from runtime.test_rows_follow_scenarios import StoredRows, assert_stand_alike

from . import running
from .objects import Document


def followed(chance: Random, share: float) -> type[Engine]:
    """An engine with a follower, which is loaded anew after this share of the decisions."""

    class Followed(Engine):
        def __init__(self, ids: IdSource, workspace: str = "default") -> None:
            super().__init__(ids, workspace)
            self._follower = Engine(ids, workspace)
            self._stored = StoredRows()

        def apply(self, change: Change, now: Instant) -> None:
            try:
                super().apply(change, now)
            except Rejected as refused:
                self._refuses_too(change, now, refused)
                raise
            self._follower.apply(change, now)

        def _refuses_too(self, change: Change, now: Instant, refused: Rejected) -> None:
            with pytest.raises(Rejected) as found:
                self._follower.apply(change, now)
            assert str(found.value) == str(refused), "it refuses otherwise"

        def decide(self, now: Instant) -> Decisions:
            made = super().decide(now)
            followed = self._follower.decide(now)
            assert [job.id for job in followed.created] == [job.id for job in made.created], (
                f"the follower starts {_started(followed)}, not {_started(made)}"
            )
            changes = rows.of_decisions(self, [made])
            theirs = rows.of_decisions(self._follower, [followed])
            assert digest_of(followed, theirs) == digest_of(made, changes), _parted(changes, theirs)
            changes.write(self._stored)  # type: ignore[arg-type]  # a store in dictionaries
            if chance.random() < share:
                self._follower = rows.restore(
                    self.state.workspace, self._stored.rows(self.state.sequence), self.state.ids
                )
                assert_stand_alike(self, self._follower)
            return made

    return Followed


def _started(made: Decisions) -> list[str]:
    return [f"{job.target} {job.tag} as {job.id[:8]}" for job in made.created]


def _parted(changes: rows.Changes, theirs: rows.Changes) -> str:
    """Which rows one has written and the other has not."""
    for table in sorted(changes.puts.keys() | theirs.puts.keys()):
        ours, others = (set(map(tuple, each.puts.get(table, ()))) for each in (changes, theirs))
        if ours != others:
            return f"{table}: only the leader {sorted(map(repr, ours - others))}, only the follower {sorted(map(repr, others - ours))}"
    return f"deleted: {changes.deletes} by the leader, {theirs.deletes} by the follower"


def stays_together(document: Document, seed: int, share: float) -> None:
    """Crashes are another property: after one, two engines decide the same thing."""
    timeline = [step for step in document["spec"]["timeline"] if "crash" not in step]
    calm = {**document, "spec": {**document["spec"], "timeline": timeline}}
    running.play_with(followed(Random(seed), share), calm)
