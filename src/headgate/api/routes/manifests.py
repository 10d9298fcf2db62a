"""Manifests in and out: apply (all or nothing), diff, export."""

from __future__ import annotations

from functools import partial

import msgspec

from headgate.api import (
    applying,
    bodies,
    kinds,
    replies,
    shapes,
)
from headgate.api.calls import Answer, Call, Route
from headgate.fleet import manifests
from headgate.fleet.changes import Object
from headgate.kernel import documents
from headgate.runtime.commands import Context, Reply, View

MEDIA_TYPES = ("application/json", "application/yaml")


async def apply(call: Call) -> Answer:
    dry_run = False
    if call.body is not None:
        dry_run = (await replies.in_thread(documents.read, bodies.ManifestsInput, call.body)).dry_run
    parsed = await applying.parse(call)
    applying.check_permissions(call, parsed)
    if dry_run:
        return Answer(200, await applying.rehearse(call, parsed))
    return await replies.submit(call, partial(_apply, call, parsed), alone=True)


def _apply(call: Call, parsed: list[applying.Manifest], context: Context) -> Reply:
    state = context.engine.state
    applying.check_scopes(call, state, parsed)
    wanted = applying.settled(state, parsed, context.caller.user)
    applying.check_references(state, wanted)
    compared = applying.compare(state, wanted)
    for change in applying.changes_of(compared):
        with applying.at(change.manifest):
            context.apply(change.change)
    return replies.reply(200, applying.results(compared))


async def diff(call: Call) -> Answer:
    if call.body is not None:
        await replies.in_thread(documents.read, bodies.DiffInput, call.body)
    parsed = await applying.parse(call)
    found = await replies.ask(call, partial(_compare, parsed, call.caller.user))
    return Answer(200, {"differences": [one.difference.document() for one in found]})


def _compare(parsed: list[applying.Manifest], user: str, view: View) -> list[applying.Compared]:
    state = view.engine.state
    return applying.compare(state, applying.settled(state, parsed, user))


async def export(call: Call) -> Answer:
    things = await replies.ask(call, _objects)
    return Answer(200, await replies.in_thread(_described, things))


def _objects(view: View) -> list[Object]:
    """They are values: what is done with them later does not disturb the engine."""
    state = view.engine.state
    return [
        kind.object_of(node) for kind in kinds.APPLY_ORDER for _, node in sorted(kind.table(state).items())
    ]


def _described(things: list[Object]) -> bytes:
    return msgspec.json.encode({"manifests": [manifests.describe(thing) for thing in things]})


ROUTES = (
    Route(
        "POST", "/v1/apply", "apply", "Create or change objects by their manifests, all or nothing",
        apply, "read", "manifests", {200: shapes.ApplyResult},
        body=bodies.ManifestsInput, body_media_types=MEDIA_TYPES, mutates=True,
        description=(
            "Needs the permission to write each kind that is in it. With dryRun it says what would be done, and "
            "refuses what would be refused."
        ),
    ),
    Route(
        "POST", "/v1/diff", "diff", "Say what manifests would change, field by field",
        diff, "read", "manifests", {200: shapes.Differences},
        body=bodies.DiffInput, body_media_types=MEDIA_TYPES,
    ),
    Route(
        "GET", "/v1/export", "export", "All objects as manifests",
        export, "read", "manifests", {200: shapes.Manifests},
    ),
)  # fmt: skip
