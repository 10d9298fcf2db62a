"""What people order for release targets, one or many: try again, go back, deploy again, take over what runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from headgate.api import finding, selecting
from headgate.api.documents import bodies, rollout_views
from headgate.api.http import refusals, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.routes import targets
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import order_previews
from headgate.fleet.engine.queries.order_previews import OrderPreview
from headgate.fleet.model import changes, kinds
from headgate.fleet.model.changes import OperatorCommand
from headgate.kernel import documents
from headgate.runtime.commands import CommandContext, EngineView, Reply

MOST_LISTED = 500
"""Targets that an answer names; `count` and `refusedCount` are of all of them."""

_SUMMARIES: dict[OperatorCommand, tuple[str, str]] = {
    "retry": ("Try again what failed on a target", "Try again what failed on the targets of a deployment"),
    "rollback": (
        "Go back to the version before, or to another that ran there",
        "Take the targets of a deployment back",
    ),
    "redeploy": (
        "Deploy the version that runs once more",
        "Deploy once more what runs on the targets of a deployment",
    ),
    "adopt": (
        "Record which version runs on a target, without a job",
        "Record which version runs on the targets of a deployment, without jobs",
    ),
}


async def act(action: OperatorCommand, call: Request) -> Answer:
    to, reason = _wanted(action, call.body)

    def command(context: CommandContext) -> Reply:
        engine = context.engine
        target = finding.target(engine, targets.reference(call))
        with refusals.as_conflict(f"The target cannot {changes.ORDER_WORDS[action]}"):
            context.apply(changes.TargetAction(action, target.name, call.caller.user, to, reason))
        return replies.reply(200, targets.document(engine, target.name, context.now))

    return await replies.submit(call, command)


def _wanted(action: OperatorCommand, body: Any) -> tuple[str | None, str | None]:
    """The version to go to, and why."""
    if action == "adopt":
        adoption = documents.read(bodies.AdoptInput, body)
        return adoption.version, adoption.reason
    given = documents.read(bodies.TargetOrderInput, body if body is not None else {})
    return given.to, given.reason


async def act_on_many(action: OperatorCommand, call: Request) -> Answer:
    if action == "adopt":
        adoption = documents.read(bodies.AdoptManyInput, call.body)
        given = bodies.TargetsOrderInput(
            adoption.environment, adoption.selector, adoption.version, adoption.dry_run, adoption.reason
        )
    else:
        given = documents.read(bodies.TargetsOrderInput, call.body)
    await selecting.check_body(call, call.body)
    if given.dry_run:
        preview = await replies.ask(call, lambda view: _preview(view, call, action, given))
        return Answer(200, preview)
    return await replies.submit(call, partial(_act_on_many, call, action, given))


def _preview(
    view: EngineView, call: Request, action: OperatorCommand, given: bodies.TargetsOrderInput
) -> dict[str, Any]:
    change = _change(view.engine, call, action, given)
    return _document(change, order_previews.of(view.engine, change, view.now), given.dry_run)


def _act_on_many(
    call: Request, action: OperatorCommand, given: bodies.TargetsOrderInput, context: CommandContext
) -> Reply:
    change = _change(context.engine, call, action, given)
    previews = order_previews.of(context.engine, change, context.now)
    answer = _document(change, previews, given.dry_run)
    if all(one.problem is not None for one in previews):
        with refusals.as_conflict(f"No target can {changes.ORDER_WORDS[action]}"):
            context.apply(change)
    else:
        context.apply(change)
    return replies.reply(200, answer)


def _change(
    engine: Engine, call: Request, action: OperatorCommand, given: bodies.TargetsOrderInput
) -> changes.TargetsAction:
    """Names, so that the change reads the same whatever ids were used."""
    deployment = finding.name(engine, kinds.DEPLOYMENT, call.path["deployment"])
    environment = finding.name_or_same(engine, kinds.ENVIRONMENT, given.environment)
    return changes.TargetsAction(
        action, deployment, environment, given.selector, given.to, call.caller.user, reason=given.reason
    )


def _document(change: changes.TargetsAction, previews: list[OrderPreview], dry_run: bool) -> dict[str, Any]:
    able = [one for one in previews if one.problem is None]
    refused = [one for one in previews if one.problem is not None]
    return {
        "action": change.action,
        "deployment": change.deployment,
        "environment": change.environment,
        "dryRun": dry_run,
        "count": len(able),
        "targets": [_moved(one) for one in able[:MOST_LISTED]],
        "refusedCount": len(refused),
        "refused": [{"name": one.target, "reason": one.problem} for one in refused[:MOST_LISTED]],
    }


def _moved(order_preview: OrderPreview) -> dict[str, Any]:
    return {"name": order_preview.target, "from": order_preview.before, "to": order_preview.after}


def _handler(
    function: Callable[[OperatorCommand, Request], Awaitable[Answer]], action: OperatorCommand
) -> Callable[[Request], Any]:
    return partial(function, action)


def _permission(action: OperatorCommand) -> str:
    return "target:adopt" if action == "adopt" else "target:act"


def _routes_for_one(path: str, suffix: str) -> tuple[Route, ...]:
    return tuple(
        Route(
            "POST", f"{path}/{action}", f"{action}Target{suffix}", one,
            _handler(act, action), _permission(action), "release-targets", {200: rollout_views.TargetView},
            body=bodies.AdoptInput if action == "adopt" else bodies.TargetOrderInput,
            body_required=action == "adopt", mutates=True, problems=(409,),
        )
        for action, (one, _) in _SUMMARIES.items()
    )  # fmt: skip


ROUTES: tuple[Route, ...] = (
    *_routes_for_one("/v1/release-targets/{target}", ""),
    *_routes_for_one("/v1/release-targets/{deployment}/{environment}/{resource}", "ByParts"),
    *(
        Route(
            "POST", f"/v1/deployments/{{deployment}}/{action}", f"{action}Targets", many,
            _handler(act_on_many, action), _permission(action), "release-targets",
            {200: rollout_views.TargetsOrder},
            body=bodies.AdoptManyInput if action == "adopt" else bodies.TargetsOrderInput,
            mutates=True, problems=(409,),
            description=(
                "Of those in the environment that the selector matches. Targets that cannot are left as they are, each "
                "with the reason. With dryRun it says what would be done, and does nothing."
            ),
        )
        for action, (_, many) in _SUMMARIES.items()
    ),
)  # fmt: skip
