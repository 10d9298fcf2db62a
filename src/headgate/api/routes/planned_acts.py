"""What people do with what there is, as the changes that it comes to: for a plan, before it is done."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.api import finding
from headgate.api.documents import bodies
from headgate.api.http.calls import Request
from headgate.api.routes import approvals, skips
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import (
    Change,
    DeleteSkip,
    GroupAction,
    RejectVersion,
    SetVersionStatus,
    TargetsAction,
)

PLANNED = "planned"
"""The reason of what is only planned; nobody reads it."""


def changes_of(engine: Engine, given: bodies.PlanInput, call: Request) -> Iterator[Change]:
    """As the caller would do it. What would be refused is refused in the plan, and said there."""
    user = call.caller.user
    for order in given.orders:
        yield _order(engine, order, user)
    for group in given.groups:
        yield GroupAction(group.action, group=group.group.lower(), user=user)
    for status in given.statuses:
        yield _status(engine, status, user)
    for vote in given.approvals:
        yield approvals.change_of(engine, vote, call)
    for skip in given.skips:
        yield skips.change_of(engine, skip, user)
    for id_ in given.ended_skips:
        yield DeleteSkip(id_.lower())


def _order(engine: Engine, given: bodies.PlannedOrderInput, user: str) -> TargetsAction:
    return TargetsAction(
        given.action,
        finding.name_or_same(engine, kinds.DEPLOYMENT, given.deployment),
        finding.name_or_same(engine, kinds.ENVIRONMENT, given.environment),
        given.selector,
        given.to,
        user,
        given.resources,
    )


def _status(engine: Engine, given: bodies.PlannedStatusInput, user: str) -> Change:
    deployment = finding.name_or_same(engine, kinds.DEPLOYMENT, given.deployment)
    if given.status == "rejected":
        return RejectVersion(deployment, given.tag, PLANNED, given.rollback, user)
    return SetVersionStatus(deployment, given.tag, given.status, user=user)
