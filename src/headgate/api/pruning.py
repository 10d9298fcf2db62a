"""Sets of manifests that are applied together under a name, and what is removed: what a set had and no longer has, and
what a diff or a plan is asked about.

Which set an object is in stands in its metadata, where everybody sees it and every copy of the object has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from headgate.api import bodies, deletions, finding
from headgate.api.calls import Request
from headgate.fleet.engine import deleting, differences
from headgate.fleet.engine.differences import Difference
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Delete, Object
from headgate.fleet.model.kinds import Kind
from headgate.fleet.state.state import State
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


def in_set(thing: Object, old: Object | None, wanted: str | None) -> Object:
    """An object stays in the set it is in, whoever writes it. Raises Rejected if it is in another one."""
    held = old.metadata.get(SET_KEY) if old is not None else None
    name = wanted or held
    if held is not None and wanted not in (None, held):
        raise Rejected([Problem("metadata", f"{kinds.name_of(thing)} belongs to the set {held}")])
    if name is None or thing.metadata.get(SET_KEY) == name:
        return thing
    return msgspec.structs.replace(thing, metadata={**thing.metadata, SET_KEY: name})


def removals(state: State, given: bodies.Wish, wanted: Iterable[Object]) -> list[ObjectRemoval]:
    """In an order in which nothing is needed any more by the time it goes."""
    stays = {(kinds.of(thing).name, kinds.name_of(thing)) for thing in wanted}
    found = {(one.kind.name, one.name): one for one in _named(state, given.deletions)}
    if given.prune:
        found |= {
            (one.kind.name, one.name): one
            for one in _members(state, given.set or "")
            if (one.kind.name, one.name) not in stays
        }
    leaving = {name for kind, name in found if kind == kinds.DEPLOYMENT.name}
    chosen = [
        one
        for one in found.values()
        if not (isinstance(one.object, model.Version) and one.object.deployment in leaving)
    ]
    return sorted(chosen, key=lambda one: (-one.kind.rank, _is_depended_on(state, one), one.name))


def _is_depended_on(state: State, one: ObjectRemoval) -> bool:
    return (
        one.kind is kinds.DEPLOYMENT and deleting.dependents(state, state.deployments[one.name]) is not None
    )


def _members(state: State, name: str) -> Iterator[ObjectRemoval]:
    for kind in kinds.ALL:
        for thing in map(kinds.object_of, state.kept(kind).values()):
            if thing.metadata.get(SET_KEY) == name:
                yield ObjectRemoval(kind, thing, _why_kept(state, kind, thing))


def _why_kept(state: State, kind: Kind, thing: Object) -> str | None:
    """A version that still runs goes with a later apply, when another one has taken its place."""
    return deleting.users_of_version(state, state.versions[thing.id]) if kind is kinds.VERSION else None


def _named(state: State, wanted: Sequence[bodies.DeletionInput]) -> Iterator[ObjectRemoval]:
    problems: list[Problem] = []
    for index, one in enumerate(wanted):
        kind = kinds.BY_NAME[one.kind]
        thing = _find(state, kind, one.name)
        if thing is None:
            place = documents.item_path("deletions", index)
            problems.append(Problem(f"{place}.name", f"there is no {kind.singular} {one.name[:300]!r}"))
        else:
            yield ObjectRemoval(kind, thing)
    if problems:
        raise Rejected(problems)


def _find(state: State, kind: Kind, name: str) -> Object | None:
    if kind is not kinds.VERSION:
        return finding.find(state, kind, name)
    owner, _, tag = name.partition("/")
    node = state.deployments.get(owner)
    version = node.version(tag) if node is not None else None
    return version.object if version is not None else None


def check_removals(call: Request, state: State, found: Sequence[ObjectRemoval], *, confirm: bool) -> None:
    """As if each of them was deleted by itself."""
    going = [one for one in found if one.kept is None]
    for one in going:
        deletions.check_permission(call, state, one.kind, one.object)
    asks = [
        sentence
        for one in going
        if (sentence := deletions.of(state, one.kind, one.object, one.name).asks) is not None
    ]
    if asks and not confirm:
        more = f"; and {len(asks) - ASKED_AT_ONCE} more" if len(asks) > ASKED_AT_ONCE else ""
        raise deletions.unconfirmed("; ".join(asks[:ASKED_AT_ONCE]) + more)
