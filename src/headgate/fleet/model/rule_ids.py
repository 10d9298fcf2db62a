"""Ids of rules: given, kept from what the policy was before, or made from the policy's id and the rule's name or index."""

import itertools
from collections.abc import Callable, Container

import msgspec

from headgate.fleet.model import objects as model
from headgate.kernel import identifiers


def not_given(policy_id: str, name: str | None, index: int) -> str:
    """Stands for the id of a rule that was written without one, until it is known what the policy was before. Nobody can
    have been given it, so a given id is never taken for it."""
    return identifiers.derive(
        "a rule without an id", policy_id, *(("name", name) if name else ("", str(index)))
    )


def moved(rule: model.Rule, policy_id: str, to: str) -> model.Rule:
    """The same in a policy that gets another id."""
    if rule.id != not_given(policy_id, rule.name, rule.index):
        return rule
    return msgspec.structs.replace(rule, id=not_given(to, rule.name, rule.index))


def settled(policy: model.Policy, old: model.Policy | None) -> tuple[model.Rule, ...]:
    """The rules with the ids that they are kept by. In a policy that is put again each has the id that it had: skips, groups,
    slots, stopped lines and measurements go by them, and a rule that only stands at another index, or has got a name, is the
    same rule.

    It is known again by its id if that is given, else by its name, else by all that it says; of the others that have no
    name, the first of a kind is the edited first of that kind, and so on.
    """
    ids: dict[int, str] = {
        rule.index: rule.id for rule in policy.rules if rule.id != not_given(policy.id, rule.name, rule.index)
    }
    before = old.rules if old is not None else ()
    left = [rule for rule in before if rule.id not in ids.values()]

    def match(is_same: Callable[[model.Rule, model.Rule], bool]) -> None:
        for rule in policy.rules:
            known = next((one for one in left if rule.index not in ids and is_same(one, rule)), None)
            if known is not None:
                ids[rule.index] = known.id
                left.remove(known)

    match(lambda earlier, rule: rule.name is not None and earlier.name == rule.name)
    match(lambda earlier, rule: earlier.index == rule.index and _says_the_same(earlier, rule))
    match(_says_the_same)
    match(lambda earlier, rule: earlier.name is None and rule.name is None and earlier.kind == rule.kind)
    for rule in policy.rules:
        if rule.index not in ids:
            label = rule.name if rule.name is not None else str(rule.index)
            taken = {*ids.values(), *(one.id for one in before)}
            ids[rule.index] = _free(old.id if old is not None else policy.id, label, taken)
    return tuple(msgspec.structs.replace(rule, id=ids[rule.index]) for rule in policy.rules)


def _says_the_same(earlier: model.Rule, rule: model.Rule) -> bool:
    return (earlier.kind, earlier.spec) == (rule.kind, rule.spec)


def _free(policy_id: str, label: str, taken: Container[str]) -> str:
    """The default id of a rule, or one like it if that is another rule's, or was until now: what is known of that one is not
    about this."""
    labels = itertools.chain((label,), (f"{label} {number}" for number in itertools.count(2)))
    return next(made for made in (identifiers.derive(policy_id, one) for one in labels) if made not in taken)
