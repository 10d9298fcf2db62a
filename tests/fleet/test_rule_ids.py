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
    found = rules.read_rules(list(documents), id_, "rules", problems)
    assert not problems, problems
    return model.Policy(id=id_, name="careful", rules=found)


def kept(old: model.Policy, *documents: dict[str, Any]) -> list[str]:
    """Ids of the rules after the policy was put again, by whoever does not know its id."""
    written = policy(*documents, id_=identifiers.derive("another id"))
    return [rule.id for rule in rule_ids.rules_of_kept_policy(written, old)]


def test_a_rule_that_moves_keeps_its_id_and_what_takes_its_place_has_another() -> None:
    old = policy(APPROVAL)
    new, moved = kept(old, RETRY, APPROVAL)
    assert moved == old.rules[0].id
    assert new not in (moved, identifiers.derive(POLICY, "0"))


def test_rules_of_one_kind_are_told_apart_by_what_they_say() -> None:
    old = policy(APPROVAL, OTHER_APPROVAL)
    assert kept(old, OTHER_APPROVAL, APPROVAL) == [old.rules[1].id, old.rules[0].id]


def test_an_edited_rule_without_a_name_is_the_one_of_its_kind() -> None:
    old = policy(RETRY, APPROVAL)
    assert kept(old, OTHER_APPROVAL, RETRY) == [old.rules[1].id, old.rules[0].id]


def test_what_becomes_equal_to_its_neighbour_stays_itself() -> None:
    old = policy(APPROVAL, OTHER_APPROVAL)
    assert kept(old, OTHER_APPROVAL, OTHER_APPROVAL) == [rule.id for rule in old.rules]


def test_a_rule_that_gets_a_name_or_loses_it_is_the_same() -> None:
    old = policy(APPROVAL)
    named = {"name": "sign-off", **APPROVAL}
    assert kept(old, named) == [old.rules[0].id]
    assert kept(policy(named), APPROVAL) == [policy(named).rules[0].id]


def test_a_name_counts_for_more_than_what_is_said() -> None:
    old = policy({"name": "a", **APPROVAL}, {"name": "b", **OTHER_APPROVAL})
    assert kept(old, {"name": "b", **APPROVAL}, {"name": "a", **OTHER_APPROVAL}) == [
        old.rules[1].id,
        old.rules[0].id,
    ]


def test_what_is_written_again_and_again_keeps_its_ids() -> None:
    old = policy(APPROVAL)
    first = rule_ids.rules_of_kept_policy(policy(RETRY, APPROVAL), old)
    again = kept(model.Policy(id=POLICY, name="careful", rules=first), RETRY, APPROVAL)
    assert again == [rule.id for rule in first]


def test_a_new_rule_may_stand_before_one_whose_id_was_exported() -> None:
    exported = {"id": policy(APPROVAL).rules[0].id, **APPROVAL}
    found = policy(RETRY, exported)
    assert found.rules[1].id == exported["id"]
    assert found.rules[0].id != exported["id"]
