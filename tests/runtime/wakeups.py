"""What a case of a wake-up is: what was there, what happens, and what must be seen at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from headgate.fleet.model import changes
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change, JobReported, Measured
from headgate.runtime.commands import EngineView

from .stage import Stage


class Step(NamedTuple):
    """`kind` is what the table of cases is checked for; `make` may look at the stage first."""

    kind: str
    make: Callable[[Stage], Change]


class Later(NamedTuple):
    """Time passes, and the worker looks."""

    seconds: float


Happening = Step | Change | Later


class Case(NamedTuple):
    """`starts` are jobs that are there afterwards and were not before, `ends` the other way round; `says` is a part of
    what explain says of a target afterwards and did not say before."""

    name: str
    given: tuple[Happening, ...]
    happening: Happening
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    says: tuple[str, str] | None = None


def play(stage: Stage, happening: Happening) -> None:
    if isinstance(happening, Later):
        stage.clock.advance(happening.seconds)
        stage.look()
    else:
        stage.submit(change_of(stage, happening))


def change_of(stage: Stage, happening: Step | Change) -> Change:
    return happening.make(stage) if isinstance(happening, Step) else happening


def report(target: str, status: str = "successful") -> Step:
    return Step("JobReported", lambda stage: JobReported(stage.job(target), status))


def measured(target: str, metric: str, result: Any) -> Step:
    def make(stage: Stage) -> Change:
        def find(view: EngineView) -> Change:
            record = view.engine.state.targets[target].record
            job = view.engine.jobs[record.attempts[-1]]
            return Measured(job.id, job.metrics[0].rule, metric, result)

        return stage.ask(find)

    return Step("Measured", make)


def kind_of(happening: Happening) -> str:
    match happening:
        case Later():
            return "time"
        case Step():
            return happening.kind
        case changes.Put():
            return f"Put {type(happening.object).__name__}"
        case changes.Delete():
            return f"Delete {happening.kind}"
        case changes.SetVersionStatus() | changes.Vote():
            return f"{type(happening).__name__} {happening.status}"
        case changes.GroupAction() | changes.TargetAction() | changes.TargetsAction():
            return f"{type(happening).__name__} {happening.action}"
        case changes.SetVariable():
            return f"SetVariable {'resource' if happening.resource is not None else 'deployment'}"
        case _:
            return type(happening).__name__


def all_kinds() -> set[str]:
    """Of everything that can happen to a workspace, read off the types themselves."""
    found: set[str] = set()
    for change in get_args(changes.Change):
        hints: dict[str, Any] = change.__annotations__
        if change in (changes.Put, changes.Delete):
            found |= {f"{change.__name__} {kind.__name__}" for kind in get_args(changes.Object)}
        elif change is changes.SetVersionStatus:
            found |= {f"SetVersionStatus {status}" for status in get_args(model.VersionStatus)}
        elif change is changes.SetVariable:
            found |= {"SetVariable resource", "SetVariable deployment"}
        elif "action" in change.__struct_fields__:
            found |= {f"{change.__name__} {action}" for action in get_args(hints["action"])}
        elif change is changes.Vote:
            found |= {f"Vote {status}" for status in get_args(hints["status"])}
        else:
            found.add(change.__name__)
    return found
