"""What a plan may be asked to take for granted: votes that nobody has cast yet."""

from collections.abc import Iterator

from headgate.fleet.model.changes import Vote
from headgate.fleet.rules.spec import AskedVotes
from headgate.fleet.state import candidates, votes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Pair, VersionNode

NEWEST_VERSIONS = 20
"""Of each deployment; older ones have been decided on long ago."""
REASON = "assumed by the plan"


def approvals(state: State) -> Iterator[Vote]:
    """As many as the rules ask for, of people with the roles they ask for, on every version that is still ahead somewhere.
    A rejection stays one."""
    for deployment in state.deployments.values():
        for pair in deployment.pairs.values():
            for version in deployment.versions[-NEWEST_VERSIONS:]:
                yield from _votes_on(version, pair, _asked(version, pair))


def _asked(version: VersionNode, pair: Pair) -> list[AskedVotes]:
    asked: dict[str, AskedVotes] = {}
    seen: set[int] = set()
    for target in candidates.scoped_targets(pair, version).values():
        if target.record.deployed == version.id or id(target.rules) in seen:
            continue
        seen.add(id(target.rules))
        asked |= votes.asked_of(target, version)
    return list(asked.values())


def _votes_on(version: VersionNode, pair: Pair, asked: list[AskedVotes]) -> Iterator[Vote]:
    needed = max((one.count for one in asked), default=0)
    roles = {role for one in asked for role in one.roles or ()}
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
