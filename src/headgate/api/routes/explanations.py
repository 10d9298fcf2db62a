"""Why the targets of a deployment are where they are, grouped by reason."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import msgspec

from headgate.api import evidence, finding
from headgate.api.documents import rollout_views
from headgate.api.http import replies
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.api.routes.status import SLICE_SECONDS
from headgate.fleet.engine.explain_deployment import Reasons, why_without_targets
from headgate.fleet.engine.queries import release_targets
from headgate.fleet.model import kinds
from headgate.kernel import rendering
from headgate.runtime.commands import EngineView


async def explain_deployment(call: Request) -> Answer:
    reference, environment = call.path["deployment"], call.query.get("environment")
    version = call.query.get("version")
    name, place, targets = await replies.ask(call, partial(_targets, reference, environment, version))
    reasons = Reasons()
    done = 0
    while done < len(targets):
        done = await replies.ask(call, partial(_look, targets, done, reasons))
    absent = [] if targets else await replies.ask(call, partial(_why_without_targets, name, place))
    return Answer(200, _document(name, len(targets), reasons, absent))


def _targets(
    reference: str, environment: str | None, tag: str | None, view: EngineView
) -> tuple[str, str | None, list[str]]:
    engine = view.engine
    name = finding.name(engine, kinds.DEPLOYMENT, reference)
    place = None if environment is None else finding.name(engine, kinds.ENVIRONMENT, environment)
    version = None if tag is None else finding.version_of(engine, name, tag)
    return name, place, release_targets.of_deployment(engine, name, place, version)


def _why_without_targets(name: str, environment: str | None, view: EngineView) -> list[str]:
    """Between two questions the deployment may have gone."""
    return why_without_targets(view.engine, name, environment)


def _look(targets: list[str], first: int, reasons: Reasons, view: EngineView) -> int:
    """Goes on where the last question stopped, for as long as one question may keep the engine from its work."""
    ends = time.monotonic() + SLICE_SECONDS
    for number, name in enumerate(targets[first:], first):
        target = release_targets.get(view.engine, name)
        if target is not None:
            reasons.add(target.environment, view.engine.explain(name, view.now))
        if time.monotonic() > ends:
            return number + 1
    return len(targets)


def _document(deployment: str, total: int, reasons: Reasons, absent: list[str]) -> dict[str, Any]:
    groups = [
        rendering.built(rollout_views.ReasonGroupView, group, actions=evidence.acting(group.actions))
        for group in reasons.sorted()
    ]
    return {
        "deployment": deployment,
        "targets": total,
        "reasons": groups,
        "approvals": [msgspec.to_builtins(one) for one in reasons.approvals()],
        "withoutTargets": absent,
    }


ROUTES = (
    Route(
        "GET", "/v1/deployments/{deployment}/explain", "explainDeployment",
        "Say why the targets of a deployment are where they are, grouped by reason",
        explain_deployment, "read", "deployments", {200: rollout_views.DeploymentExplanation},
        query=(
            Parameter("environment", {"type": "string"}, "In this environment only, by id or name."),
            Parameter("version", {"type": "string"}, "Only targets in the scope of this version, by id or tag."),
        ),
    ),
)  # fmt: skip
