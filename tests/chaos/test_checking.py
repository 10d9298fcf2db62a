"""The checker finds what is broken: each test breaks one thing in the record of a run that was whole."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from headgate.store.sql.opening import open_store

from . import checking, killing
from .notebook import Note, Notebook
from .player import Part


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    process = killing.start(Part(f"sqlite:///{folder / 'headgate.db'}", str(folder / "notes.jsonl"), 1))
    process.join(killing.LIFE_SECONDS)
    assert process.exitcode == 0
    return folder


class Record:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.notebook = Notebook(folder / "notes.jsonl")

    def change(self, statement: str) -> None:
        with closing(sqlite3.connect(self._folder / "headgate.db")) as connection:
            assert connection.execute(statement).rowcount > 0
            connection.commit()

    def broken(self) -> set[str]:
        """Names of the promises."""
        store = open_store(f"sqlite:///{self._folder / 'headgate.db'}")
        try:
            return {fact.partition(":")[0] for fact in checking.broken_promises(store, self.notebook)}
        finally:
            store.close()

    def first(self, kind: str) -> Note:
        return next(note for note in self.notebook.read() if note.kind == kind)


@pytest.fixture
def record(whole_run: Path, tmp_path: Path) -> Record:
    shutil.copytree(whole_run, tmp_path / "copy")
    return Record(tmp_path / "copy")


def test_a_whole_record_breaks_nothing(record: Record) -> None:
    assert record.broken() == set()


def test_an_entry_that_is_missing_is_found(record: Record) -> None:
    record.change("DELETE FROM log_entry WHERE seq = 5")
    assert "NoLostEvent" in record.broken()


def test_a_change_that_was_acknowledged_and_is_not_in_the_log_is_found(record: Record) -> None:
    record.change("""UPDATE log_entry SET kind = 'decided', payload = '{"sequence": 0}' WHERE seq = (
        SELECT max(seq) FROM log_entry WHERE payload LIKE '%"Version"%')""")
    assert "NoLostEvent" in record.broken()


def test_a_job_that_replay_does_not_bring_about_is_found(record: Record) -> None:
    record.change("""UPDATE job SET document = replace(document, '"attempt":1', '"attempt":7')""")
    assert record.broken() == {"ReplayEqualsDecision"}


def test_a_job_that_is_not_recorded_is_found(record: Record) -> None:
    record.change("DELETE FROM job WHERE id = (SELECT min(id) FROM job WHERE NOT is_current)")
    assert "ReplayEqualsDecision" in record.broken()


def test_a_status_after_the_last_one_is_found(record: Record) -> None:
    record.change("""INSERT INTO event SELECT workspace, (SELECT max(seq) + 1 FROM event), at, 'job.inProgress', kind,
        name, message, data FROM event WHERE type = 'job.successful' LIMIT 1""")
    assert "MonotoneProgress" in record.broken()


def test_a_report_that_was_acknowledged_and_lost_is_found(record: Record) -> None:
    record.notebook.write("reported", job=record.first("reported").job, status="skipped")
    assert record.broken() == {"NoLostEvent"}


def test_work_for_a_job_that_was_never_committed_is_found(record: Record) -> None:
    record.notebook.write("began", job="nobody", run="x", target="drain/prod/node-1")
    assert record.broken() == {"NoStaleWrite"}


def test_too_many_nodes_at_once_are_found(record: Record) -> None:
    job = record.first("began").job
    for number in range(3):
        record.notebook.write("began", job=job, run=str(number), target=f"drain/prod/node-{number}")
    for number in range(3):
        record.notebook.write("ended", job=job, run=str(number), target=f"drain/prod/node-{number}")
    assert record.broken() == {"BudgetNeverExceeded"}


def test_two_jobs_on_one_target_at_once_are_found(record: Record) -> None:
    jobs = sorted({note.job for note in record.notebook.read() if note.kind == "began"})[:2]
    for kind in ("began", "ended"):
        for job in jobs:
            record.notebook.write(kind, job=job, run=job, target="drain/prod/node-1")
    assert record.broken() == {"OneJobPerTarget"}


def test_a_job_under_a_freeze_is_found(record: Record) -> None:
    moments = {(note.kind, note.step): note.at for note in record.notebook.read()}
    between = (moments["acknowledged", "freeze-first"] + moments["asking", "unfreeze-first"]) // 2
    record.change(
        f"UPDATE job SET document = json_set(document, '$.created_at', {between}) "
        "WHERE id = (SELECT min(id) FROM job)"
    )
    assert "StopIsAbsolute" in record.broken()


def test_a_report_that_was_called_late_without_another_run_is_found(record: Record) -> None:
    reported = record.first("reported")
    record.notebook.write("late", job=reported.job, status="failure")
    assert record.broken() == {"NoLostEvent"}
