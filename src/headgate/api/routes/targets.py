"""Release targets: where each of them is, why it has not changed yet, and what operators order for one."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, get_args

import msgspec

from headgate.api import (
    finding,
    kinds,
    lists,
    objects,
    orderings,
    pages,
    refusals,
    replies,
    rollout_shapes,
)
from headgate.api.calls import Answer, Call, Parameter, Route
from headgate.api.lists import Listing
from headgate.api.pages import Key, Page
from headgate.api.routes import jobs
from headgate.api.schemas import Page as PageSchema
from headgate.fleet import changes, explain, model
from headgate.fleet.state import State
from headgate.fleet.units import Target
from headgate.kernel.instants import Instant
from headgate.runtime.commands import Context, Reply, View

Action = Literal["retry", "rollback", "redeploy"]
JUDGED_STEP = 300
"""Targets whose state is found out in one go: each takes some time in the engine's thread."""

Row = tuple[Key, dict[str, Any] | None]


@contextmanager
def quietly(state: State) -> Iterator[None]:
    """Asking leaves no trace."""
    state.quiet = True
    try:
        yield
    finally:
        state.quiet = False


def document(state: State, target: Target, now: Instant) -> dict[str, Any]:
    record = target.record
    job = state.jobs.get(record.job or "")
    current = state.version(record.deployed)
    return {
        "name": target.name,
        "deployment": target.deployment.name,
        "environment": target.environment.name,
        "resource": target.resource.name,
        "state": explain.state_of(state, target, now),
        "current": None if current is None else current.tag,
        "job": None if job is None else {"id": job.id, "status": job.status},
    }


async def list_targets(call: Call) -> Answer:
    wanted = {name: str(call.query[name]) for name in _FILTERED if call.query.get(name) is not None}
    state_wanted = call.query.get("state")

    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[Row]:
        return await replies.ask(call, partial(_rows, wanted, state_wanted, page, position, count))

    is_sparse = state_wanted is not None
    listing = Listing("target", fetch, _same, _same, JUDGED_STEP, is_sparse=is_sparse)
    return await lists.answer(call, listing)


def _same(row: dict[str, Any]) -> dict[str, Any]:
    return row


def _rows(
    wanted: dict[str, str], state_wanted: str | None, page: Page, position: Key | None, count: int, view: View
) -> list[Row]:
    state = view.engine.state
    names = {name: finding.name_or_same(state, _FILTERED[name], value) for name, value in wanted.items()}
    keys = _keys(state, names)
    rows: list[Row] = []
    with quietly(state):
        for key in orderings.after(keys, page, position, len(keys)):
            target = state.targets[key[0]]
            if not _matches(target, names):
                continue
            row = document(state, target, view.now)
            rows.append((key, row if state_wanted in (None, row["state"]) else None))
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


def _reference(call: Call) -> str:
    if "target" in call.path:
        return call.path["target"]
    return "/".join(call.path[name] for name in _FILTERED)


async def get_target(call: Call) -> Answer:
    return replies.object_answer(await replies.ask(call, lambda view: _detail(view, _reference(call))))


def _detail(view: View, reference: str) -> dict[str, Any]:
    state = view.engine.state
    target = finding.target(state, reference)
    explanation = view.engine.explain(target.name, view.now)
    with quietly(state):
        found = document(state, target, view.now)
    return {
        **found,
        "desired": explanation.desired,
        "message": explanation.message,
        "deployedAt": objects.shown_or_none(target.record.deployed_at),
        "verification": target.record.verification,
        "group": explanation.group.id if explanation.group is not None else None,
    }


async def explain_target(call: Call) -> Answer:
    return Answer(200, await replies.ask(call, lambda view: _explained(view, _reference(call))))


def _explained(view: View, reference: str) -> dict[str, Any]:
    target = finding.target(view.engine.state, reference)
    explanation = view.engine.explain(target.name, view.now)
    found: dict[str, Any] = msgspec.to_builtins(explanation)
    for part in (found, *found["rules"]):
        for key in ("satisfiedAt", "nextEvaluationTime"):
            if key in part:
                part[key] = objects.shown_or_none(part[key])
    return found


