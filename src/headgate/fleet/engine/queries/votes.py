"""Votes of people on versions in environments."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.objects import CastVote
from headgate.fleet.state import votes


def all_of_them(engine: Engine) -> Iterator[CastVote]:
    """On versions that exist."""
    for (version, _), cast in engine.state.approvals.items():
        if version in engine.state.versions:
            yield from cast.values()


def on(engine: Engine, version: str, environment: str) -> list[CastVote]:
    """On the version of this id in the environment."""
    return list(engine.state.approvals.get((version, environment), {}).values())


def of(engine: Engine, version: str, environment: str, user: str) -> CastVote | None:
    return engine.state.approvals.get((version, environment), {}).get(user)


def vetoes(engine: Engine, version: str) -> list[CastVote]:
    """Votes against it that nobody has withdrawn, in whichever environment."""
    return votes.vetoes(engine.state, version)
