"""Versions by id or tag, sorted, and the tags of ids."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headgate.fleet.engine import concerns, orderings
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.orderings import Key, KeyRange
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model import kinds
from headgate.fleet.model.objects import Version
from headgate.fleet.state.units import VersionNode

Rows = list[tuple[Key, Version]]


class VersionRoom(msgspec.Struct, frozen=True):
    """Where a version is to be published: in the deployment of this name, under a tag that may be taken."""

    deployment: str
    is_taken: bool


def room_for(engine: Engine, deployment: str, tag: str) -> VersionRoom | None:
    """None where there is no such deployment, by name or id. Every publish asks, so it is one question."""
    node = engine.state.deployments.get(deployment)
    if node is None:
        owner = lookup.find(engine, kinds.DEPLOYMENT, deployment)
        if owner is None:
            return None
        node = engine.state.deployments[owner.name]
    return VersionRoom(node.name, tag in node.tags)


def with_concern(engine: Engine, version_id: str) -> tuple[Version, Concern]:
    """The version as it stands by now, and whom it concerns."""
    node = engine.state.versions[version_id]
    return node.object, concerns.of_version(engine.state, node)


def by_id(engine: Engine, version_id: str | None) -> Version | None:
    return _object_of(engine.state.version(version_id))


def find(engine: Engine, reference: str) -> Version | None:
    """By id, or as `deployment/tag`, the deployment by id or name."""
    node = engine.state.versions.get(reference.lower())
    if node is None:
        owner, slash, tag = reference.partition("/")
        deployment = lookup.find(engine, kinds.DEPLOYMENT, owner) if slash else None
        return None if deployment is None else of_deployment(engine, deployment.name, tag)
    return node.object


def of_deployment(engine: Engine, deployment: str, reference: str) -> Version | None:
    """By tag or id, within the deployment of that name."""
    node = engine.state.deployments.get(deployment)
    return None if node is None else _object_of(node.version(reference))


def _object_of(node: VersionNode | None) -> Version | None:
    return None if node is None else node.object


def tags_of(engine: Engine, deployment: str) -> list[str]:
    """Of all versions that it has, oldest first."""
    return [node.tag for node in engine.state.deployments[deployment].versions]


def tags(engine: Engine, ids: Iterable[str]) -> dict[str, str]:
    """By id, of those that still exist."""
    known = engine.state.versions
    return {id_: known[id_].tag for id_ in ids if id_ in known}


def within(engine: Engine, range_: KeyRange) -> Rows:
    """Of all deployments. Ids are what is unique about them."""
    table = engine.state.versions
    if range_.field == orderings.NAME:
        keys: list[Key] = sorted((_unique_name(node),) for node in table.values())
        return [(key, table[key[0].rpartition("\n")[2]].object) for key in range_.of(keys)]
    ordering = orderings.of(engine.orderings, kinds.VERSION.name, table)
    keys = ordering.keys(table, range_.field, lambda node: node.object.created_at)
    return [(key, table[key[-1]].object) for key in range_.of(keys)]


def of_deployment_within(engine: Engine, deployment: str, range_: KeyRange) -> Rows:
    by_key = {_key(range_, node): node.object for node in engine.state.deployments[deployment].versions}
    return [(key, by_key[key]) for key in range_.of(sorted(by_key))]


def _key(range_: KeyRange, node: VersionNode) -> Key:
    is_by_name = range_.field == orderings.NAME
    return (_unique_name(node),) if is_by_name else (node.object.created_at, node.id)


def _unique_name(node: VersionNode) -> str:
    return f"{node.object.name}\n{node.id}"
