"""Sets of a provider's resources: read and checked whole, then put in steps that hold nobody up.

A set of a few is put in one transaction. A larger one is put step by step: what it brings first, what it no longer has
last, so that nothing is missing for a moment that stays. Whoever is interrupted puts the same set again.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from headgate.api import adopting, objects, settling, stepping
from headgate.api.adopting import Running
from headgate.api.documents import bodies, views
from headgate.api.http import access, refusals, replies
from headgate.api.http.calls import Refusal, Request
from headgate.api.objects import Parsed
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, versions
from headgate.fleet.model import changes, kinds
from headgate.fleet.model import objects as model
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected, below, renamed
from headgate.runtime.commands import CommandContext, EngineView, Reply

PROVIDER_KEY = "headgate/provider"
CHECKED_STEP = 100
STEPS_BETWEEN_FREEZES = 20
"""Resources live long: a garbage collector that walked those that came so far, again and again, would stop everybody."""
Result = views.ResourceSetResult


class SetItem(msgspec.Struct, frozen=True):
    """One of the set, under the path that problems name it by, with what it runs already."""

    path: str
    resource: model.Resource
    has_own_id: bool
    running: tuple[Running, ...] = ()

    @property
    def name(self) -> str:
        return self.resource.name


class Set(msgspec.Struct, frozen=True):
    provider: str
    items: list[SetItem]


def read(body: object, workspace: str) -> Set:
    """Every problem of every resource at once."""
    given = documents.read(bodies.ResourceSetInput, body)
    plain, running = adopting.split(given.resources)
    by_name: dict[str, list[Running]] = {}
    for run in running:
        by_name.setdefault(run.resource, []).append(run)
    problems: list[Problem] = []
    items_by_name: dict[str, SetItem] = {}
    owners: dict[str, str] = {}
    for index, document in enumerate(plain):
        if len(problems) >= documents.MOST_PROBLEMS:
            break
        path = documents.item_path("resources", index)
        try:
            parsed = objects.parse(kinds.RESOURCE.name, document, workspace)
        except Rejected as rejected:
            problems.extend(Problem(below(path)(one.path), one.message) for one in rejected.problems)
            continue
        assert isinstance(parsed.object, model.Resource)
        name = parsed.object.name
        if name in items_by_name:
            problems.append(Problem(f"{path}.name", f"is {name!r}, as in an item before"))
        if parsed.has_own_id and owners.setdefault(parsed.object.id, name) != name:
            problems.append(Problem(f"{path}.id", f"is {parsed.object.id}, as in {owners[parsed.object.id]}"))
        owned = _owned(parsed.object, given.provider)
        items_by_name[name] = SetItem(path, owned, parsed.has_own_id, tuple(by_name.get(name, ())))
    problems += [
        Problem(f"{item.path}.name", f"is {item.name!r}, which is the id of {owner}")
        for item in items_by_name.values()
        if (owner := owners.get(item.name.lower(), item.name)) != item.name
    ]
    if problems:
        raise Rejected(problems)
    return Set(given.provider, list(items_by_name.values()))


def _owned(resource: model.Resource, provider: str) -> model.Resource:
    return msgspec.structs.replace(resource, metadata={**resource.metadata, PROVIDER_KEY: provider})


async def put(call: Request, wanted: Set) -> Reply:
    """In one transaction if it is small; else in steps, after all of it was checked."""
    name, busy = (
        f"set/{call.workspace}/{wanted.provider}",
        f"a set of the provider {wanted.provider} is being put",
    )
    async with stepping.alone(call, name, busy) as held, stepping.keyed(call) as key:
        names = frozenset(item.name for item in wanted.items)
        gone = await replies.ask(call, partial(_gone, wanted.provider, names))
        if len(wanted.items) + len(gone) <= stepping.STEP:
            return await stepping.last(call, partial(_replace, call, wanted))
        known = await stepping.known_answer(call)
        if known is not None:
            return known
        await _check(call, wanted, frozenset(gone))
        result = await _put_in_steps(call, wanted, gone, [one for one in (held, key) if one is not None])
        reply = await asyncio.to_thread(_reply, result)
        return await stepping.last(call, lambda context: reply)


def _gone(provider: str, wanted: frozenset[str], view: EngineView) -> list[str]:
    return [
        resource.name
        for resource in lookup.all_of(view.engine, kinds.RESOURCE)
        if resource.metadata.get(PROVIDER_KEY) == provider and resource.name not in wanted
    ]


def _reply(result: Result) -> Reply:
    return replies.reply(200, {key: sorted(names) for key, names in msgspec.structs.asdict(result).items()})


def _replace(call: Request, wanted: Set, context: CommandContext) -> Reply:
    """Deletes first, so that an identifier can move to a resource of another name."""
    names = frozenset(item.name for item in wanted.items)
    problems = list(_name_problems(context.engine, wanted.provider, wanted.items))
    if problems:
        raise Rejected(problems)
    result = Result([], [], [], [], [])
    for name in _gone(wanted.provider, names, context):
        context.apply(changes.Delete(kinds.RESOURCE.name, name))
        result.deleted.append(name)
    for item in wanted.items:
        _put(call, context, item, result)
    result.adopted = adopting.carry_out(context, [one for item in wanted.items for one in item.running])
    return _reply(result)


def _name_problems(engine: Engine, provider: str, items: Sequence[SetItem]) -> Iterator[Problem]:
    for item in items:
        old = lookup.get(engine, kinds.RESOURCE, item.name)
        owner = old.metadata.get(PROVIDER_KEY) if old is not None else None
        if owner not in (None, provider):
            yield Problem(f"{item.path}.name", f"is {item.name!r}, which belongs to the provider {owner}")
        problem = lookup.name_problem(engine, kinds.RESOURCE, item.name) if old is None else None
        if problem is not None:
            yield Problem(f"{item.path}.name", problem)


def _put(call: Request, context: CommandContext, item: SetItem, result: Result) -> None:
    old = lookup.get(context.engine, kinds.RESOURCE, item.name)
    access.check_fields(call, old, item.resource)
    with renamed(below(item.path)):
        parsed = Parsed(item.resource, item.has_own_id)
        settled_item = settling.settled(context, kinds.RESOURCE, parsed, old, "")
        if old is not None and objects.is_same(old, settled_item):
            result.unchanged.append(item.name)
            return
        with renamed(objects.flat_path):
            context.apply(changes.Put(settled_item))
    (result.created if old is None else result.updated).append(item.name)


async def _check(call: Request, wanted: Set, gone: frozenset[str]) -> None:
    """All that a step could be refused for, before the first of them."""
    before = _Before()
    problems: list[Problem] = []
    for some in stepping.steps(wanted.items, CHECKED_STEP):
        looking = partial(_problems, call, wanted.provider, some, gone, before)
        problems += await replies.ask(call, looking)
        if len(problems) >= documents.MOST_PROBLEMS:
            break
    if problems:
        raise Rejected(problems[: documents.MOST_PROBLEMS])


def _problems(
    call: Request,
    provider: str,
    items: Sequence[SetItem],
    gone: frozenset[str],
    before: _Before,
    view: EngineView,
) -> list[Problem]:
    engine = view.engine
    problems = list(_name_problems(engine, provider, items))
    for item in items:
        old = lookup.get(engine, kinds.RESOURCE, item.name)
        access.check_fields(call, old, item.resource)
        problems += _id_problems(engine, item, old)
        problems += _identifier_problems(engine, item, gone, before)
        for run in item.running:
            owner = lookup.find(engine, kinds.DEPLOYMENT, run.deployment)
            if owner is None:
                problems.append(Problem(run.path, f"there is no deployment {run.deployment!r}"))
            elif versions.of_deployment(engine, owner.name, run.version) is None:
                problems.append(Problem(run.path, f"{owner.name} has no version {run.version!r}"))
    return problems


def _id_problems(engine: Engine, item: SetItem, old: Any) -> Iterator[Problem]:
    if not item.has_own_id:
        return
    id_ = item.resource.id
    if old is not None and id_ != old.id:
        yield Problem(f"{item.path}.id", f"is {id_}, but {old.name} has the id {old.id}; leave it out")
    other = lookup.find(engine, kinds.RESOURCE, id_) if old is None else None
    if other is not None:
        yield Problem(f"{item.path}.id", f"is {id_}, which is the id of {other.name}")


class _Before(msgspec.Struct):
    """The items that were looked at, and the identifiers that they take."""

    names: set[str] = set()
    identifiers: dict[str, str] = {}


def _identifier_problems(
    engine: Engine, item: SetItem, gone: frozenset[str], before: _Before
) -> Iterator[Problem]:
    """Whoever has it may leave, or take another one first."""
    identifier = item.resource.identifier or item.name
    taken = before.identifiers.setdefault(identifier, item.name)
    owner = lookup.owner_of_identifier(engine, identifier) or item.name
    if taken != item.name or (owner != item.name and owner not in gone and owner not in before.names):
        other = taken if taken != item.name else owner
        yield Problem(f"{item.path}.identifier", f"{identifier!r} is the identifier of {other} already")
    before.names.add(item.name)


async def _put_in_steps(
    call: Request, wanted: Set, gone: Sequence[str], held: Sequence[stepping.Held]
) -> Result:
    result = Result([], [], [], [], [])
    leaving = frozenset(gone)
    pace = stepping.Pace()
    try:
        for number, some in enumerate(pace.steps(wanted.items)):
            if number % STEPS_BETWEEN_FREEZES == 0:
                gc.freeze()
            await stepping.keep(held)
            with_pace = pace.timed(partial(_put_some, call, some, leaving))
            _add(result, await _step(call, with_pace))
        for names in pace.steps(gone):
            await stepping.keep(held)
            _add(result, await _step(call, pace.timed(partial(_delete_some, wanted.provider, names))))
    except (Rejected, Refusal) as error:
        done = len(result.created) + len(result.updated) + len(result.unchanged)
        raise stepping.interrupted(error, "resources", done, len(wanted.items)) from None
    return result


async def _step(call: Request, command: Any) -> Result:
    outcome: Result = await call.service.worker_client.submit(
        call.workspace, command, call.caller, alone=True
    )
    return outcome


def _put_some(
    call: Request, items: Sequence[SetItem], leaving: frozenset[str], context: CommandContext
) -> Result:
    """What leaves and has an identifier that is needed leaves now."""
    engine = context.engine
    result = Result([], [], [], [], [])
    for item in items:
        owner = lookup.owner_of_identifier(engine, item.resource.identifier or item.name) or item.name
        if owner != item.name and owner in leaving:
            context.apply(changes.Delete(kinds.RESOURCE.name, owner))
            result.deleted.append(owner)
        _put(call, context, item, result)
    result.adopted = adopting.carry_out(context, [one for item in items for one in item.running])
    return result


def _delete_some(provider: str, names: Sequence[str], context: CommandContext) -> Result:
    """Whatever has become of them meanwhile stays as it is."""
    result = Result([], [], [], [], [])
    for name in names:
        old = lookup.get(context.engine, kinds.RESOURCE, name)
        if old is not None and old.metadata.get(PROVIDER_KEY) == provider:
            context.apply(changes.Delete(kinds.RESOURCE.name, name))
            result.deleted.append(name)
    return result


def _add(result: Result, part: Result) -> None:
    for key, names in msgspec.structs.asdict(part).items():
        getattr(result, key).extend(names)


def check_permissions(call: Request, wanted: Set) -> None:
    if any(item.running for item in wanted.items):
        refusals.require(call, "target:adopt", "saying what resources run")
