"""Release targets: where each of them is, and why it has not changed yet."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

import msgspec

from headgate.api import (
    evidence,
    finding,
    levels_below,
    lists,
    orderings,
    outlooks,
    pages,
    replies,
    rollout_views,
)
from headgate.api.calls import Answer, Parameter, Request, Route
from headgate.api.lists import Listing
from headgate.api.pages import Key, Page
from headgate.api.routes import jobs
from headgate.api.schemas import Page as PageSchema
from headgate.fleet.engine import target_states, views
from headgate.fleet.model import expressions, kinds
from headgate.fleet.model import objects as model
from headgate.fleet.state import candidates, variables
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Bindings, Target
from headgate.kernel import rendering
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import EngineView

JUDGED_STEP = 300
"""Targets whose state is found out in one go: each takes some time in the engine's thread."""
EXPLAINED_STEP = 30
"""The same with reasons, which take longer."""


class ListedRow(NamedTuple):
    document: dict[str, Any]
    bindings: Bindings
    """What a selector reads of it: a filter may too."""


Row = tuple[Key, ListedRow | None]
_AROUND = tuple(expressions.SELECTOR.variables)


def document(state: State, target: Target, now: Instant) -> dict[str, Any]:
    record = target.record
    job = state.jobs.get(record.job or "")
    current = state.version(record.deployed)
    return {
        "name": target.name,
        "deployment": target.deployment.name,
        "environment": target.environment.name,
        "resource": target.resource.name,
        "state": target_states.of_target(state, target, now),
        "current": None if current is None else current.tag,
        "job": None if job is None else {"id": job.id, "status": job.status},
    }


def _with_reason(view: EngineView, row: dict[str, Any], is_asked: bool) -> dict[str, Any]:
    """What is up to date has no reason, and nothing next: most are, and need not be explained."""
    if not is_asked:
        return {**row, "desired": None, "message": None, "nextEvaluationTime": None}
    if row["state"] == "upToDate":
        return {**row, "desired": row["current"], "message": "", "nextEvaluationTime": None}
    found = view.engine.explain(row["name"], view.now)
    at = rendering.shown_or_none(found.next_evaluation_time)
    return {**row, "desired": found.desired, "message": found.message, "nextEvaluationTime": at}


async def list_targets(call: Request) -> Answer:
    wanted = {name: str(call.query[name]) for name in _FILTERED if call.query.get(name) is not None}
    state_wanted, version = call.query.get("state"), call.query.get("version")
    if version is not None and "deployment" not in wanted:
        raise Rejected([Problem("version", "is one of a deployment: name that too")])

    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[Row]:
        return await replies.ask(
            call, partial(_rows, wanted, version, state_wanted, reasons, page, position, count)
        )

    reasons = bool(call.query.get("reasons"))
    is_sparse = state_wanted is not None or version is not None
    step = EXPLAINED_STEP if reasons else JUDGED_STEP
    listing = Listing(
        "target",
        fetch,
        _document_of,
        _document_of,
        step,
        is_sparse=is_sparse,
        around=_AROUND,
        bindings=lambda row: row.bindings,
    )
    return await lists.answer(call, listing)


def _document_of(row: ListedRow) -> dict[str, Any]:
    return row.document


def _rows(
    wanted: dict[str, str],
    version: str | None,
    state_wanted: str | None,
    reasons: bool,
    page: Page,
    position: Key | None,
    count: int,
    view: EngineView,
) -> list[Row]:
    state = view.engine.state
    names = {name: finding.name_or_same(state, _FILTERED[name], value) for name, value in wanted.items()}
    scope = None if version is None else finding.version_of(state, names["deployment"], version)
    keys = _keys(state, names)
    rows: list[Row] = []
    for key in orderings.after(keys, page, position, len(keys)):
        target = state.targets[key[0]]
        if not _matches(target, names):
            continue
        is_in_scope = scope is None or candidates.in_scope(scope, target)
        row = document(state, target, view.now) if is_in_scope else None
        if row is None or state_wanted not in (None, row["state"]):
            rows.append((key, None))
        else:
            rows.append((key, ListedRow(_with_reason(view, row, reasons), target.bindings())))
        if len(rows) == count:
            break
    return rows


def _keys(state: State, names: dict[str, str]) -> list[Key]:
    """A superset of what the filters leave, sorted. Names of targets begin with their deployment's."""
    if "resource" in names:
        node = state.resources.get(names["resource"])
        return sorted((name,) for name in node.targets) if node is not None else []
    page = Page(1, "name", False, None)
    keys = orderings.of(state, "target", state.targets).keys(state.targets, page, lambda _: 0)
    if "deployment" not in names:
        return keys
    first = bisect.bisect_left(keys, (f"{names['deployment']}/",))
    return keys[first : bisect.bisect_left(keys, (f"{names['deployment']}{chr(ord('/') + 1)}",))]


