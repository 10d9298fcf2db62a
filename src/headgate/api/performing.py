"""What a request for manifests comes to on the state that there is, and doing it: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from headgate.api import applying, concerning, pruning, rehearsing
from headgate.api.documents import bodies
from headgate.api.http import refusals
from headgate.api.http.calls import Request
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.engine.differences import Difference
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import concerned, lookup
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change, Object
from headgate.kernel.problems import Problem, Rejected

MOST_CONCERNS = 100


class Reached(msgspec.Struct, frozen=True):
    """A manifest whose selector is asked about, with what was there before: the object, and how many targets it had."""

    manifest: applying.Manifest
    old: Object | None
    targets: int


class WantedChanges(msgspec.Struct, frozen=True):
    """What a request comes to on the state that there is."""

    compared: list[applying.Compared]
    removals: list[pruning.ObjectRemoval]

    def differences(self) -> list[Difference]:
        return [*(one.difference for one in self.compared), *(one.difference() for one in self.removals)]


def wanted(
    engine: Engine, parsed: Sequence[applying.Manifest], given: bodies.Wish, user: str
) -> WantedChanges:
    pruning.check(given)
    ready = applying.settled(engine, parsed, user, given.set)
    removals = pruning.removals(engine, given, [one.object for one in ready])
    return WantedChanges(applying.compare(engine, ready), removals)


def apply_all(
    engine: Engine, wanted_changes: WantedChanges, apply: Callable[[Change], None], *, force: bool
) -> None:
    """All changes, removals last, and the check whom they concern: by the fleet that all of them make, before anything is applied where
    none of them moves a target, because going back is costly."""
    asked = applying.changes_of(wanted_changes.compared)
    going = [one.change() for one in wanted_changes.removals if one.kept is None]
    reached = [] if force else [_reached(engine, one.manifest) for one in asked]
    makes_the_fleet = bool(going) or any(isinstance(one.change.object, _FLEET) for one in asked)
    if not makes_the_fleet:
        _check_concerns(engine, reached)
    for asked_change in asked:
        with applying.at(asked_change.manifest):
            apply(asked_change.change)
    for deletion in going:
        with refusals.as_conflict(f"{deletion.kind} {deletion.name} cannot be deleted"):
            apply(deletion)
    if makes_the_fleet:
        _check_concerns(engine, reached)


_FLEET = (model.Resource, model.Environment, model.Deployment)


def check_beforehand(engine: Engine, wanted_changes: WantedChanges) -> None:
    """For a plan: what would be refused because it concerns nobody, as far as the fleet stays as it is."""
    asked = applying.changes_of(wanted_changes.compared)
    if not wanted_changes.removals and not any(isinstance(one.change.object, _FLEET) for one in asked):
        _check_concerns(engine, [_reached(engine, one.manifest) for one in asked])


def _reached(engine: Engine, manifest: applying.Manifest) -> Reached:
    item = manifest.object
    old = lookup.replaced_by(engine, item)
    concern = concerned.by_object(engine, old) if old is not None and isinstance(item, _FLEET) else None
    return Reached(manifest, old, concern.targets if concern is not None else 0)


def _check_concerns(engine: Engine, reached: Sequence[Reached]) -> None:
    problems: list[Problem] = []
    for reached_object in reached:
        path, item = reached_object.manifest.path, reached_object.manifest.object
        try:
            concerning.check(engine, reached_object.old, item, force=False)
        except Rejected as rejected:
            problems += (
                Problem(f"{path}.spec.{problem.path}", problem.message) for problem in rejected.problems
            )
        concern = concerned.by_object(engine, item) if reached_object.targets else None
        if concern is not None and not concern.targets:
            message = f"leaves none of the {reached_object.targets} release targets of {item.name}; if that is meant, give force"
            problems.append(Problem(f"{path}.spec.resourceSelector", message))
    if problems:
        raise Rejected(problems)


def ends(engine: Engine, wanted_changes: WantedChanges) -> list[Concern | None]:
    """Whom each removal concerns, up to a bound. To be asked before it is done: afterwards nobody is there any more."""
    left = MOST_CONCERNS
    concerns: list[Concern | None] = []
    for object_removal in wanted_changes.removals:
        is_said = (
            object_removal.kept is None and isinstance(object_removal.object, concerning.SAID_OF) and left > 0
        )
        left -= is_said
        concerns.append(concerned.by_object(engine, object_removal.object) if is_said else None)
    return concerns


def results(engine: Engine, wanted: WantedChanges, ended: Sequence[Concern | None]) -> dict[str, Any]:
    """In the order of the request, removals last. Whom it concerns is said of what changed, up to a bound; `ended` of what
    was removed."""
    left = MOST_CONCERNS
    outcomes = []
    for compared in wanted.compared:
        concern = None
        if (
            compared.difference.action != "unchanged"
            and isinstance(compared.manifest.object, concerning.SAID_OF)
            and left
        ):
            left -= 1
            concern = concerned.by_object(
                engine, lookup.replaced_by(engine, compared.manifest.object) or compared.manifest.object
            )
        outcomes.append(_result(compared.difference, concern))
    outcomes += [
        _result(one.difference(), concern) for one, concern in zip(wanted.removals, ended, strict=True)
    ]
    return {"results": outcomes}


def _result(difference: Difference, concern: Concern | None) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "name": difference.name,
        "action": difference.action,
        "note": difference.note,
        "concerns": concerning.document(concern) if concern is not None else None,
    }


async def rehearse(
    call: Request, parsed: Sequence[applying.Manifest], given: bodies.ManifestsInput
) -> dict[str, Any]:
    """Applies everything to a copy of the workspace and forgets it."""
    copy = await rehearsing.copy_of(call)

    def try_out() -> dict[str, Any]:
        engine = copy.load()
        applying.check_fields(call, engine, parsed)
        wanted_changes = wanted(engine, parsed, given, call.caller.user)
        pruning.check_removals(call, engine, wanted_changes.removals, confirm=True)
        ended = ends(engine, wanted_changes)
        apply_all(engine, wanted_changes, lambda change: engine.apply(change, copy.now), force=given.force)
        return results(engine, wanted_changes, ended)

    return await rehearsing.run(try_out)
