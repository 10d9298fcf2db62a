"""Votes of people on a version in an environment: cast, withdrawn, and ended with their version."""

from __future__ import annotations

from headgate.fleet import rules
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Vote
from headgate.fleet.rules.spec import AskedVotes, GateStage
from headgate.fleet.state import references, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected

_ANSWERED = rules.specs_with(lambda traits: traits.is_answered_by_votes)


def cast(state: State, change: Vote, now: Instant) -> None:
    node = references.version(state, change.deployment, change.tag)
    environment = references.environment(state, change.environment)
    if not change.user.strip():
        raise Rejected((Problem("user", "must name who votes"),))
    _take_out(state, node.id, environment.name, change.user)
    if change.status != "withdrawn":
        state.approvals.setdefault((node.id, environment.name), {})[change.user] = model.CastVote(
            node.id, environment.name, change.user, change.status, change.reason, now, change.roles
        )
    _changed(state, node.id, environment.name, change.user)
    for target in state.known_of(state.deployments[node.object.deployment]):
        if target.site is not None and target.environment.name == environment.name:
            state.waiting.touch(target.site)


def end(state: State, version: str) -> None:
    """The version is gone: what was said of it must not be said of another one."""
    for key in [key for key in state.approvals if key[0] == version]:
        for user in state.approvals.pop(key):
            _changed(state, *key, user)


def end_approvals(state: State, version: str) -> list[model.CastVote]:
    """Those that were given to a content that is another now; a no stays."""
    ended = [
        vote
        for (voted, _), votes in sorted(state.approvals.items())
        if voted == version
        for vote in votes.values()
        if vote.status == "approved"
    ]
    for vote in ended:
        _take_out(state, version, vote.environment, vote.user)
        _changed(state, version, vote.environment, vote.user)
    return ended


def asked_of(target: Target, version: VersionNode) -> dict[str, AskedVotes]:
    """The votes that the target's rules ask for before the version comes, by rule."""
    return {
        rule.id: asked
        for spec in _ANSWERED
        if version.scope is not None or spec.traits.stage is not GateStage.SCOPE
        for rule in target.rules.of(spec)
        if (asked := rule.spec.asked_votes()) is not None
    }


def vetoes(state: State, version: str) -> list[model.CastVote]:
    """Votes against it that nobody has withdrawn, in whichever environment."""
    return [
        vote
        for (voted, _), votes in sorted(state.approvals.items())
        if voted == version
        for vote in votes.values()
        if vote.status == "rejected"
    ]


def _take_out(state: State, version: str, environment: str, user: str) -> None:
    """Nothing stays of a version that nobody has a vote on: who is loaded knows nothing of it either, and both have to
    write the votes that are there in one order."""
    votes = state.approvals.get((version, environment), {})
    votes.pop(user, None)
    if not votes:
        state.approvals.pop((version, environment), None)


def _changed(state: State, version: str, environment: str, user: str) -> None:
    state.judge_anew(version)
    state.journal.changed("approval", version, environment, user)
    state.waiting.happened(wakes.votes(version, environment))
