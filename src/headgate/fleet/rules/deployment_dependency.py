"""Order on one resource: a deployment waits until the deployments it depends on have succeeded there."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headgate import cel
from headgate.fleet.model import expressions
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant

_NAME_PATH = ("deployment", "name")
_QUOTED = re.compile(r"'([^'\\\n]*)'|\"([^\"\\\n]*)\"")


class DeploymentDependency(RuleSpec, frozen=True, rename="camel"):
    """Without `applies_to` it applies to every target of the policy. No deployment depends on itself."""

    traits = Traits(
        stage=GateStage.UPSTREAM,
        event="a deployment that it depends on has succeeded",
        acts_inside_cycle=True,
    )

    depends_on: expressions.DeploymentSelectorText
    applies_to: expressions.DeploymentSelectorText | None = None

    def in_words(self) -> str:
        who = f"A deployment with `{self.applies_to}`" if self.applies_to else "A deployment"
        return f"{who} starts on a resource when all with `{self.depends_on}` have succeeded there."

    def binding_selector(self) -> str | None:
        return self.applies_to


class Upstream(msgspec.Struct, frozen=True):
    """`status` is a piece of a sentence, such as "job inProgress since 09:05"."""

    deployment: str
    satisfied: bool
    status: str
    satisfied_at: Instant | None = None


def judge(rule: DeploymentDependency, upstreams: Sequence[Upstream]) -> Verdict:
    """All of them, not any: a node is not drained because one of two drains has run."""
    if not upstreams:
        return matches_nothing(rule, "on this resource")
    missing = [upstream for upstream in upstreams if not upstream.satisfied]
    if missing:
        waits = ", ".join(f"{upstream.deployment} ({upstream.status})" for upstream in missing)
        return decisions.pending(
            Reason.AWAITING_DEPENDENCY,
            f"waits for {waits}",
            missing=[upstream.deployment for upstream in missing],
        )
    names = ", ".join(upstream.deployment for upstream in upstreams)
    moments = [upstream.satisfied_at for upstream in upstreams if upstream.satisfied_at is not None]
    return decisions.allowed(f"{names} succeeded on this resource", satisfied_at=max(moments, default=None))


def matches_nothing(rule: DeploymentDependency, where: str) -> Verdict:
    return decisions.denied(
        Reason.MISCONFIGURED,
        f"no deployment {where} matches dependsOn: {rule.depends_on}",
        dependsOn=rule.depends_on,
    )


def find_cycle(
    rules: Sequence[DeploymentDependency], deployments: Sequence[Mapping[str, Any]]
) -> list[str] | None:
    """The names along one cycle, first name repeated at the end.

    Looks only at rules that read nothing but `deployment`: for others the answer depends on the resource.
    """
    edges: dict[str, set[str]] = {str(view["name"]): set() for view in deployments}
    for rule in rules:
        texts = [rule.depends_on, *([rule.applies_to] if rule.applies_to is not None else [])]
        if not expressions.roots(expressions.DEPLOYMENT_SELECTOR, texts) <= {"deployment"}:
            continue
        upstream = _names_matching(rule.depends_on, deployments)
        for name in _names_matching(rule.applies_to or "true", deployments):
            edges[name] |= upstream - {name}
    return _cycle_in(edges)


def find_certain_cycle(rules: Sequence[DeploymentDependency]) -> list[str] | None:
    """A cycle that can be seen without knowing any deployment: among names that the expressions spell out."""
    by_name = [rule for rule in rules if all(_reads_name_only(text) for text in _texts(rule))]
    names = sorted({name for rule in by_name for text in _texts(rule) for name in _quoted(text)})
    return find_cycle(by_name, [{"name": name} for name in names])


def _texts(rule: DeploymentDependency) -> Iterator[str]:
    yield rule.depends_on
    if rule.applies_to is not None:
        yield rule.applies_to


def _reads_name_only(text: str) -> bool:
    return expressions.DEPLOYMENT_SELECTOR.compile(text).paths <= {_NAME_PATH}


def _quoted(text: str) -> Iterator[str]:
    for match in _QUOTED.finditer(text):
        yield match.group(1) or match.group(2) or ""


def _names_matching(text: str, deployments: Sequence[Mapping[str, Any]]) -> set[str]:
    selector: cel.Selector = expressions.DEPLOYMENT_SELECTOR.selector(text)
    return {str(view["name"]) for view in deployments if selector.matches({"deployment": view})}


def _cycle_in(edges: Mapping[str, set[str]]) -> list[str] | None:
    """Depth-first without recursion, so that a long chain is no problem; the smallest names first."""
    finished: set[str] = set()
    for start in sorted(edges):
        trail: list[str] = []
        branches = [iter([start])]
        while branches:
            name = next(branches[-1], None)
            if name is None:
                branches.pop()
                if trail:
                    finished.add(trail.pop())
            elif name in trail:
                return [*trail[trail.index(name) :], name]
            elif name not in finished:
                trail.append(name)
                branches.append(iter(sorted(edges[name])))
    return None
