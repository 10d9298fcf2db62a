"""A rule that is edited, moved or named is the same rule; one that is new is no other."""

from typing import Any

from headgate.fleet import rules
from headgate.fleet.model import objects as model
from headgate.fleet.model import rule_ids
from headgate.kernel import identifiers
from headgate.kernel.problems import Problem

POLICY = identifiers.derive("a policy")
APPROVAL = {"approval": {"minApprovals": 1}}
OTHER_APPROVAL = {"approval": {"minApprovals": 2}}
RETRY = {"retry": {"maxRetries": 1}}


def policy(*documents: dict[str, Any], id_: str = POLICY) -> model.Policy:
    problems: list[Problem] = []
    found = model.Policy(
        id=id_, name="careful", rules=rules.read_rules(list(documents), id_, "rules", problems)
    )
    assert not problems, problems
    return found


def first(*documents: dict[str, Any]) -> model.Policy:
    """As it is kept when it is new."""
    found = policy(*documents)
    return model.Policy(id=POLICY, name="careful", rules=rule_ids.settled(found, None))


def kept(old: model.Policy, *documents: dict[str, Any]) -> list[str]:
    """Ids of the rules after the policy was put again, by whoever does not know its id."""
    written = policy(*documents, id_=identifiers.derive("another id"))
    return [rule.id for rule in rule_ids.settled(written, old)]


def test_a_rule_that_moves_keeps_its_id_and_what_takes_its_place_has_another() -> None:
    old = first(APPROVAL)
    new, moved = kept(old, RETRY, APPROVAL)
    assert moved == old.rules[0].id
    assert new not in (moved, identifiers.derive(POLICY, "0"))


def test_rules_of_one_kind_are_told_apart_by_what_they_say() -> None:
    old = first(APPROVAL, OTHER_APPROVAL)
    assert kept(old, OTHER_APPROVAL, APPROVAL) == [old.rules[1].id, old.rules[0].id]


def test_an_edited_rule_without_a_name_is_the_one_of_its_kind() -> None:
    old = first(RETRY, APPROVAL)
    assert kept(old, OTHER_APPROVAL, RETRY) == [old.rules[1].id, old.rules[0].id]


def test_what_becomes_equal_to_its_neighbour_stays_itself() -> None:
    old = first(APPROVAL, OTHER_APPROVAL)
    assert kept(old, OTHER_APPROVAL, OTHER_APPROVAL) == [rule.id for rule in old.rules]


def test_a_rule_that_gets_a_name_or_loses_it_is_the_same() -> None:
    old = first(APPROVAL)
    named = {"name": "sign-off", **APPROVAL}
    assert kept(old, named) == [old.rules[0].id]
    assert kept(first(named), APPROVAL) == [first(named).rules[0].id]


def test_a_name_counts_for_more_than_what_is_said() -> None:
    old = first({"name": "a", **APPROVAL}, {"name": "b", **OTHER_APPROVAL})
    assert kept(old, {"name": "b", **APPROVAL}, {"name": "a", **OTHER_APPROVAL}) == [
        old.rules[1].id,
        old.rules[0].id,
    ]


def test_what_is_written_again_and_again_keeps_its_ids() -> None:
    old = first(APPROVAL)
    second = rule_ids.settled(policy(RETRY, APPROVAL), old)
    again = kept(model.Policy(id=POLICY, name="careful", rules=second), RETRY, APPROVAL)
    assert again == [rule.id for rule in second]


def test_the_default_id_follows_from_the_policy_and_the_name_or_index() -> None:
    found = first(APPROVAL, {"name": "again", **RETRY})
    assert [rule.id for rule in found.rules] == [
        identifiers.derive(POLICY, "0"),
        identifiers.derive(POLICY, "again"),
    ]


def test_a_new_rule_may_stand_before_one_whose_id_was_exported() -> None:
    exported = {"id": first(APPROVAL).rules[0].id, **APPROVAL}
    new, old = rule_ids.settled(policy(RETRY, exported), first(APPROVAL))
    assert old.id == exported["id"]
    assert new.id != exported["id"]


def test_a_given_id_is_that_rule_whatever_else_has_changed() -> None:
    old = first(APPROVAL, OTHER_APPROVAL)
    a, b = (rule.id for rule in old.rules)
    exchanged = model.Policy(
        id=POLICY,
        name="careful",
        rules=rule_ids.settled(policy({"id": b, **OTHER_APPROVAL}, {"id": a, **APPROVAL}), old),
    )
    assert [rule.id for rule in exchanged.rules] == [b, a]
    edited = {"approval": {"minApprovals": 3}}, {"approval": {"minApprovals": 4}}
    back = rule_ids.settled(policy({"id": a, **edited[0]}, {"id": b, **edited[1]}), exchanged)
    assert [rule.id for rule in back] == [a, b]
