"""What a plan may be asked to take for granted: votes that nobody has cast yet."""

from collections.abc import Iterator

from headgate.fleet.model.changes import Vote
from headgate.fleet.rules.approval import Approval
from headgate.fleet.rules.scoped_version import ScopedVersion
from headgate.fleet.state import candidates
from headgate.fleet.state.state import State
from headgate.fleet.state.units import BoundRule, Pair, VersionNode

NEWEST_VERSIONS = 20
"""Of each deployment; older ones have been decided on long ago."""
REASON = "assumed by the plan"


def approvals(state: State) -> Iterator[Vote]:
    """As many as the rules ask for, of people with the roles they ask for, on every version that is still ahead somewhere.
    A rejection stays one."""
    for deployment in state.deployments.values():
        for pair in deployment.pairs.values():
            for version in deployment.versions[-NEWEST_VERSIONS:]:
                yield from _votes_on(version, pair, _rules_asking(version, pair))


def _rules_asking(version: VersionNode, pair: Pair) -> list[BoundRule[Approval | ScopedVersion]]:
    rules: dict[str, BoundRule[Approval | ScopedVersion]] = {}
    seen: set[int] = set()
    for target in candidates.scoped_targets(pair, version).values():
        if target.record.deployed == version.id or id(target.rules) in seen:
            continue
        seen.add(id(target.rules))
        rules |= {rule.id: rule for rule in target.rules.of(Approval)}
        rules |= {rule.id: rule for rule in target.rules.of(ScopedVersion) if version.scope}
    return list(rules.values())


def _votes_on(
    version: VersionNode, pair: Pair, rules: list[BoundRule[Approval | ScopedVersion]]
) -> Iterator[Vote]:
    needed = max((_needed(rule) for rule in rules), default=0)
    roles = {role for rule in rules for role in getattr(rule.spec, "roles", None) or ()}
    for number in range(1, needed + 1):
        yield Vote(
            pair.deployment.name,
            version.tag,
            pair.environment.name,
            f"somebody {number}",
            "approved",
            REASON,
            tuple(sorted(roles)),
        )


def _needed(rule: BoundRule[Approval | ScopedVersion]) -> int:
    spec = rule.spec
    return spec.min_approvals if isinstance(spec, Approval) else spec.require_approvals
