"""Release targets: where each of them is, and why it has not changed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, get_args

import msgspec

from headgate.api import evidence, finding, levels_below
from headgate.api.documents import rollout_views
from headgate.api.http import lists, pages, replies
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.api.http.lists import Listing
from headgate.api.http.pages import Key, Page
from headgate.api.http.schemas import PageSchema
from headgate.api.routes import jobs
from headgate.fleet.engine import views
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import outlooks, release_targets
from headgate.fleet.engine.queries.release_targets import TargetFilter, TargetStatus
from headgate.fleet.model import expressions, kinds
from headgate.fleet.model import objects as model
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
    bindings: Mapping[str, Any] | None
    """What a selector reads of it: a filter may too, where there is one."""


TargetRow = tuple[Key, ListedRow | None]
_AROUND = tuple(expressions.SELECTOR.variables)


def document(engine: Engine, name: str, now: Instant) -> dict[str, Any]:
    return _written(release_targets.status(engine, name, now))


def _written(status: TargetStatus) -> dict[str, Any]:
    job = status.job
    return {
        "name": status.name,
        "deployment": status.deployment,
        "environment": status.environment,
        "resource": status.resource,
        "state": status.state,
        "current": status.current,
        "job": None if job is None else {"id": job.id, "status": job.status},
    }


def _add_reason(view: EngineView, row: dict[str, Any], is_asked: bool) -> None:
    """What is up to date has no reason, and nothing next: most are, and need not be explained."""
    desired, message, at = None, None, None
    if is_asked and row["state"] == "upToDate":
        desired, message = row["current"], ""
    elif is_asked:
        explanation = view.engine.explain(row["name"], view.now)
        desired, message = explanation.desired, explanation.message
        at = rendering.render_or_none(explanation.next_evaluation_time)
    row["desired"], row["message"], row["nextEvaluationTime"] = desired, message, at


async def list_targets(call: Request) -> Answer:
    wanted = {name: str(call.query[name]) for name in _FILTERED if call.query.get(name) is not None}
    state_wanted, version = call.query.get("state"), call.query.get("version")
    if version is not None and "deployment" not in wanted:
        raise Rejected([Problem("version", "is one of a deployment: name that too")])

    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[TargetRow]:
        return await replies.ask(
            call, partial(_rows, wanted, version, state_wanted, reasons, is_read, page, position, count)
        )

    reasons, is_read = bool(call.query.get("reasons")), call.query.get("cel") is not None
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
    is_read: bool,
    page: Page,
    position: Key | None,
    count: int,
    view: EngineView,
) -> list[TargetRow]:
    engine = view.engine
    names = {name: finding.name_or_same(engine, _FILTERED[name], value) for name, value in wanted.items()}
    scope = None if version is None else finding.version_of(engine, names["deployment"], version)
    chosen = TargetFilter(**names, version=scope, state=state_wanted)
    range_ = page.range_behind(position, count)
    listed = release_targets.listed(engine, chosen, range_, view.now, is_read=is_read)
    return [(key, None if one is None else _row(view, *one, reasons)) for key, one in listed]


def _row(
    view: EngineView, status: TargetStatus, bindings: Mapping[str, Any] | None, reasons: bool
) -> ListedRow:
    document = _written(status)
    _add_reason(view, document, reasons)
    return ListedRow(document, bindings)


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
    engine = view.engine
    name = finding.target(engine, reference).name
    explanation, record = engine.explain(name, view.now), release_targets.record(engine, name)
    documented = document(engine, name, view.now)
    return {
        **documented,
        "desired": explanation.desired,
        "message": explanation.message,
        "deployedAt": rendering.render_or_none(record.deployed_at),
        "verification": record.verification,
        "group": explanation.group.id if explanation.group is not None else None,
        "orders": [msgspec.to_builtins(one) for one in outlooks.of_target(engine, name, view.now)],
    }


async def explain_target(call: Request) -> Answer:
    whole = evidence.sees_answers(call)
    return Answer(200, await replies.ask(call, lambda view: _explained(view, reference(call), whole)))


def _explained(view: EngineView, reference: str, whole: bool) -> dict[str, Any]:
    target = finding.target(view.engine, reference)
    explanation = evidence.explained(view.engine.explain(target.name, view.now), whole=whole)
    if view.warning is not None:
        explanation["warnings"] = [view.warning, *explanation["warnings"]]
    return explanation


async def list_variables_of_target(call: Request) -> Answer:
    return Answer(200, {"items": await replies.ask(call, lambda view: _variables(view, reference(call)))})


def _variables(view: EngineView, reference: str) -> list[dict[str, Any]]:
    target = finding.target(view.engine, reference)
    return [
        {"key": key, **msgspec.to_builtins(sourced)}
        for key, sourced in release_targets.variables_of(view.engine, target.name)
    ]


async def list_jobs_of_target(call: Request) -> Answer:
    target = await replies.ask(call, lambda view: finding.target(view.engine, reference(call)))
    names = (target.deployment, target.environment, target.resource)
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
