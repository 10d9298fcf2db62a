"""Objects by id or name, one or all of a kind; and what a new one may be called."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from headgate.fleet.engine import orderings
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.orderings import Key, KeyRange
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind
from headgate.kernel import identifiers


def get(engine: Engine, kind: Kind, name: str) -> Object | None:
    """By its name, a version by `deployment/tag`."""
    return engine.state.get(kind, name)


def find(engine: Engine, kind: Kind, reference: str) -> Object | None:
    """By name or id; of a version, by id. A name wins over an id that is spelled the same."""
    known = engine.state.kept(kind)
    name = reference if reference in known else _name_of_id(engine, kind, reference)
    return None if name is None else kinds.object_of(known[name])


def _name_of_id(engine: Engine, kind: Kind, reference: str) -> str | None:
    if not identifiers.is_uuid(reference):
        return None
    table = engine.state.kept(kind)
    return orderings.of(engine.orderings, kind.name, table).name_of_id(
        table, reference.lower(), lambda node: kinds.object_of(node).id
    )


def replaced_by(engine: Engine, item: Object) -> Object | None:
    """What is there now in its place. A version may name its deployment by id."""
    if not isinstance(item, model.Version):
        return get(engine, kinds.of(item), item.name)
    owner = find(engine, kinds.DEPLOYMENT, item.deployment)
    return None if owner is None else get(engine, kinds.VERSION, f"{owner.name}/{item.tag}")


def name_problem(engine: Engine, kind: Kind, name: str) -> str | None:
    """Why nothing new may have the name: whoever refers to another object by its id would get this one."""
    other = _name_of_id(engine, kind, name) if kind is not kinds.VERSION else None
    return f"is {name!r}, which is the id of {other}; give it another name" if other is not None else None


def names(engine: Engine, kind: Kind) -> Collection[str]:
    """In the order of their arrival; of versions, ids."""
    return engine.state.kept(kind).keys()


def all_of(engine: Engine, kind: Kind) -> Iterator[Object]:
    """In the order of their arrival."""
    return map(kinds.object_of, engine.state.kept(kind).values())


def everything(engine: Engine) -> list[Object]:
    """Kind by kind, in an order in which what is referred to comes first."""
    return [
        kinds.object_of(node)
        for kind in kinds.APPLY_ORDER
        for _, node in sorted(engine.state.kept(kind).items())
    ]


def within(engine: Engine, kind: Kind, range_: KeyRange) -> list[tuple[Key, Object]]:
    """Objects of a kind, sorted by name or by when they were made."""
    table = engine.state.kept(kind)
    keys = orderings.of(engine.orderings, kind.name, table).keys(
        table, range_.field, lambda node: kinds.object_of(node).created_at
    )
    return [(key, kinds.object_of(table[key[-1]])) for key in range_.of(keys)]


def job_agent(engine: Engine, name: str | None) -> model.JobAgent | None:
    return engine.state.job_agents.get(name or "")


def job_agents(engine: Engine) -> Mapping[str, model.JobAgent]:
    return MappingProxyType(engine.state.job_agents)


def owner_of_identifier(engine: Engine, identifier: str) -> str | None:
    """The name of the resource that has it."""
    return engine.state.identifiers.get(identifier)


def users_of_systems(engine: Engine) -> dict[str, list[str]]:
    """Systems that something names, each with what names it: `deployment web`, `environment prod`."""
    users: dict[str, list[str]] = {}
    for kind in (kinds.DEPLOYMENT, kinds.ENVIRONMENT):
        for item in all_of(engine, kind):
            assert isinstance(item, model.Deployment | model.Environment)
            for name in item.systems:
                users.setdefault(name, []).append(f"{kind.singular} {item.name}")
    return users
