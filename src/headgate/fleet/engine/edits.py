"""Edits of a version's content: what people allowed was the content that they saw, and ends when it is another."""

from __future__ import annotations

import msgspec

from headgate.fleet.model import objects as model
from headgate.fleet.state import skips, votes
from headgate.fleet.state.state import State

_CONTENT = ("config", "job_agent_config", "target_selector", "dependencies")
_canonical = msgspec.json.Encoder(order="deterministic").encode


def settle(state: State, old: model.Version, new: model.Version) -> None:
    """After the edit. A no stays, and whoever has to say yes is asked again."""
    edited = [
        field for field in _CONTENT if _canonical(getattr(old, field)) != _canonical(getattr(new, field))
    ]
    if not edited:
        return
    state.tell_again_of(new.id)
    names = {field.name: field.encode_name for field in msgspec.structs.fields(model.Version)}
    why = f"{new.deployment} {new.tag} is another than before ({', '.join(names[field] for field in edited)})"
    _end_approvals(state, new, why)
    _end_skips(state, new, why)


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
