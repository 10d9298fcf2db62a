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


def apply_all(engine: Engine, found: WantedChanges, apply: Callable[[Change], None], *, force: bool) -> None:
    """All changes, removals last, and the check whom they concern: by the fleet that all of them make, before anything is applied where
    none of them moves a target, because going back is costly."""
    asked = applying.changes_of(found.compared)
    going = [one.change() for one in found.removals if one.kept is None]
    reached = [] if force else [_reached(engine, one.manifest) for one in asked]
    makes_the_fleet = bool(going) or any(isinstance(one.change.object, _FLEET) for one in asked)
    if not makes_the_fleet:
        _check_concerns(engine, reached)
    for one in asked:
        with applying.at(one.manifest):
            apply(one.change)
    for deletion in going:
        with refusals.as_conflict(f"{deletion.kind} {deletion.name} cannot be deleted"):
            apply(deletion)
    if makes_the_fleet:
        _check_concerns(engine, reached)


_FLEET = (model.Resource, model.Environment, model.Deployment)


def check_beforehand(engine: Engine, found: WantedChanges) -> None:
    """For a plan: what would be refused because it concerns nobody, as far as the fleet stays as it is."""
    asked = applying.changes_of(found.compared)
    if not found.removals and not any(isinstance(one.change.object, _FLEET) for one in asked):
        _check_concerns(engine, [_reached(engine, one.manifest) for one in asked])


def _reached(engine: Engine, manifest: applying.Manifest) -> Reached:
    thing = manifest.object
    old = lookup.replaced_by(engine, thing)
    concern = concerned.by_object(engine, old) if old is not None and isinstance(thing, _FLEET) else None
    return Reached(manifest, old, concern.targets if concern is not None else 0)


def _check_concerns(engine: Engine, reached: Sequence[Reached]) -> None:
    problems: list[Problem] = []
    for one in reached:
        path, thing = one.manifest.path, one.manifest.object
        try:
            concerning.check(engine, one.old, thing, force=False)
        except Rejected as rejected:
            problems += (
                Problem(f"{path}.spec.{problem.path}", problem.message) for problem in rejected.problems
            )
        concern = concerned.by_object(engine, thing) if one.targets else None
        if concern is not None and not concern.targets:
            message = f"leaves none of the {one.targets} release targets of {thing.name}; if that is meant, give force"
            problems.append(Problem(f"{path}.spec.resourceSelector", message))
    if problems:
        raise Rejected(problems)


def ends(engine: Engine, found: WantedChanges) -> list[Concern | None]:
    """Whom each removal concerns, up to a bound. To be asked before it is done: afterwards nobody is there any more."""
    left = MOST_CONCERNS
    concerns: list[Concern | None] = []
    for one in found.removals:
        is_said = one.kept is None and isinstance(one.object, concerning.SAID_OF) and left > 0
        left -= is_said
        concerns.append(concerned.by_object(engine, one.object) if is_said else None)
    return concerns


def results(engine: Engine, wanted: WantedChanges, ended: Sequence[Concern | None]) -> dict[str, Any]:
    """In the order of the request, removals last. Whom it concerns is said of what changed, up to a bound; `ended` of what
    was removed."""
    left = MOST_CONCERNS
    found = []
    for one in wanted.compared:
        concern = None
        if (
            one.difference.action != "unchanged"
            and isinstance(one.manifest.object, concerning.SAID_OF)
            and left
        ):
            left -= 1
            concern = concerned.by_object(
                engine, lookup.replaced_by(engine, one.manifest.object) or one.manifest.object
            )
        found.append(_result(one.difference, concern))
    found += [_result(one.difference(), concern) for one, concern in zip(wanted.removals, ended, strict=True)]
    return {"results": found}


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
        found = wanted(engine, parsed, given, call.caller.user)
        pruning.check_removals(call, engine, found.removals, confirm=True)
        ended = ends(engine, found)
        apply_all(engine, found, lambda change: engine.apply(change, copy.now), force=given.force)
        return results(engine, found, ended)

    return await rehearsing.run(try_out)
