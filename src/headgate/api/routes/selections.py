"""Whom a selector reaches, before it stands anywhere."""

from __future__ import annotations

from functools import partial

from headgate.api import concerning, finding, selecting
from headgate.api.documents import rollout_views
from headgate.api.http import replies
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.engine.queries import concerned
from headgate.fleet.model import expressions, kinds
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import EngineView

_LONGEST = 4_000


async def get_selection(call: Request) -> Answer:
    selector = call.query.get("selector")
    if selector is not None:
        problems: list[Problem] = []
        expressions.check(expressions.SELECTOR, selector, "selector", problems)
        if problems:
            raise Rejected(problems)
        await selecting.check_body(call, {"selector": selector})
    concern = await replies.ask(call, partial(_reached, selector, call.query.get("deployment")))
    return Answer(200, concerning.document(concern))


def _reached(selector: str | None, deployment: str | None, view: EngineView) -> Concern:
    engine = view.engine
    owner = None if deployment is None else finding.name(engine, kinds.DEPLOYMENT, deployment)
    return concerned.by_selector(engine, selector, owner)


ROUTES = (
    Route(
        "GET", "/v1/selection", "getSelection", "Say which release targets a selector reaches",
        get_selection, "read", "release-targets", {200: rollout_views.Concerns}, lane="lists", problems=(422,),
        query=(
            Parameter(
                "selector", {"type": "string", "maxLength": _LONGEST},
                "CEL over deployment, environment and resource; absent, all of them.",
            ),
            Parameter("deployment", {"type": "string"}, "Only targets of this deployment, by id or name."),
        ),
        description="As a policy, a freeze or the `targetSelector` of a version would have it. Nothing is stored.",
    ),
)  # fmt: skip
