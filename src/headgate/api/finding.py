"""From the references in paths and bodies, each an id or a name, to what they name, or the refusal of what names nothing.
Runs where the engine may be asked."""

from __future__ import annotations

from headgate.api.http import refusals
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, release_targets, versions
from headgate.fleet.engine.queries.release_targets import TargetParts
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind
from headgate.fleet.model.objects import Version


def required(engine: Engine, kind: Kind, reference: str) -> Object:
    item = lookup.find(engine, kind, reference)
    if item is None:
        raise refusals.not_found(kind.singular, reference, lookup.names(engine, kind))
    return item


def name(engine: Engine, kind: Kind, reference: str) -> str:
    return required(engine, kind, reference).name


def name_or_same(engine: Engine, kind: Kind, reference: str) -> str:
    """For filters: what names nothing matches nothing."""
    item = lookup.find(engine, kind, reference)
    return reference if item is None else item.name


def version(engine: Engine, reference: str) -> Version:
    """By id, or as `deployment/tag`."""
    known_version = versions.find(engine, reference)
    if known_version is None:
        raise refusals.not_found("version", reference)
    return known_version


def version_of(engine: Engine, deployment: str, reference: str) -> Version:
    """By id or tag, within its deployment."""
    owner = name(engine, kinds.DEPLOYMENT, deployment)
    known_version = versions.of_deployment(engine, owner, reference)
    if known_version is None:
        raise refusals.not_found(f"version of {owner}", reference, versions.tags_of(engine, owner))
    return known_version


def target(engine: Engine, reference: str) -> TargetParts:
    """`deployment/environment/resource`, each by id or name."""
    known_target = release_targets.find(engine, reference)
    if known_target is None:
        raise refusals.not_found("release target", reference, release_targets.names(engine))
    return known_target
