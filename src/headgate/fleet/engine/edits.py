"""Edits of a version's content: what people allowed was the content that they saw, and ends when it is another.

What jobs have brought somewhere is not edited any more. A redeploy and a way back ask no one again, because what ran was
allowed to: under the same tag they must bring the same.
"""

from __future__ import annotations

import msgspec

from headgate.fleet.model import objects as model
from headgate.fleet.state import skips, votes, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.problems import Problem, Rejected

_BROUGHT = ("config", "job_agent_config")
"""What jobs bring to a target."""
_CONTENT = (*_BROUGHT, "target_selector", "dependencies")
_canonical = msgspec.json.Encoder(order="deterministic").encode
_NAMES = {field.name: field.encode_name for field in msgspec.structs.fields(model.Version)}


def check(state: State, node: VersionNode, new: model.Version) -> None:
    """Before the edit. Raises Rejected for what has run."""
    edited = _differing(_BROUGHT, node.object, new)
    where = _where_it_ran(state, node) if edited else None
    if where is not None:
        why = f"cannot be changed: {new.deployment} {new.tag} has run on {where}; publish another tag"
        raise Rejected(tuple(Problem(f"spec.{_NAMES[field]}", why) for field in edited))


def _where_it_ran(state: State, node: VersionNode) -> str | None:
    """The first by name of the targets that know of it, or of a job of it: everyone who follows the log says the same."""
    known = state.known_of(state.deployments[node.object.deployment])
    names = [target.name for target in known if _has_run(target, node.id)]
    return min(names or [job.target for job in state.jobs.values() if job.version == node.id], default=None)


def _has_run(target: Target, version: str) -> bool:
    record = target.record
    return version in (record.deployed, record.previous, record.rollback_to) or version in record.ran


def _differing(fields: tuple[str, ...], old: model.Version, new: model.Version) -> list[str]:
    return [field for field in fields if _canonical(getattr(old, field)) != _canonical(getattr(new, field))]


def settle(state: State, old: model.Version, new: model.Version) -> None:
    """After the edit. A no stays, and whoever has to say yes is asked again."""
    if old.metadata != new.metadata or old.config != new.config:
        _wake_dependents(state, new)
    edited = _differing(_CONTENT, old, new)
    if not edited:
        return
    if "target_selector" in edited:
        state.ranks_moved()
    state.tell_again_of(new.id)
    why = (
        f"{new.deployment} {new.tag} is another than before ({', '.join(_NAMES[field] for field in edited)})"
    )
    _end_approvals(state, new, why)
    _end_skips(state, new, why)


def _wake_dependents(state: State, version: model.Version) -> None:
    """What other versions need of it may be what it says now: where it runs, they look again."""
    for target in state.known_of(state.deployments[version.deployment]):
        if target.record.deployed == version.id:
            state.waiting.happened(wakes.resource(target.resource.name))


def _end_approvals(state: State, version: model.Version, why: str) -> None:
    ended = votes.end_approvals(state, version.id)
    if ended:
        whose = ", ".join(f"{vote.user} in {vote.environment}" for vote in ended)
        _notify(
            state,
            "approval.ended",
            version,
            f"{why}: approvals have ended: {whose}",
            users=[vote.user for vote in ended],
        )


def _end_skips(state: State, version: model.Version, why: str) -> None:
    ended = skips.end_for_version(state, version.id)
    if ended:
        which = ", ".join(f"that of {skip.policy} by {skip.user or 'an operator'}" for skip in ended)
        _notify(
            state,
            "skip.ended",
            version,
            f"{why}: skips have ended: {which}",
            skips=[skip.id for skip in ended],
        )


def _notify(state: State, type_: str, version: model.Version, message: str, **data: object) -> None:
    name = f"{version.deployment}/{version.tag}"
    state.notify(type_, "Version", name, message, deployment=version.deployment, version=version.tag, **data)
