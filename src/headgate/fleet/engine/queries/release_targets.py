"""Release targets: which there are, how each of them is, and what it is given."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from headgate.fleet.engine import orderings, target_states
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.orderings import Key, KeyRange
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model import kinds, records
from headgate.fleet.model.objects import TargetState, Version
from headgate.fleet.state import candidates, variables
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant

PARTS = (kinds.DEPLOYMENT, kinds.ENVIRONMENT, kinds.RESOURCE)
"""What the name of a target is made of, in this order."""


class TargetParts(msgspec.Struct, frozen=True):
    """A target by its name, and by the names of what it is made of."""

    name: str
    deployment: str
    environment: str
    resource: str


class TargetStatus(TargetParts, frozen=True):
    """Where a target is: its state in one word, the tag that runs there, and the job that lives."""

    state: TargetState
    current: str | None
    job: records.Job | None


Matched = tuple[TargetStatus, Mapping[str, Any] | None]
"""How a target is, and what a selector reads of it if that was asked for."""


class TargetFilter(msgspec.Struct, frozen=True):
    """Which targets are listed; all without one of them. Parts are names, `version` is one whose scope they are in."""

    deployment: str | None = None
    environment: str | None = None
    resource: str | None = None
    version: Version | None = None
    state: str | None = None

    @property
    def has_parts(self) -> bool:
        return (self.deployment, self.environment, self.resource) != (None, None, None)


def names(engine: Engine) -> Collection[str]:
    return engine.state.targets.keys()


def get(engine: Engine, name: str) -> TargetParts | None:
    target = engine.state.targets.get(name)
    return None if target is None else _parts_of(target)


def find(engine: Engine, reference: str) -> TargetParts | None:
    """`deployment/environment/resource`, each by id or name."""
    target = get(engine, reference)
    parts = reference.split("/")
    if target is not None or len(parts) != len(PARTS):
        return target
    named = [lookup.find(engine, kind, part) for kind, part in zip(PARTS, parts)]
    return get(engine, "/".join(one.name if one is not None else "" for one in named))


def _parts_of(target: Target) -> TargetParts:
    return TargetParts(target.name, target.deployment.name, target.environment.name, target.resource.name)


def status(engine: Engine, name: str, now: Instant) -> TargetStatus:
    return _status_of(engine, engine.state.targets[name], now)


def _status_of(engine: Engine, target: Target, now: Instant) -> TargetStatus:
    state, record = engine.state, target.record
    current = state.version(record.deployed)
    return TargetStatus(
        target.name,
        target.deployment.name,
        target.environment.name,
        target.resource.name,
        target_states.of_target(state, target, now),
        None if current is None else current.tag,
        state.jobs.get(record.job or ""),
    )


def record(engine: Engine, name: str) -> records.TargetRecord:
    """What is remembered of it."""
    return engine.state.targets[name].record


def variables_of(engine: Engine, name: str) -> tuple[tuple[str, variables.Sourced], ...]:
    """What a release of it would be given, each value with who has set it."""
    return variables.resolve_with_sources(engine.state, engine.state.targets[name])


def listed(
    engine: Engine, wanted: TargetFilter, range_: KeyRange, now: Instant, *, is_read: bool
) -> list[tuple[Key, Matched | None]]:
    """As many as the range counts. None for those that only their scope or state leaves out, which takes a look at each:
    whoever goes on behind the last one need not look at them again. `is_read` is whether a selector will read them."""
    state = engine.state
    scope = None if wanted.version is None else state.versions[wanted.version.id]
    keys = _keys(engine, wanted)
    has_parts = wanted.has_parts
    rows: list[tuple[Key, Matched | None]] = []
    for key in msgspec.structs.replace(range_, count=len(keys)).of(keys):
        target = state.targets[key[0]]
        if has_parts and not _is_made_of(target, wanted):
            continue
        is_in_scope = scope is None or candidates.in_scope(scope, target)
        row = _status_of(engine, target, now) if is_in_scope else None
        if row is None or wanted.state not in (None, row.state):
            rows.append((key, None))
        else:
            rows.append((key, (row, target.bindings() if is_read else None)))
        if len(rows) == range_.count:
            break
    return rows


def _keys(engine: Engine, wanted: TargetFilter) -> list[Key]:
    """A superset of what the filter leaves, sorted. Names of targets begin with their deployment's."""
    state = engine.state
    if wanted.resource is not None:
        node = state.resources.get(wanted.resource)
        return sorted((name,) for name in node.targets) if node is not None else []
    ordering = orderings.of(engine.orderings, "target", state.targets)
    keys = ordering.keys(state.targets, orderings.NAME, lambda _: 0)
    if wanted.deployment is None:
        return keys
    first = bisect.bisect_left(keys, (f"{wanted.deployment}/",))
    return keys[first : bisect.bisect_left(keys, (f"{wanted.deployment}{chr(ord('/') + 1)}",))]


def _is_made_of(target: Target, wanted: TargetFilter) -> bool:
    return (
        wanted.deployment in (None, target.deployment.name)
        and wanted.environment in (None, target.environment.name)
        and wanted.resource in (None, target.resource.name)
    )


def of_deployment(
    engine: Engine, deployment: str, environment: str | None = None, version: Version | None = None
) -> list[str]:
    """By name; in one environment or in all, and in the scope of the version if one is given."""
    scope = None if version is None else engine.state.versions[version.id]
    return sorted(target.name for target in _of_deployment(engine, deployment, environment, scope))


def _of_deployment(
    engine: Engine, deployment: str, environment: str | None, scope: VersionNode | None
) -> Iterator[Target]:
    for stage, pair in engine.state.deployments[deployment].pairs.items():
        if environment in (None, stage):
            for target in pair.targets.values():
                if scope is None or candidates.in_scope(scope, target):
                    yield target


def on_resource(engine: Engine, resource: str, deployment: str) -> list[TargetParts]:
    """Those of one deployment, in whichever environments."""
    targets = engine.state.resources[resource].targets.values()
    return [_parts_of(target) for target in targets if target.deployment.name == deployment]


def is_untouched(engine: Engine, name: str) -> bool:
    """Nothing is known to run there, and nothing is being brought there."""
    known = record(engine, name)
    return known.deployed is None and known.job is None
