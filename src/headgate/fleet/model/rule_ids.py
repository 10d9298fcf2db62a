"""Ids of rules: given, or made from the policy's id and the rule's name or index."""

import itertools
from collections.abc import Callable, Container

import msgspec

from headgate.fleet.model import objects as model
from headgate.kernel import identifiers


def rules_of_kept_policy(policy: model.Policy, old: model.Policy) -> tuple[model.Rule, ...]:
    """A policy that is put again keeps its id, and each of its rules the id that it had: skips, groups, slots, stopped lines
    and measurements go by them, and a rule that only stands at another index, or has got a name, is the same rule.

    It is known again by its id if that is given, else by its name, else by all that it says; of the others that have no
    name, the first of a kind is the edited first of that kind, and so on.
    """
    ids: dict[int, str] = {
        rule.index: rule.id for rule in policy.rules if rule.id != identifiers.derive(policy.id, _label(rule))
    }
    left = [rule for rule in old.rules if rule.id not in ids.values()]

    def match(is_same: Callable[[model.Rule, model.Rule], bool]) -> None:
        for rule in policy.rules:
            found = next((one for one in left if rule.index not in ids and is_same(one, rule)), None)
            if found is not None:
                ids[rule.index] = found.id
                left.remove(found)

    match(lambda one, rule: rule.name is not None and one.name == rule.name)
    match(lambda one, rule: one.index == rule.index and _says_the_same(one, rule))
    match(_says_the_same)
    match(lambda one, rule: one.name is None and rule.name is None and one.kind == rule.kind)
    for rule in policy.rules:
        if rule.index not in ids:
            ids[rule.index] = free(old.id, _label(rule), {*ids.values(), *(one.id for one in left)})
    return tuple(msgspec.structs.replace(rule, id=ids[rule.index]) for rule in policy.rules)


def _says_the_same(one: model.Rule, rule: model.Rule) -> bool:
    return (one.kind, one.spec) == (rule.kind, rule.spec)


def _label(rule: model.Rule) -> str:
    return rule.name if rule.name is not None else str(rule.index)


def free(policy_id: str, label: str, taken: Container[str]) -> str:
    """The default id of a rule, or one like it if that is another rule's: what is known of that one is not about this."""
    labels = itertools.chain((label,), (f"{label} {number}" for number in itertools.count(2)))
    return next(made for made in (identifiers.derive(policy_id, one) for one in labels) if made not in taken)
