"""A policy and its rules as rows: the document, and the tables of the source documents beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headgate.fleet import rules
from headgate.fleet.engine import snapshot
from headgate.fleet.model import objects as model
from headgate.fleet.state.state import State

if TYPE_CHECKING:
    from headgate.runtime.rows import Changes

_BY_POLICY = ("workspace", "policy_id")
_RULE_TABLES = (
    "policy_rule",
    "policy_rule_deployment_bracket",
    "policy_rule_resource_concurrency",
    "policy_rule_deployment_dependency",
)


def policy(state: State, changes: Changes, name: str) -> None:
    """Rules that a policy no longer has go with the old rows: its id stays, so all are written anew."""
    node = state.policies.get(name)
    if node is None:
        changes.delete("policy", state.workspace, name)
        return
    put_policy = node.object
    changes.put(
        "policy",
        (
            state.workspace,
            put_policy.name,
            put_policy.id,
            put_policy.created_at,
            put_policy.updated_at,
            msgspec.json.encode(msgspec.to_builtins(put_policy)),
            put_policy.selector,
            put_policy.priority,
            put_policy.enabled,
        ),
    )
    for table in _RULE_TABLES:
        changes.delete(table, state.workspace, put_policy.id, columns=_BY_POLICY)
    for rule in put_policy.rules:
        _rule(state, changes, put_policy, rule)


def gone(state: State, changes: Changes, policy_id: str) -> None:
    if all(node.object.id != policy_id for node in state.policies.values()):
        for table in _RULE_TABLES:
            changes.delete(table, state.workspace, policy_id, columns=_BY_POLICY)


def _rule(state: State, changes: Changes, owner: model.Policy, rule: model.Rule) -> None:
    created_at = owner.updated_at or owner.created_at
    head = (rule.id, state.workspace, owner.id)
    changes.put(
        "policy_rule",
        (*head, rule.index, rule.kind, rule.name, msgspec.json.encode(rules.write_rule(rule))),
    )
    spec = rule.spec
    if rule.kind == "deploymentBracket":
        changes.put(
            "policy_rule_deployment_bracket",
            (
                *head,
                spec.deployment_selector,
                spec.readiness_mode,
                spec.readiness_window_seconds,
                spec.unchanged_member_strategy,
                spec.overlap_strategy,
                created_at,
            ),
        )
    elif rule.kind == "resourceConcurrency":
        changes.put(
            "policy_rule_resource_concurrency",
            (*head, spec.group_selector, spec.limit_type, spec.limit_value, created_at),
        )
    elif rule.kind == "deploymentDependency":
        changes.put(
            "policy_rule_deployment_dependency",
            (*head, spec.depends_on, spec.applies_to, created_at),
        )


def retired(state: State, changes: Changes) -> None:
    """Policies that are gone or were replaced while a cycle of their bracket has not ended."""
    changes.delete("policy_retired", state.workspace, columns=("workspace",))
    for rule_id, retired_rule in snapshot.retired(state).items():
        document = msgspec.json.encode(msgspec.to_builtins(retired_rule))
        changes.put("policy_retired", (state.workspace, rule_id, document))
