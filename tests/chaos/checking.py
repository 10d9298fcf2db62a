"""Reads what is recorded after a run, and says every promise that was broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from chaos import rollout
from chaos.notebook import Note, Notebook
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import objects as model
from headgate.fleet.model import records
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.problems import Rejected
from headgate.promises import waking
from headgate.promises.books.mirror import Mirror
from headgate.promises.watch import FleetWatch
from headgate.runtime import replica, rows
from headgate.runtime.replica import Mark, digest_of
from headgate.store import LogEntry, Store, Workspace

_PAGE = 500


class History:
    """The log, played again by an engine that never crashed, beside what the store and the notebook say."""

    def __init__(self, store: Store, notebook: Notebook) -> None:
        self.workspace: Workspace = next(
            one for one in store.workspaces() if one.name == rollout.WORKSPACE.name
        )
        self.store = store
        self.notes = list(notebook.read())
        self.log = store.log_after(self.workspace.name, 0, 1_000_000)
        self.events = store.events_after(self.workspace.name, 0, 1_000_000)
        self.jobs = {job.id: job for job in self._pages(store.jobs_before, records.Job)}
        self.groups = {group.id: group for group in self._pages(store.groups_before, records.Group)}
        self.engine = Engine(NamedIds(self.workspace.id), self.workspace.name)
        self.watch = FleetWatch(Mirror(), self.log[0].at if self.log else 0)
        self.engine.observer = self.watch
        self.problems = [problem for entry in self.log for problem in self._play(entry)]

    def _pages(self, read: Any, kind: type[Any]) -> Iterator[Any]:
        after = None
        while page := read(self.workspace.name, after, _PAGE, {}):
            for row in page:
                yield msgspec.json.decode(row["document"], type=kind)
            after = (page[-1]["created_at"], page[-1]["id"])

    def _play(self, entry: LogEntry) -> Iterator[str]:
        self.watch.now = entry.at
        if entry.kind == "change":
            change = replica.decoded(entry.payload)
            try:
                self.engine.apply(change, entry.at)
            except Rejected as rejected:
                yield f"NoLostEvent: entry {entry.seq} was accepted and is refused when it is replayed: {rejected}"
                return
            self.watch.accepted(change)
            return
        mark = msgspec.json.decode(entry.payload, type=Mark)
        if mark.recheck:
            self.engine.state.touch_all()
        made = self.engine.decide(entry.at)
        self.watch.decided()
        if digest_of(made, rows.of_decisions(self.engine, [made])) != mark.digest:
            yield f"ReplayEqualsDecision: entry {entry.seq} decided something else than the log gives"
        if self.engine.state.sequence != mark.sequence:
            yield f"ReplayEqualsDecision: sequence {self.engine.state.sequence} after entry {entry.seq}, not {mark.sequence}"

    def of(self, *kinds: str) -> list[Note]:
        return [note for note in self.notes if note.kind in kinds]


def broken_promises(store: Store, notebook: Notebook) -> list[str]:
    history = History(store, notebook)
    return [
        *history.problems,
        *(f"{one.promise}: {one.message}" for one in history.watch.violations),
        *_numbering(history),
        *_rows(history),
        *_acknowledgements(history),
        *_reports(history),
        *_statuses(history),
        *_effects(history),
        *_runs_at_once(history),
        *_freezes(history),
        *_ending(history),
    ]


def _numbering(history: History) -> Iterator[str]:
    for name, numbers in (
        ("log", [one.seq for one in history.log]),
        ("events", [one.seq for one in history.events]),
    ):
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"NoLostEvent: the numbers of the {name} have gaps"
    moments = [one.at for one in history.log]
    if moments != sorted(moments):
        yield "NoStaleWrite: the log goes back in time"


def _rows(history: History) -> Iterator[str]:
    """Every job and group that replay brings about is recorded as it is, and nothing else is."""
    for kind, expected, found in (
        ("job", history.watch.jobs, history.jobs),
        ("group", history.watch.groups, history.groups),
    ):
        for key in expected.keys() | found.keys():
            replayed, recorded = (msgspec.json.encode(side.get(key)) for side in (expected, found))
            if replayed != recorded:
                yield f"ReplayEqualsDecision: {kind} {key} is {recorded!r}, replayed {replayed!r}"
    loaded = history.store.load(history.workspace.name)
    if loaded.consumed == len(history.log):
        restored = rows.restore(history.workspace.name, loaded, NamedIds(history.workspace.id))
        for part, value in _comparable(history.engine).items():
            if _comparable(restored)[part] != value:
                yield f"ReplayEqualsDecision: {part} of the rows is not what the log gives"


def _comparable(engine: Engine) -> dict[str, Any]:
    """Without what has no order of its own, and without records that say nothing."""
    document: dict[str, Any] = msgspec.json.decode(engine.dump())
    kept = ("sequence", "targets", "jobs", "groups", "versions", "freezes", "slots")
    return {
        name: sorted(value, key=msgspec.json.encode) if isinstance(value, list) else value
        for name, value in document.items()
        if name in kept
    }


def _acknowledgements(history: History) -> Iterator[str]:
    found: dict[tuple[str, str, str], int] = {}
    for entry in history.log:
        if entry.kind == "change":
            change = replica.decoded(entry.payload)
            subject = (type(change).__name__, *change.subject)
            found[subject] = found.get(subject, 0) + 1
    acknowledged = list(history.of("acknowledged"))
    steps = {step.key: step for step in rollout.steps(more=len(acknowledged))}
    for note in acknowledged:
        for subject in steps[note.step].subjects:
            count = found.get(subject, 0)
            if count != 1:
                yield f"NoLostEvent: {subject} was acknowledged and is {count} times in the log"


def _reports(history: History) -> Iterator[str]:
    for note in history.of("reported"):
        job = history.jobs.get(note.job)
        if job is None or job.status != note.status:
            found = job.status if job is not None else "unknown"
            yield f"NoLostEvent: {note.status} was acknowledged for job {note.job}, which is {found}"
    runs: dict[str, int] = {}
    for note in history.of("began"):
        runs[note.job] = runs.get(note.job, 0) + 1
    for note in history.of("late"):
        job = history.jobs.get(note.job)
        if job is None or job.status not in model.JOB_TERMINAL:
            yield f"NoLostEvent: {note.status} of job {note.job} was said to be late, and it has not ended"
        elif job.status in ("successful", "failure") and runs.get(note.job, 0) < 2:
            yield f"NoLostEvent: {note.status} of job {note.job} was said to be late, and nobody else worked on it"


def _statuses(history: History) -> Iterator[str]:
    """As those saw it who followed along."""
    last: dict[str, str] = {}
    for event in history.events:
        if event.kind != "Job":
            continue
        status = event.type.removeprefix("job.")
        if (status == "created") == (event.name in last):
            yield f"NoDoubleEffect: job {event.name} became {status} after {last.get(event.name, 'nothing')}"
        if last.get(event.name) in model.JOB_TERMINAL:
            yield f"MonotoneProgress: job {event.name} was {last[event.name]} and became {status}"
        last[event.name] = status
    for job in history.jobs.values():
        if job.status in model.JOB_TERMINAL and last.get(job.id) != job.status:
            yield f"NoLostEvent: job {job.id} is {job.status}, the last event said {last.get(job.id)}"


def _effects(history: History) -> Iterator[str]:
    worked_on = {note.job for note in history.of("began")}
    for job in worked_on - history.jobs.keys():
        yield f"NoStaleWrite: job {job} was worked on and is not recorded"
    for job in history.jobs.values():
        if job.status in ("successful", "failure") and job.id not in worked_on:
            yield f"NoLostEvent: job {job.id} is {job.status} and nobody worked on it"


def _runs_at_once(history: History) -> Iterator[str]:
    """Counted from outside, over runs that held their claim from begin to end."""
    begins = {note.run: note for note in history.of("began")}
    changes = []
    for end in history.of("ended"):
        changes += [(begins[end.run].at, 1, end), (end.at, 0, end)]
    running: dict[str, Note] = {}
    for at, is_begin, note in sorted(changes, key=lambda change: change[:2]):
        if not is_begin:
            running.pop(note.run)
            continue
        others = [one for one in running.values() if one.target == note.target and one.job != note.job]
        if others:
            yield f"OneJobPerTarget: {note.target} was worked on twice at {instants.show(at)}"
        running[note.run] = note
        nodes = {one.target.rpartition("/")[2] for one in running.values()}
        if len(nodes) > rollout.MOST_NODES_AT_ONCE:
            yield f"BudgetNeverExceeded: {sorted(nodes)} were worked on at {instants.show(at)}"


def _freezes(history: History) -> Iterator[str]:
    for name in ("first", "second"):
        frozen = [one.at for one in history.of("acknowledged") if one.step == f"freeze-{name}"]
        thawed = [one.at for one in history.of("asking") if one.step == f"unfreeze-{name}"]
        if not frozen or not thawed:
            continue
        for job in history.jobs.values():
            if frozen[0] < job.created_at < thawed[0]:
                yield f"StopIsAbsolute: {job.target} {job.tag} was created after the freeze {name}"


def _ending(history: History) -> Iterator[str]:
    now = history.log[-1].at if history.log else 0
    for found in waking.found_afresh(waking.copy_of(history.engine), now):
        yield f"MonotoneProgress: nobody looks again, and a fresh look finds work: {found}"
    for target, reason in history.engine.unconverged(now):
        yield f"Converged: {target} did not get where it should be: {reason or 'without a reason'}"
