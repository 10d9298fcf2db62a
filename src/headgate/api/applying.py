"""What apply, diff and plan have in common: manifests to objects, objects to the changes that they ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from headgate.api import objects, pruning
from headgate.api.http import access, refusals
from headgate.api.http.calls import Refusal, Request
from headgate.fleet.engine import differences, manifests
from headgate.fleet.engine.differences import Difference
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object, Put
from headgate.kernel import documents, identifiers
from headgate.kernel.problems import Problem, Rejected, below, renamed

MOST_MANIFESTS = 100_000
_PROVISIONAL_IDS = identifiers.NamedIds("provisional")


class Manifest(msgspec.Struct, frozen=True):
    """One of the request, under the path that problems name it by."""

    path: str
    object: Object
    has_own_id: bool


class Compared(msgspec.Struct, frozen=True):
    manifest: Manifest
    difference: Difference


class Asked(msgspec.Struct, frozen=True):
    manifest: Manifest
    change: Put


async def parse(call: Request) -> list[Manifest]:
    """Every problem of every manifest at once, each with its place in the list."""
    if call.body is not None:
        given = call.body.get("manifests") if isinstance(call.body, dict) else None
        documents_given = list(given) if isinstance(given, list) else []
        return await asyncio.to_thread(parse_all, documents_given, call.workspace)
    return await asyncio.to_thread(_parse_text, call.raw_body, call.workspace)


def _parse_text(body: bytes, workspace: str) -> list[Manifest]:
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Refusal(400, "The body cannot be read", f"it is not UTF-8 at byte {error.start + 1}") from None
    documents_read = [one for one in manifests.read_documents(text, source="") if one.value is not None]
    return parse_all(documents_read, workspace)


def parse_all(given: Sequence[Any], workspace: str, path: str = "manifests") -> list[Manifest]:
    if len(given) > MOST_MANIFESTS:
        raise Rejected([Problem(path, f"has {len(given)} items; allowed are {MOST_MANIFESTS}")])
    problems: list[Problem] = []
    parsed: list[Manifest] = []
    for index, document in enumerate(given):
        if len(problems) >= documents.MOST_PROBLEMS:
            break
        place = documents.item_path(path, index)
        try:
            parsed.append(_parse_one(document, place, workspace))
        except Rejected as rejected:
            problems.extend(Problem(below(place)(one.path), one.message) for one in rejected.problems)
    problems.extend(_repeated(parsed))
    if problems:
        raise Rejected(problems)
    return parsed


def _parse_one(document: Any, path: str, workspace: str) -> Manifest:
    parsed = manifests.parse(document, _PROVISIONAL_IDS, 0)
    if isinstance(parsed, manifests.ForeignObject):
        message = f"is {parsed.api_version}; a {parsed.kind} is applied to a cluster, not here"
        raise Rejected([Problem("apiVersion", message)])
    value = document.value if isinstance(document, manifests.TextDocument) else document
    metadata = value.get("metadata", value) if "kind" in value else value
    metadata = metadata if isinstance(metadata, dict) else {}
    named = metadata.get("workspace")
    if named is not None and named != workspace:
        message = f"is {documents.describe(named)}; this request is for the workspace {workspace!r}"
        raise Rejected([Problem("metadata.workspace", message)])
    owned = msgspec.structs.replace(parsed, workspace=workspace)
    return Manifest(path, owned, metadata.get("id") is not None)


def _repeated(parsed: Sequence[Manifest]) -> Iterator[Problem]:
    seen: dict[tuple[str, str], str] = {}
    for manifest in parsed:
        kind, name = kinds.of(manifest.object).name, kinds.name_of(manifest.object)
        first = seen.setdefault((kind, name), manifest.path)
        if first != manifest.path:
            yield Problem(manifest.path, f"is {kind} {name}, as in {first}")


def check_permissions(call: Request, parsed: Sequence[Manifest]) -> None:
    """Each kind needs the permission that its own collection needs."""
    for kind in {kinds.of(one.object): one for one in parsed}:
        refusals.require(call, kind.permission, f"applying {kind.any_one}")


def check_fields(call: Request, engine: Engine, wanted: Sequence[Manifest]) -> None:
    """What a field needs follows from what is there: to take a scope away is to reach more than was allowed before."""
    for manifest in wanted:
        access.check_fields(
            call, lookup.replaced_by(engine, manifest.object), manifest.object, has_own_id=manifest.has_own_id
        )


def settled(
    engine: Engine, parsed: Sequence[Manifest], user: str, set_name: str | None = None
) -> list[Manifest]:
    """With the ids they keep: of an object that is there its own, of another one that it will have."""
    problems: list[Problem] = []
    ready = []
    own = {
        (kinds.of(one.object).name, one.object.id): kinds.name_of(one.object)
        for one in reversed(parsed)
        if one.has_own_id
    }
    for manifest in parsed:
        kind = kinds.of(manifest.object)
        old = lookup.replaced_by(engine, manifest.object)
        problem = _id_problem(engine, kind, manifest, old) or _problem_beside_others(kind, manifest, own)
        if problem is not None:
            problems.append(Problem(f"{manifest.path}.metadata.id", problem))
        problem = lookup.name_problem(engine, kind, manifest.object.name) if old is None else None
        if problem is not None:
            problems.append(Problem(f"{manifest.path}.metadata.name", problem))
        item = objects.signed(manifest.object, old, user)
        try:
            with at(manifest):
                item = pruning.in_set(item, old, set_name)
        except Rejected as rejected:
            problems += rejected.problems
        if old is not None:
            item = objects.with_id(item, old.id)
        elif not manifest.has_own_id:
            item = objects.with_id(item, engine.new_id(kind.name, kinds.name_of(item)))
        ready.append(msgspec.structs.replace(manifest, object=item))
    if problems:
        raise Rejected(problems)
    return ready


def _problem_beside_others(
    kind: kinds.Kind, manifest: Manifest, own: Mapping[tuple[str, str], str]
) -> str | None:
    """`own` are the ids that the manifests bring, each with the name of the first that does."""
    name = kinds.name_of(manifest.object)
    first = own.get((kind.name, manifest.object.id), name) if manifest.has_own_id else name
    return f"is {manifest.object.id}, as in {first}" if first != name else None


def _id_problem(engine: Engine, kind: kinds.Kind, manifest: Manifest, old: Object | None) -> str | None:
    if not manifest.has_own_id:
        return None
    id_ = manifest.object.id
    if old is not None:
        return f"is {id_}, but {old.name} has the id {old.id}; leave it out" if id_ != old.id else None
    other = lookup.find(engine, kind, id_)
    return f"is {id_}, which is the id of {other.name}" if other is not None else None


def check_references(engine: Engine, wanted: Sequence[Manifest]) -> None:
    """What would be refused on the way, said before anything is applied: going back is costly."""
    brought = {one.object.name for one in wanted if isinstance(one.object, model.Deployment)}
    brought |= {one.object.id for one in wanted if isinstance(one.object, model.Deployment)}
    problems = [
        Problem(f"{one.path}.spec.deployment", f"there is no deployment {one.object.deployment!r}")
        for one in wanted
        if isinstance(one.object, model.Version)
        and one.object.deployment not in brought
        and lookup.find(engine, kinds.DEPLOYMENT, one.object.deployment) is None
    ]
    if problems:
        raise Rejected(problems)


def compare(engine: Engine, wanted: Sequence[Manifest]) -> list[Compared]:
    compared = differences.compare(engine, [one.object for one in wanted])
    return [Compared(one, difference) for one, difference in zip(wanted, compared, strict=True)]


def in_order(parsed: Sequence[Manifest]) -> list[Manifest]:
    """In which every reference is there when it is needed."""
    return sorted(parsed, key=lambda manifest: kinds.of(manifest.object).rank)


def changes_of(compared: Sequence[Compared]) -> list[Asked]:
    """What is to be put, in an order in which every reference is there when it is needed."""
    changed = [one.manifest for one in compared if one.difference.action != "unchanged"]
    return [Asked(one, Put(one.object)) for one in in_order(changed)]


def at(manifest: Manifest) -> AbstractContextManager[None]:
    """What the engine refuses is named by the manifest that asked for it."""
    return renamed(below(manifest.path))
