"""Votes on versions in environments: one a person, the last one counts."""

from __future__ import annotations

from typing import Any

from headgate.api import concerning, finding, rollout_documents
from headgate.api.documents import bodies, rollout_views
from headgate.api.http import lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.api.http.schemas import Concerning, PageSchema
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import concerned, votes
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import Vote
from headgate.kernel import documents
from headgate.runtime.commands import CommandContext, EngineView, Reply


async def list_approvals(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return await replies.ask(call, lambda view: _rows(view, call))

    return await lists.answer(call, lists.of_rows("approval", rows))


def _rows(view: EngineView, call: Request) -> list[tuple[str, int, dict[str, Any]]]:
    engine = view.engine
    wanted = {
        key: finding.name_or_same(engine, kind, call.query[key])
        for key, kind in (("deployment", kinds.DEPLOYMENT), ("environment", kinds.ENVIRONMENT))
        if call.query.get(key) is not None
    }
    if call.query.get("tag") is not None:
        wanted["tag"] = call.query["tag"]
    rows = []
    for vote in votes.all_of_them(engine):
        row = rollout_documents.of_vote(engine, vote)
        if all(row[key] == value for key, value in wanted.items()):
            name = f"{row['deployment']}/{row['tag']}/{vote.environment}/{vote.user}"
            rows.append((name, vote.at, row))
    return rows


async def vote(call: Request) -> Answer:
    given = documents.read(bodies.ApprovalInput, call.body)

    def command(context: CommandContext) -> Reply:
        engine = context.engine
        change = change_of(engine, given, call)
        context.apply(change)
        version = finding.version_of(engine, change.deployment, change.tag)
        cast = votes.of(engine, version.id, change.environment, change.user)
        assert cast is not None
        concern = concerned.by_vote(engine, version, change.environment, change.roles)
        return replies.reply(
            200, {**rollout_documents.of_vote(engine, cast), "concerns": concerning.document(concern)}
        )

    return await replies.submit(call, command)


def change_of(engine: Engine, given: bodies.PlannedVoteInput, call: Request) -> Vote:
    """The caller's own. Names, so that the change reads the same whatever ids were used."""
    return Vote(
        finding.name_or_same(engine, kinds.DEPLOYMENT, given.deployment),
        given.tag,
        finding.name_or_same(engine, kinds.ENVIRONMENT, given.environment),
        call.caller.user,
        given.status,
        given.reason,
        call.principal.roles_in(call.workspace),
    )


async def withdraw(call: Request) -> Answer:
    def command(context: CommandContext) -> Reply:
        engine = context.engine
        user = context.caller.user
        version = finding.version(engine, call.path["version"])
        environment = finding.name(engine, kinds.ENVIRONMENT, call.path["environment"])
        vote = votes.of(engine, version.id, environment, user)
        if vote is None:
            raise refusals.not_found("vote", f"{version.deployment}/{version.tag} in {environment} by {user}")
        context.apply(Vote(version.deployment, version.tag, environment, user, "withdrawn"))
        concern = concerned.by_vote(engine, version, environment, vote.roles)
        return concerning.reply_to_end(rollout_documents.of_vote(engine, vote), concern)

    return await replies.submit(call, command)


ROUTES = (
    Route(
        "GET", "/v1/approvals", "listApprovals", "List votes",
        list_approvals, "read", "approvals", {200: PageSchema(rollout_views.ApprovalView)},
        query=(
            *pages.parameters("approval"),
            Parameter("deployment", {"type": "string"}, "On versions of this deployment, by id or name."),
            Parameter("tag", {"type": "string"}, "On versions with this tag."),
            Parameter("environment", {"type": "string"}, "For this environment, by id or name."),
        ),
        problems=(422,),
    ),
    Route(
        "POST", "/v1/approvals", "vote", "Approve or reject a version in an environment",
        vote, "approval:write", "approvals", {200: Concerning(rollout_views.ApprovalView)},
        body=bodies.ApprovalInput, mutates=True,
        description="The vote is the caller's, and replaces an earlier one of the same caller.",
    ),
    Route(
        "DELETE", "/v1/approvals/{version}/{environment}", "withdrawVote", "Withdraw one's own vote",
        withdraw, "approval:write", "approvals", {200: Concerning(rollout_views.ApprovalView)}, mutates=True,
        description="The version is named by id, or as deployment/tag, percent-encoded.",
    ),
)  # fmt: skip
