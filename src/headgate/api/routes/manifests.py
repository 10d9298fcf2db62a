"""Manifests in and out: apply, diff, export."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from headgate.api import applying, performing, pruning, secrecy, selecting, stepping
from headgate.api.applying import Manifest
from headgate.api.documents import bodies, views
from headgate.api.http import large_bodies, replies
from headgate.api.http.calls import Answer, Refusal, Request, Route
from headgate.fleet.engine import manifests
from headgate.fleet.engine.differences import Difference
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model.changes import Object, Put
from headgate.kernel import documents
from headgate.kernel.problems import Rejected
from headgate.runtime import replica
from headgate.runtime.commands import CommandContext, EngineView, Reply

MEDIA_TYPES = ("application/json", "application/yaml")


PARSING, REHEARSING = "parseManifests", "rehearseManifests"
MOST_AT_ONCE = 200
"""Manifests that are applied in one transaction, all or nothing."""
Given = bodies.ManifestsInput


async def apply(call: Request) -> Answer:
    given, parsed = await (_read_aside(call) if large_bodies.is_large(call) else read(call))
    applying.check_permissions(call, parsed)
    for manifest in parsed:
        await selecting.check_object(call, manifest.object, manifest.path)
    if given.dry_run:
        return await _rehearsed(call, given, parsed)
    if len(parsed) <= MOST_AT_ONCE:
        return await replies.submit(call, partial(_apply, call, parsed, given), alone=True)
    return replies.answer(await _apply_in_steps(call, given, parsed))


async def read(call: Request) -> tuple[Given, list[Manifest]]:
    """What is asked beside the manifests, without them; and the manifests."""
    given = Given(())
    body = await asyncio.to_thread(large_bodies.decoded, call)
    if body is not None:
        given = await asyncio.to_thread(documents.read, Given, body)
    parsed = await applying.parse(msgspec.structs.replace(call, body=body))
    return msgspec.structs.replace(given, manifests=()), parsed


async def _read_aside(call: Request) -> tuple[Given, list[Manifest]]:
    given, *parts = [part async for part in large_bodies.parts(call, PARSING)]
    received: list[Manifest] = []
    for part in parts:
        received += await asyncio.to_thread(_from_written, part)
    return msgspec.json.decode(given, type=Given), received


class _Written(msgspec.Struct):
    path: str
    change: msgspec.Raw
    has_own_id: bool


def written(given: Sequence[Manifest]) -> bytes:
    """Manifests as they are handed from one process to another."""
    return msgspec.json.encode(
        [_Written(one.path, msgspec.Raw(replica.encoded(Put(one.object))), one.has_own_id) for one in given]
    )


def _from_written(part: bytes) -> list[Manifest]:
    received = []
    for entry in msgspec.json.decode(part, type=list[_Written]):
        change = replica.decoded(bytes(entry.change))
        assert isinstance(change, Put)
        received.append(Manifest(entry.path, change.object, entry.has_own_id))
    return received


async def rehearse(call: Request) -> Answer:
    """All of it on a copy, where it is read too."""
    given, parsed = await read(call)
    return Answer(200, msgspec.json.encode(await performing.rehearse(call, parsed, given)))


async def _rehearsed(call: Request, given: Given, parsed: list[Manifest]) -> Answer:
    if call.service.aside is None:
        return Answer(200, await performing.rehearse(call, parsed, given))
    return await call.service.aside.answer("plans", REHEARSING, call)


async def _apply_in_steps(call: Request, given: Given, parsed: list[Manifest]) -> Reply:
    """What would be refused is refused before anything is stored: all of it is tried on a copy first."""
    async with stepping.keyed(call) as held:
        return await _apply_alone(call, given, parsed, [held] if held is not None else [])


async def _apply_alone(
    call: Request, given: Given, parsed: list[Manifest], held: Sequence[stepping.Held]
) -> Reply:
    known = await stepping.known_answer(call)
    if known is not None:
        return known
    rehearsed = await _rehearsed(call, given, parsed)
    if rehearsed.status != 200:
        raise large_bodies.RefusedAside(rehearsed)
    await replies.ask(call, partial(_check_prune, call, parsed, given))
    done: dict[str, Any] = {}
    checked = msgspec.structs.replace(given, force=True, prune=False)
    pace = stepping.Pace()
    try:
        for some in pace.steps(applying.in_order(parsed)):
            await stepping.keep(held)
            command = pace.timed(partial(_apply, call, list(some), checked))
            reply = await call.service.worker_client.submit(call.workspace, command, call.caller, alone=True)
            results = msgspec.json.decode(reply.body)["results"]
            done |= {one.path: result for one, result in zip(some, results, strict=True)}
    except (Rejected, Refusal) as error:
        raise stepping.interrupted(error, "manifests", len(done), len(parsed)) from None
    results = [done[one.path] for one in parsed]
    return await stepping.last(call, partial(_prune, call, parsed, given, results))


def _check_prune(call: Request, parsed: list[Manifest], given: Given, view: EngineView) -> None:
    """Who has to be asked is asked before the first step."""
    removals = pruning.removals(view.engine, given, [one.object for one in parsed])
    pruning.check_removals(call, view.engine, removals, confirm=given.confirm)


def _prune(
    call: Request,
    parsed: list[Manifest],
    given: Given,
    results: list[dict[str, Any]],
    context: CommandContext,
) -> Reply:
    """The last step of many: what the set no longer has."""
    engine = context.engine
    wanted = performing.WantedChanges([], pruning.removals(engine, given, [one.object for one in parsed]))
    pruning.check_removals(call, engine, wanted.removals, confirm=given.confirm)
    ended = performing.ends(engine, wanted)
    performing.apply_all(engine, wanted, context.apply, force=True)
    return replies.reply(200, {"results": results + performing.results(engine, wanted, ended)["results"]})


def _apply(call: Request, parsed: list[Manifest], given: Given, context: CommandContext) -> Reply:
    engine = context.engine
    applying.check_fields(call, engine, parsed)
    applying.check_references(engine, parsed)
    wanted = performing.wanted(engine, parsed, given, context.caller.user)
    pruning.check_removals(call, engine, wanted.removals, confirm=given.confirm)
    ended = performing.ends(engine, wanted)
    performing.apply_all(engine, wanted, context.apply, force=given.force)
    return replies.reply(200, performing.results(engine, wanted, ended))


async def diff(call: Request) -> Answer:
    given = bodies.DiffInput()
    if call.body is not None:
        given = await asyncio.to_thread(documents.read, bodies.DiffInput, call.body)
    parsed = secrecy.without_guesses(call, await applying.parse(call))
    compared = await replies.ask(call, partial(_compare, parsed, given, call.caller.user))
    return Answer(200, {"differences": compared})


def _compare(
    parsed: list[applying.Manifest], given: bodies.DiffInput, user: str, view: EngineView
) -> list[Difference]:
    return performing.wanted(view.engine, parsed, given, user).differences()


async def export(call: Request) -> Answer:
    things = await replies.ask(call, _objects)
    return Answer(200, await asyncio.to_thread(_described, call, things))


def _objects(view: EngineView) -> list[Object]:
    """They are values: what is done with them later does not disturb the engine."""
    return lookup.everything(view.engine)


def _described(call: Request, things: list[Object]) -> bytes:
    """To each as they see the objects one by one: secrets are for those who may write them."""
    described = [secrecy.render(call, item, manifests.describe) for item in things]
    return msgspec.json.encode({"manifests": described})


ROUTES = (
    Route(
        "POST", "/v1/apply", "apply", "Create or change objects by their manifests",
        apply, "read", "manifests", {200: views.ApplyResult},
        body=bodies.ManifestsInput, body_media_types=MEDIA_TYPES, mutates=True, reads_body=True, problems=(409,),
        description=(
            f"Up to {MOST_AT_ONCE} manifests are applied all or nothing. More are tried on a copy first, and refused if one "
            "of them would be; then they are applied in steps, between which others are served. "
            "Needs the permission to write each kind that is in it. With dryRun it says what would be done, and "
            "refuses what would be refused."
        ),
    ),
    Route(
        "POST", "/v1/diff", "diff", "Say what manifests would change, field by field",
        diff, "read", "manifests", {200: views.Differences}, lane="plans",
        body=bodies.DiffInput, body_media_types=MEDIA_TYPES,
    ),
    Route(
        "GET", "/v1/export", "export", "All objects as manifests",
        export, "read", "manifests", {200: views.Manifests}, lane="lists",
    ),
)  # fmt: skip