def _matches(target: Target, names: dict[str, str]) -> bool:
    return (
        names.get("deployment") in (None, target.deployment.name)
        and names.get("environment") in (None, target.environment.name)
        and names.get("resource") in (None, target.resource.name)
    )


_FILTERED = {
    "deployment": kinds.DEPLOYMENT,
    "environment": kinds.ENVIRONMENT,
    "resource": kinds.RESOURCE,
}


def reference(call: Request) -> str:
    if "target" in call.path:
        return call.path["target"]
    return "/".join(call.path[name] for name in _FILTERED)


async def get_target(call: Request) -> Answer:
    return replies.object_answer(await replies.ask(call, lambda view: _detail(view, reference(call))))


def _detail(view: EngineView, reference: str) -> dict[str, Any]:
    state = view.engine.state
    target = finding.target(state, reference)
    explanation = view.engine.explain(target.name, view.now)
    found = document(state, target, view.now)
    return {
        **found,
        "desired": explanation.desired,
        "message": explanation.message,
        "deployedAt": rendering.shown_or_none(target.record.deployed_at),
        "verification": target.record.verification,
        "group": explanation.group.id if explanation.group is not None else None,
        "orders": [msgspec.to_builtins(one) for one in outlooks.of_target(state, target)],
    }


async def explain_target(call: Request) -> Answer:
    whole = evidence.sees_answers(call)
    return Answer(200, await replies.ask(call, lambda view: _explained(view, reference(call), whole)))


def _explained(view: EngineView, reference: str, whole: bool) -> dict[str, Any]:
    target = finding.target(view.engine.state, reference)
    found = evidence.explained(view.engine.explain(target.name, view.now), whole=whole)
    if view.warning is not None:
        found["warnings"] = [view.warning, *found["warnings"]]
    return found


async def list_variables_of_target(call: Request) -> Answer:
    return Answer(200, {"items": await replies.ask(call, lambda view: _variables(view, reference(call)))})


def _variables(view: EngineView, reference: str) -> list[dict[str, Any]]:
    target = finding.target(view.engine.state, reference)
    return [
        {"key": key, **msgspec.to_builtins(sourced)}
        for key, sourced in variables.resolve_with_sources(view.engine.state, target)
    ]


async def list_jobs_of_target(call: Request) -> Answer:
    target = await replies.ask(call, lambda view: finding.target(view.engine.state, reference(call)))
    names = (target.deployment.name, target.environment.name, target.resource.name)
    return await jobs.answer_list(call, dict(zip(_FILTERED, names)))


def _routes(path: str, suffix: str) -> tuple[Route, ...]:
    tag = "release-targets"
    return (
        Route(
            "GET", path, f"getTarget{suffix}", "Get a release target",
            get_target, "read", tag, {200: rollout_views.TargetDetail}, lane="lists",
        ),
        Route(
            "GET", f"{path}/explain", f"explainTarget{suffix}", "Say why a target has not changed yet",
            explain_target, "read", tag, {200: rollout_views.ExplanationView}, lane="lists",
            finish=levels_below.add,
        ),
        Route(
            "GET", f"{path}/variables", f"listTargetVariables{suffix}", "List the variables of a target and who has set them",
            list_variables_of_target, "read", tag, {200: rollout_views.TargetVariables}, lane="lists",
        ),
        Route(
            "GET", f"{path}/jobs", f"listTargetJobs{suffix}", "List the jobs of a target, newest first",
            list_jobs_of_target, "read", tag, {200: PageSchema(views.JobView)},
            query=pages.parameters("job", pages.NEWEST_FIRST, pages.NEWEST_FIRST[0]), problems=(422,),
        ),
    )  # fmt: skip


ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/v1/release-targets", "listTargets", "List release targets",
        list_targets, "read", "release-targets", {200: PageSchema(rollout_views.ListedTarget)},
        query=(
            *pages.parameters("target", ("name", "-name"), around=_AROUND),
            Parameter("deployment", {"type": "string"}, "Of this deployment, by id or name."),
            Parameter("environment", {"type": "string"}, "In this environment, by id or name."),
            Parameter("resource", {"type": "string"}, "On this resource, by id or name."),
            Parameter("version", {"type": "string"}, "In the scope of this version of the deployment, by id or tag."),
            Parameter("state", {"type": "string", "enum": list(get_args(model.TargetState))}, "In this state."),
            Parameter(
                "reasons", {"type": "boolean"}, "With the version that is next, why it waits, and until when at least."
            ),
        ),
        problems=(422,),
    ),
    *_routes("/v1/release-targets/{target}", ""),
    *_routes("/v1/release-targets/{deployment}/{environment}/{resource}", "ByParts"),
)  # fmt: skip
