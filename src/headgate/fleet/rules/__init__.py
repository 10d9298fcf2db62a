"""All rules there are. A rule is one file; to add one, write it and register it here."""

from collections.abc import Callable, Mapping, Sequence

from headgate.fleet.model import objects as model
from headgate.fleet.model import rule_ids
from headgate.fleet.rules import (
    always_on,
    approval,
    deployment_bracket,
    deployment_dependency,
    deployment_window,
    environment_progression,
    failure_budget,
    gate,
    gradual_rollout,
    resource_concurrency,
    retry,
    rollback,
    scoped_version,
    verification,
    version_cooldown,
    version_selector,
)
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import documents, identifiers
from headgate.kernel.problems import Problem

KINDS: dict[str, type[RuleSpec]] = {
    "deploymentBracket": deployment_bracket.DeploymentBracket,
    "resourceConcurrency": resource_concurrency.ResourceConcurrency,
    "gradualRollout": gradual_rollout.GradualRollout,
    "deploymentDependency": deployment_dependency.DeploymentDependency,
    "approval": approval.Approval,
    "environmentProgression": environment_progression.EnvironmentProgression,
    "deploymentWindow": deployment_window.DeploymentWindow,
    "versionCooldown": version_cooldown.VersionCooldown,
    "versionSelector": version_selector.VersionSelector,
    "retry": retry.Retry,
    "rollback": rollback.Rollback,
    "verification": verification.Verification,
    "gate": gate.Gate,
    "failureBudget": failure_budget.FailureBudget,
    "scopedVersion": scoped_version.ScopedVersion,
}
KIND_ALIASES = {"anyApproval": "approval"}
TRAITS: Mapping[str, Traits] = {**{kind: spec.traits for kind, spec in KINDS.items()}, **always_on.TRAITS}
"""Of every kind of verdict: of rules, and of what holds a start without one."""

MOST_RULES = 1_000
_OWN_KEYS = ("id", "name")


def read_rules(value: object, policy_id: str, path: str, problems: list[Problem]) -> tuple[model.Rule, ...]:
    """The rules that could be read; what could not is in `problems`."""
    if not isinstance(value, list | tuple):
        problems.append(Problem(path, f"must be a list, not {documents.describe(value)}"))
        return ()
    if len(value) > MOST_RULES:
        problems.append(Problem(path, f"has {len(value)} rules; allowed are {MOST_RULES}"))
        return ()
    parsed = [
        read_rule(item, policy_id, index, documents.item_path(path, index), problems)
        for index, item in enumerate(value)
    ]
    rules = tuple(rule for rule in parsed if rule is not None)
    _refuse_repeated(rules, path, problems)
    _refuse_cycle(rules, path, problems)
    return rules


def read_rule(
    value: object, policy_id: str, index: int, path: str, problems: list[Problem]
) -> model.Rule | None:
    if not isinstance(value, dict):
        problems.append(Problem(path, f"must be a map with one rule, not {documents.describe(value)}"))
        return None
    count_before = len(problems)
    name = _read_name(value, path, problems)
    id_ = _read_id(value, path, problems)
    documents.refuse_unknown_keys(value, (*_OWN_KEYS, *KINDS, *KIND_ALIASES), path, problems)
    keys = [key for key in value if key in KINDS or key in KIND_ALIASES]
    if len(keys) != 1:
        what = f"has {' and '.join(keys)}" if keys else "has no rule"
        problems.append(Problem(path, f"{what}; allowed is exactly one of {', '.join(KINDS)}"))
    specs = [
        documents.read_into(KINDS[kind_of(key)], value[key], documents.field_path(path, key), problems)
        for key in keys
    ]
    if len(problems) > count_before:
        return None
    return model.Rule(
        id_ or rule_ids.not_given(policy_id, name, index), name, kind_of(keys[0]), specs[0], index
    )


def kind_of(key: str) -> str:
    return KIND_ALIASES.get(key, key)


def write_rule(rule: model.Rule, *, omit_defaults: bool = True) -> dict[str, object]:
    document: dict[str, object] = {"id": rule.id}
    if rule.name is not None or not omit_defaults:
        document["name"] = rule.name
    document[rule.kind] = documents.write(rule.spec, omit_defaults=omit_defaults)
    return document


def in_words(rule: model.Rule) -> str:
    """The sentence that its own file has for it."""
    text: str = rule.spec.in_words()
    return text


def specs_with(is_meant: Callable[[Traits], bool]) -> tuple[type[RuleSpec], ...]:
    """Those for whose kind it is so, in the order in which they are registered."""
    return tuple(spec for spec in KINDS.values() if is_meant(spec.traits))


def specs_at(*stages: GateStage) -> tuple[type[RuleSpec], ...]:
    """Those that are asked then, in the order of the stages and of registration."""
    return tuple(spec for stage in stages for spec in KINDS.values() if spec.traits.stage is stage)


def _read_name(value: dict[str, object], path: str, problems: list[Problem]) -> str | None:
    name = documents.read_into(
        model.Name | None, value.get("name"), documents.field_path(path, "name"), problems
    )
    return name if isinstance(name, str) else None


def _read_id(value: dict[str, object], path: str, problems: list[Problem]) -> str | None:
    if value.get("id") is None:
        return None
    given = value["id"]
    if not isinstance(given, str) or not identifiers.is_uuid(given):
        message = f"must be a UUID, not {documents.describe(given)}; leave it out to have one made"
        problems.append(Problem(documents.field_path(path, "id"), message))
        return None
    return given.lower()


def _refuse_repeated(rules: Sequence[model.Rule], path: str, problems: list[Problem]) -> None:
    """References to a rule take its id or its name, so both are unique in the policy."""
    seen: dict[tuple[str, str], int] = {}
    for rule in rules:
        for what, value in (("name", rule.name), ("id", rule.id)):
            if value is None:
                continue
            first = seen.setdefault((what, value), rule.index)
            if first != rule.index:
                place = documents.field_path(documents.item_path(path, rule.index), what)
                problems.append(Problem(place, f'is "{value}", as in {documents.item_path(path, first)}'))


def _refuse_cycle(rules: Sequence[model.Rule], path: str, problems: list[Problem]) -> None:
    dependencies = [rule.spec for rule in rules if rule.kind == "deploymentDependency"]
    cycle = deployment_dependency.find_certain_cycle(dependencies)
    if cycle is not None:
        problems.append(Problem(path, f"has dependencies in a circle: {' needs '.join(cycle)}"))
