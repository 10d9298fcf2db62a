"""Sets of manifests that are applied together under a name, and what is removed: what a set had and no longer has, and
what a diff or a plan is asked about.

Which set an object is in stands in its metadata, where everybody sees it and every copy of the object has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from headgate.api import deletions
from headgate.api.documents import bodies
from headgate.api.http.calls import Request
from headgate.fleet.engine import differences
from headgate.fleet.engine.differences import Difference
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, removal, versions
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Delete, Object
from headgate.fleet.model.kinds import Kind
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected

SET_KEY = "headgate/set"
ASKED_AT_ONCE = 5


class ObjectRemoval(msgspec.Struct, frozen=True):
    """`kept` says why it stays for now although it should go."""

    kind: Kind
    object: Object
    kept: str | None = None

    @property
    def name(self) -> str:
        return kinds.name_of(self.object)

    def change(self) -> Delete:
        return Delete(self.kind.name, self.name)

    def difference(self) -> Difference:
        return differences.removed(self.object, self.kept)


def check(given: bodies.Wish) -> None:
    if given.prune and given.set is None:
        raise Rejected(
            [Problem("set", "is required with prune: the name of the set that these manifests are")]
        )


def in_set(item: Object, old: Object | None, wanted: str | None) -> Object:
    """An object stays in the set it is in, whoever writes it. Raises Rejected if it is in another one."""
    held = old.metadata.get(SET_KEY) if old is not None else None
    name = wanted or held
    if held is not None and wanted not in (None, held):
        raise Rejected([Problem("metadata", f"{kinds.name_of(item)} belongs to the set {held}")])
    if name is None or item.metadata.get(SET_KEY) == name:
        return item
    return msgspec.structs.replace(item, metadata={**item.metadata, SET_KEY: name})


def removals(engine: Engine, given: bodies.Wish, wanted: Iterable[Object]) -> list[ObjectRemoval]:
    """In an order in which nothing is needed any more by the time it goes."""
    stays = {(kinds.of(item).name, kinds.name_of(item)) for item in wanted}
    chosen_removals = {(one.kind.name, one.name): one for one in _named(engine, given.deletions)}
    if given.prune:
        chosen_removals |= {
            (one.kind.name, one.name): one
            for one in _members(engine, given.set or "")
            if (one.kind.name, one.name) not in stays
        }
    leaving = {name for kind, name in chosen_removals if kind == kinds.DEPLOYMENT.name}
    chosen = [
        one
        for one in chosen_removals.values()
        if not (isinstance(one.object, model.Version) and one.object.deployment in leaving)
    ]
    return sorted(
        chosen,
        key=lambda object_removal: (
            -object_removal.kind.rank,
            _is_depended_on(engine, object_removal),
            object_removal.name,
        ),
    )


def _is_depended_on(engine: Engine, object_removal: ObjectRemoval) -> bool:
    return (
        object_removal.kind is kinds.DEPLOYMENT
        and removal.needed_by(engine, object_removal.kind, object_removal.object) is not None
    )


def _members(engine: Engine, name: str) -> Iterator[ObjectRemoval]:
    for kind in kinds.ALL:
        for item in lookup.all_of(engine, kind):
            if item.metadata.get(SET_KEY) == name:
                yield ObjectRemoval(kind, item, _why_kept(engine, kind, item))


def _why_kept(engine: Engine, kind: Kind, item: Object) -> str | None:
    """A version that still runs goes with a later apply, when another one has taken its place."""
    return removal.needed_by(engine, kind, item) if kind is kinds.VERSION else None


def _named(engine: Engine, wanted: Sequence[bodies.DeletionInput]) -> Iterator[ObjectRemoval]:
    problems: list[Problem] = []
    for index, deletion in enumerate(wanted):
        kind = kinds.BY_NAME[deletion.kind]
        item = _find(engine, kind, deletion.name)
        if item is None:
            place = documents.item_path("deletions", index)
            problems.append(Problem(f"{place}.name", f"there is no {kind.singular} {deletion.name[:300]!r}"))
        else:
            yield ObjectRemoval(kind, item)
    if problems:
        raise Rejected(problems)


def _find(engine: Engine, kind: Kind, name: str) -> Object | None:
    if kind is not kinds.VERSION:
        return lookup.find(engine, kind, name)
    owner, _, tag = name.partition("/")
    return versions.of_deployment(engine, owner, tag)


def check_removals(
    call: Request, engine: Engine, object_removals: Sequence[ObjectRemoval], *, confirm: bool
) -> None:
    """As if each of them was deleted by itself."""
    going = [one for one in object_removals if one.kept is None]
    for object_removal in going:
        deletions.check_permission(call, engine, object_removal.kind, object_removal.object)
    asks = [
        sentence
        for one in going
        if (sentence := deletions.of(engine, one.kind, one.object, one.name).asks) is not None
    ]
    if asks and not confirm:
        more = f"; and {len(asks) - ASKED_AT_ONCE} more" if len(asks) > ASKED_AT_ONCE else ""
        raise deletions.unconfirmed("; ".join(asks[:ASKED_AT_ONCE]) + more)