async def list_jobs_of_target(call: Call) -> Answer:
    target = await replies.ask(call, lambda view: finding.target(view.engine.state, _reference(call)))
    names = (target.deployment.name, target.environment.name, target.resource.name)
    return await jobs.answer_list(call, dict(zip(_FILTERED, names)))


async def act(action: Action, call: Call) -> Answer:
    def command(context: Context) -> Reply:
        state = context.engine.state
        target = finding.target(state, _reference(call))
        if action == "retry" and not _has_failed(state, target, context.now):
            raise refusals.conflict(
                "The target cannot be tried again", f"{target.name} has nothing that failed or was put back"
            )
        with refusals.as_conflict(f"The target cannot {_WORDS[action]}"):
            context.apply(changes.TargetAction(action, target.name, call.caller.user))
        with quietly(state):
            return replies.reply(200, document(state, target, context.now))

    return await replies.submit(call, command)


def _has_failed(state: State, target: Target, now: Instant) -> bool:
    """Also what an aborted group will not run by itself any more: the newest that was locked, but does not run."""
    record = target.record
    if record.job is not None:
        return True
    floor = target.place.record.floors.get(target.deployment.name) if target.place is not None else None
    if record.failures or record.spent or record.retry_at is not None or floor not in (None, record.deployed):
        return True
    with quietly(state):
        return explain.state_of(state, target, now) == "failed"


_WORDS: dict[Action, str] = {
    "retry": "be tried again",
    "rollback": "be rolled back",
    "redeploy": "be deployed again",
}
_SUMMARIES: dict[Action, str] = {
    "retry": "Try again what failed on a target",
    "rollback": "Go back to the version before",
    "redeploy": "Deploy the version that runs once more",
}


def _routes(path: str, suffix: str) -> tuple[Route, ...]:
    tag = "release-targets"
    return (
        Route(
            "GET", path, f"getTarget{suffix}", "Get a release target",
            get_target, "read", tag, {200: rollout_shapes.TargetDetail},
        ),
        Route(
            "GET", f"{path}/explain", f"explainTarget{suffix}", "Say why a target has not changed yet",
            explain_target, "read", tag, {200: rollout_shapes.Explanation},
        ),
        Route(
            "GET", f"{path}/jobs", f"listTargetJobs{suffix}", "List the jobs of a target, newest first",
            list_jobs_of_target, "read", tag, {200: PageSchema(rollout_shapes.Job)},
            query=pages.parameters("job", pages.NEWEST_FIRST, pages.NEWEST_FIRST[0]), problems=(422,),
        ),
        *(
            Route(
                "POST", f"{path}/{action}", f"{action}Target{suffix}", _SUMMARIES[action],
                _acting(action), "target:act", tag, {200: rollout_shapes.Target}, mutates=True, problems=(409,),
            )
            for action in _WORDS
        ),
    )  # fmt: skip


def _acting(action: Action) -> Callable[[Call], Any]:
    return partial(act, action)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/v1/release-targets", "listTargets", "List release targets",
        list_targets, "read", "release-targets", {200: PageSchema(rollout_shapes.Target)},
        query=(
            *pages.parameters("target", ("name", "-name")),
            Parameter("deployment", {"type": "string"}, "Of this deployment, by id or name."),
            Parameter("environment", {"type": "string"}, "In this environment, by id or name."),
            Parameter("resource", {"type": "string"}, "On this resource, by id or name."),
            Parameter("state", {"type": "string", "enum": list(get_args(model.TargetState))}, "In this state."),
        ),
        problems=(422,),
    ),
    *_routes("/v1/release-targets/{target}", ""),
    *_routes("/v1/release-targets/{deployment}/{environment}/{resource}", "ByParts"),
)  # fmt: skip
