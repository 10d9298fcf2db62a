"""A policy in words: whom it binds, and one sentence a rule, which the rule's own file says."""

from __future__ import annotations

import msgspec

from headgate.fleet import rules
from headgate.fleet.model import objects as model


class RuleInWords(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: str
    kind: str
    text: str


class PolicyInWords(msgspec.Struct, frozen=True, rename="camel"):
    """`text` says whom it binds."""

    policy: str
    text: str
    rules: tuple[RuleInWords, ...]


def of_policy(policy: model.Policy) -> PolicyInWords:
    sentences = tuple(
        RuleInWords(rule.id, rule.label, rule.kind, rules.in_words(rule)) for rule in policy.rules
    )
    return PolicyInWords(policy.name, _whom(policy), sentences)


def _whom(policy: model.Policy) -> str:
    whom = f"targets with `{policy.selector}`" if policy.selector else "all targets"
    return f"It binds {whom}." if policy.enabled else f"It is switched off; it would bind {whom}."
