"""From the references in paths and bodies, each an id or a name, to what they name. Runs where the state may be read."""

from __future__ import annotations

from headgate.api import orderings, refusals
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, Target, VersionNode
from headgate.kernel import identifiers


def find(state: State, kind: Kind, reference: str) -> Object | None:
    """A name wins over an id that is spelled the same."""
    known = state.kept(kind)
    name = reference if reference in known else _name_of_id(state, kind, reference)
    return None if name is None else kinds.object_of(known[name])


def _name_of_id(state: State, kind: Kind, reference: str) -> str | None:
    if not identifiers.is_uuid(reference):
        return None
    table = state.kept(kind)
    return orderings.of(state, kind.name, table).name_of_id(
        table, reference.lower(), lambda node: kinds.object_of(node).id
    )


def name_flaw(state: State, kind: Kind, name: str) -> str | None:
    """Why nothing new may have the name: whoever refers to another object by its id would get this one."""
    other = _name_of_id(state, kind, name) if kind is not kinds.VERSION else None
    return f"is {name!r}, which is the id of {other}; give it another name" if other is not None else None


def required(state: State, kind: Kind, reference: str) -> Object:
    found = find(state, kind, reference)
    if found is None:
        raise refusals.not_found(kind.singular, reference, state.kept(kind).keys())
    return found


def deployment(state: State, reference: str) -> DeploymentNode:
    found = state.deployments.get(reference)
    return found if found is not None else state.deployments[name(state, kinds.DEPLOYMENT, reference)]


def name(state: State, kind: Kind, reference: str) -> str:
    return required(state, kind, reference).name


def name_or_same(state: State, kind: Kind, reference: str) -> str:
    """For filters: what names nothing matches nothing."""
    found = find(state, kind, reference)
    return reference if found is None else found.name


def version(state: State, reference: str) -> VersionNode:
    """By id, or as `deployment/tag`."""
    found = state.versions.get(reference.lower())
    if found is None:
        owner, slash, tag = reference.partition("/")
        named = find(state, kinds.DEPLOYMENT, owner) if slash else None
        found = state.deployments[named.name].version(tag) if named is not None else None
    if found is None:
        raise refusals.not_found("version", reference)
    return found


def version_of(state: State, owner: str, reference: str) -> VersionNode:
    """By id or tag, within its deployment."""
    node = deployment(state, owner)
    found = node.version(reference)
    if found is None:
        raise refusals.not_found(f"version of {node.name}", reference, [one.tag for one in node.versions])
    return found


def target(state: State, reference: str) -> Target:
    """`deployment/environment/resource`, each by id or name."""
    found = state.targets.get(reference)
    if found is not None:
        return found
    parts = reference.split("/")
    if len(parts) == 3:
        tables = (kinds.DEPLOYMENT, kinds.ENVIRONMENT, kinds.RESOURCE)
        named = [find(state, kind, part) for kind, part in zip(tables, parts)]
        found = state.targets.get("/".join(one.name if one is not None else "" for one in named))
    if found is None:
        raise refusals.not_found("release target", reference, state.targets.keys())
    return found
