"""Skips of rules: those there are, and what one would be that is asked for."""

from __future__ import annotations

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import PutSkip
from headgate.fleet.model.objects import Skip
from headgate.fleet.state import skips
from headgate.kernel.instants import Instant


def all_of_them(engine: Engine) -> list[Skip]:
    """In the order of their arrival."""
    return list(engine.state.skips.values())


def get(engine: Engine, skip: str) -> Skip | None:
    return engine.state.skips.get(skip.lower())


def newest(engine: Engine) -> Skip:
    return next(reversed(engine.state.skips.values()))


def rule_label(engine: Engine, skip: Skip) -> str | None:
    """What sentences call the rule that it skips; None if its policy has it no longer."""
    policy = engine.state.policies.get(skip.policy)
    rules = policy.rules if policy is not None else ()
    return next((rule.label for rule in rules if rule.id == skip.rule), None)


def asked_for(engine: Engine, change: PutSkip, now: Instant) -> Skip:
    """What the change would make, with no id unless it gives one. Raises Rejected where it would be."""
    return skips.made(engine.state, change, now)
