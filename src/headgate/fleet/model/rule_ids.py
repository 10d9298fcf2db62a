"""Ids of rules: given, or made from the policy's id and the rule's name or index."""

import msgspec

from headgate.fleet.model import objects as model
from headgate.kernel import identifiers


def rules_of_kept_policy(policy: model.Policy, kept_id: str) -> tuple[model.Rule, ...]:
    """A policy that is put again keeps its id. Rules whose ids were made from the id it was written with have those
    made from the one it keeps: skips, groups and budgets go by them."""
    return tuple(_kept_rule(rule, policy.id, kept_id) for rule in policy.rules)


def _kept_rule(rule: model.Rule, policy_id: str, kept_id: str) -> model.Rule:
    label = rule.name if rule.name is not None else str(rule.index)
    if rule.id != identifiers.derive(policy_id, label):
        return rule
    return msgspec.structs.replace(rule, id=identifiers.derive(kept_id, label))
