"""What resources run when their provider hands them in: recorded with them, before anything is decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, release_targets, versions
from headgate.fleet.engine.queries.release_targets import TargetParts
from headgate.fleet.model import changes, kinds
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext

CURRENT = "current"


class Running(msgspec.Struct, frozen=True):
    """One entry of a `current`: a resource, and the version of a deployment that it runs."""

    path: str
    resource: str
    deployment: str
    version: str


def split(resources: Sequence[Any]) -> tuple[list[Any], list[Running]]:
    """The resources as documents of their kind, and what they run. Raises Rejected."""
    plain: list[Any] = []
    adopted: list[Running] = []
    problems: list[Problem] = []
    for index, body in enumerate(resources):
        if not isinstance(body, dict) or CURRENT not in body:
            plain.append(body)
            continue
        plain.append({key: value for key, value in body.items() if key != CURRENT})
        path = f"{documents.item_path('resources', index)}.{CURRENT}"
        current = documents.read_into(dict[str, str], body[CURRENT], path, problems)
        if isinstance(current, dict):
            name = str(body.get("name", ""))
            adopted += [
                Running(documents.field_path(path, deployment), name, deployment, version)
                for deployment, version in current.items()
            ]
    if problems:
        raise Rejected(problems[: documents.MOST_PROBLEMS])
    return plain, adopted


def carry_out(context: CommandContext, running: Sequence[Running]) -> list[str]:
    """The targets that were adopted: those of which nothing was known. An inventory is often behind what was deployed
    since, so that what it says later is passed over."""
    engine = context.engine
    problems: list[Problem] = []
    wanted: dict[tuple[str, str, str], list[str]] = {}
    for stated_version in running:
        try:
            for target in _targets(engine, stated_version):
                if release_targets.is_untouched(engine, target.name):
                    key = (target.deployment, target.environment, stated_version.version)
                    wanted.setdefault(key, []).append(stated_version.resource)
        except Rejected as rejected:
            problems += rejected.problems
    if problems:
        raise Rejected(problems[: documents.MOST_PROBLEMS])
    user = context.caller.user
    for (deployment, environment, version), resources in wanted.items():
        context.apply(
            changes.TargetsAction(
                "adopt", deployment, environment, to=version, user=user, resources=tuple(sorted(resources))
            )
        )
    return sorted(
        f"{deployment}/{environment}/{name}"
        for (deployment, environment, _), names in wanted.items()
        for name in names
    )


def _targets(engine: Engine, run: Running) -> list[TargetParts]:
    owner = lookup.find(engine, kinds.DEPLOYMENT, run.deployment)
    if owner is None:
        raise Rejected([Problem(run.path, f"there is no deployment {run.deployment!r}")])
    if versions.of_deployment(engine, owner.name, run.version) is None:
        raise Rejected([Problem(run.path, f"{owner.name} has no version {run.version!r}")])
    targets = release_targets.on_resource(engine, run.resource, owner.name)
    if not targets:
        raise Rejected([Problem(run.path, f"{run.resource} is no release target of {owner.name}")])
    return targets
