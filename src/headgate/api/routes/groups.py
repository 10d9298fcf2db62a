"""Groups of brackets: their history, and what operators order for one that has not ended."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

import msgspec

from headgate.api import finding, rollout_documents
from headgate.api.documents import bodies, rollout_views
from headgate.api.http import filters, lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.api.http.lists import Listing
from headgate.api.http.pages import Key, Page
from headgate.api.http.schemas import PageSchema
from headgate.api.routes.jobs import HISTORY_STEP
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import kinds, records
from headgate.fleet.model.changes import GroupAction, GroupCommand
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext, Reply
from headgate.store.rows import Row

_DECODER = msgspec.json.Decoder(records.Group)
_TEXT = {"type": "string"}
_FILTERS = {
    "status": Parameter(
        "status", {**_TEXT, "enum": list(get_args(records.GroupStatus))}, "With this status."
    ),
    "environment": Parameter("environment", _TEXT, "In this environment, by id or name."),
    "resource": Parameter("resource", _TEXT, "On this resource, by id or name."),
    "policy": Parameter("policy", _TEXT, "Of this policy, by id or name."),
}
_KINDS = {"environment": kinds.ENVIRONMENT, "resource": kinds.RESOURCE, "policy": kinds.POLICY}


async def list_groups(call: Request) -> Answer:
    given = {name: str(call.query[name]) for name in _FILTERS if call.query.get(name) is not None}
    equal = await replies.ask(call, lambda view: _by_name(view.engine, given))

    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[tuple[Key, Any]]:
        after = None if position is None else (position[0], position[1])
        rows = await asyncio.to_thread(call.service.store.groups_before, call.workspace, after, count, equal)
        return await _documents(call, rows)

    listing = Listing(
        "group", fetch, lambda row: row, filters.with_times, HISTORY_STEP, pages.NEWEST_FIRST[0]
    )
    return await lists.answer(call, listing)


def _by_name(engine: Engine, given: Mapping[str, str]) -> dict[str, str]:
    return {
        name: finding.name_or_same(engine, _KINDS[name], value) if name in _KINDS else value
        for name, value in given.items()
    }


async def _documents(call: Request, rows: Sequence[Row]) -> list[tuple[Key, dict[str, Any]]]:
    groups = [_from_row(row) for row in rows]
    details = await replies.ask(
        call, lambda view: [rollout_documents.of_group(view.engine, group, view.now) for group in groups]
    )
    return [((row["created_at"], row["id"]), one) for row, one in zip(rows, details)]


def _from_row(row: Row) -> records.Group:
    written = row["document"]
    assert isinstance(written, bytes)
    return _DECODER.decode(written)


async def get_group(call: Request) -> Answer:
    group = await _stored(call)
    return replies.object_answer(
        await replies.ask(call, lambda view: rollout_documents.of_group(view.engine, group, view.now))
    )


async def _stored(call: Request) -> records.Group:
    reference = call.path["group"]
    row = await asyncio.to_thread(call.service.store.group, call.workspace, reference)
    if row is None:
        raise refusals.not_found("group", reference)
    return _from_row(row)


async def act(action: GroupCommand, call: Request) -> Answer:
    given = documents.read(bodies.GroupActionInput, call.body if call.body is not None else {})
    reference = call.path["group"].lower()
    is_live = await replies.ask(call, lambda view: reference in view.engine.groups)
    if not is_live:
        await _stored(call)
    return await replies.submit(call, partial(_act, action, reference, given))


def _act(
    action: GroupCommand, reference: str, given: bodies.GroupActionInput, context: CommandContext
) -> Reply:
    group = context.engine.groups.get(reference)
    if group is None:
        raise refusals.conflict(
            "The group has ended", f"group {reference} has ended; nothing can be ordered for it"
        )
    _check_member(action, group, given.member)
    change = GroupAction(
        action,
        group=group.id,
        member=given.member,
        post_hooks=given.post_hooks,
        user=context.caller.user,
        reason=given.reason,
    )
    with refusals.as_conflict("The group is not in a state for this"):
        context.apply(change)
    return replies.reply(200, rollout_documents.of_group(context.engine, group, context.now))


def _check_member(action: GroupCommand, group: records.Group, member: str | None) -> None:
    names = ", ".join(sorted(one.deployment for one in group.members)) or "none before the window closes"
    if member is None:
        if action == "skipMember":
            raise Rejected([Problem("member", f"is required; allowed are the group's members: {names}")])
    elif group.member(member) is None:
        raise Rejected([Problem("member", f"is {member!r}; allowed are the group's members: {names}")])


_ACTIONS: tuple[tuple[str, GroupCommand, str, str], ...] = (
    ("retry", "retry", "retryGroup", "Try the failed members of a group again"),
    ("abort", "abort", "abortGroup", "End a group without running the rest of it"),
    ("release", "release", "releaseGroup", "Give back the slot that a group holds"),
    ("skip-member", "skipMember", "skipMemberOfGroup", "Go on with a group without one of its members"),
)

ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/v1/groups", "listGroups", "List groups, newest first",
        list_groups, "read", "groups", {200: PageSchema(rollout_views.GroupDetail)},
        query=(
            *pages.parameters("group", pages.NEWEST_FIRST, pages.NEWEST_FIRST[0]),
            *_FILTERS.values(),
        ),
        problems=(422,),
    ),
    Route("GET", "/v1/groups/{group}", "getGroup", "Get a group", get_group, "read", "groups", {200: rollout_views.GroupDetail}),
    *(
        Route(
            "POST", f"/v1/groups/{{group}}/{path}", operation, summary,
            partial(act, action), "group:act", "groups", {200: rollout_views.GroupDetail},
            body=bodies.GroupActionInput, body_required=False, mutates=True, problems=(409,),
        )
        for path, action, operation, summary in _ACTIONS
    ),
)  # fmt: skip
