"""Why the targets of a deployment are where they are: grouped by reason, with counts, a sample and what one can do."""

from __future__ import annotations

import msgspec

from headgate.fleet import rules
from headgate.fleet.engine import remedies
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.explain import Explanation, RuleLine
from headgate.fleet.model.objects import TargetState
from headgate.fleet.state.units import DeploymentNode, EnvironmentNode
from headgate.kernel.decisions import Reason
from headgate.kernel.explanations import is_settled
from headgate.kernel.instants import Instant

MOST_SAMPLED = 5

VerdictKey = tuple[str, str | None, str | None, str | None, str | None]


class ReasonGroup(msgspec.Struct, rename="camel"):
    """Targets in one state for one reason; `message`, `changes` and `actions` are those of the one that changes first,
    which is also the first of `targets`."""

    environment: str
    state: TargetState
    policy: str | None
    rule: str | None
    type: str | None
    version: str | None
    message: str = ""
    changes: str = ""
    count: int = 0
    blocked: int = 0
    targets: list[str] = []
    actions: tuple[remedies.Action, ...] = ()


class AwaitedApproval(msgspec.Struct, rename="camel"):
    """A version whose votes a rule asks for in an environment, whatever else holds its targets; `targets` is a sample."""

    environment: str
    version: str
    policy: str | None
    rule: str | None
    message: str
    count: int = 0
    targets: list[str] = []


def why_without_targets(engine: Engine, name: str, environment: str | None = None) -> list[str]:
    """A sentence for each environment, or for what is missing altogether; nobody should have to guess which of three
    selectors was meant. Nothing is said of a deployment that is gone."""
    state = engine.state
    deployment = state.deployments.get(name)
    if deployment is None:
        return []
    if not state.resources:
        return ["there is no resource yet"]
    if not state.environments:
        return ["there is no environment yet"]
    if not deployment.matched:
        return [f"the deployment {_why_nothing_matched(deployment.object.resource_selector)}"]
    asked = sorted(state.environments) if environment is None else [environment]
    some = [state.environments[one] for one in asked if one in state.environments][:MOST_SAMPLED]
    return [f"environment {one.name} {_why_not_in(deployment, one)}" for one in some]


def _why_not_in(deployment: DeploymentNode, environment: EnvironmentNode) -> str:
    if set(environment.object.systems).isdisjoint(deployment.object.systems):
        theirs, ours = ", ".join(environment.object.systems), ", ".join(deployment.object.systems)
        return f"is of other systems ({theirs}) than the deployment ({ours})"
    if not environment.matched:
        return _why_nothing_matched(environment.object.resource_selector)
    return "has other resources than those that the deployment's resourceSelector matches"


def _why_nothing_matched(selector: str | None) -> str:
    if selector is None:
        return "has no resourceSelector, and so no resource: `resourceSelector: 'true'` takes all"
    return f"has a resourceSelector that matches no resource: {selector}"


class Reasons:
    """Explanations are added one by one, so that a large deployment can be looked at in slices."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, VerdictKey], ReasonGroup] = {}
        self._earliest: dict[tuple[str, VerdictKey], Instant] = {}
        self._approvals: dict[tuple[str, str, str | None, str | None], AwaitedApproval] = {}

    def add(self, environment: str, explanation: Explanation) -> None:
        line = _first_that_holds(explanation)
        reason = environment, _key(explanation, line)
        group = self._groups.get(reason)
        if group is None:
            group = self._groups[reason] = ReasonGroup(environment, explanation.state, *reason[1][1:])
        group.count += 1
        group.blocked += explanation.blocked
        if self._changes_first(reason, explanation, group):
            group.message, group.changes = explanation.message, explanation.changes
            group.actions = explanation.actions
            group.targets.insert(0, explanation.target)
            del group.targets[MOST_SAMPLED:]
        elif len(group.targets) < MOST_SAMPLED:
            group.targets.append(explanation.target)
        self._add_approvals(environment, explanation)

    def _add_approvals(self, environment: str, explanation: Explanation) -> None:
        """A freeze or a closed window in front of it takes no vote away. Of several versions, the newest is asked for:
        explanations begin with it."""
        asked: dict[tuple[str | None, str | None], RuleLine] = {}
        for line in explanation.rules:
            if _is_for_votes(line) and line.version is not None:
                asked.setdefault((line.policy, line.rule), line)
        for (policy, rule), line in asked.items():
            version = line.version or ""
            approval = self._approvals.setdefault(
                (environment, version, policy, rule),
                AwaitedApproval(environment, version, policy, rule, line.message),
            )
            approval.count += 1
            if len(approval.targets) < MOST_SAMPLED:
                approval.targets.append(explanation.target)

    def approvals(self) -> list[AwaitedApproval]:
        return [self._approvals[key] for key in sorted(self._approvals, key=str)]

    def _changes_first(
        self, reason: tuple[str, VerdictKey], explanation: Explanation, group: ReasonGroup
    ) -> bool:
        """Whether it speaks for its group: the first that came, until one comes that time changes earlier."""
        at, earliest = explanation.next_evaluation_time, self._earliest.get(reason)
        if at is None or explanation.blocked or (earliest is not None and earliest <= at):
            return group.count == 1
        self._earliest[reason] = at
        return True

    def sorted(self) -> list[ReasonGroup]:
        """What needs a person first, then what still moves, then what is done; large groups first."""
        return sorted(
            map(_with_acts_on_many, self._groups.values()),
            key=lambda group: (
                is_settled("fleet", group.state),
                not group.blocked,
                -group.count,
                group.environment,
                group.message,
            ),
        )


def _with_acts_on_many(group: ReasonGroup) -> ReasonGroup:
    """What can be tried again on the first can be tried again on all of them with one command."""
    again = remedies.retry_of(group.targets[0])
    if group.count > 1 and any(action.command == again for action in group.actions):
        all_of_them = remedies.retrying_all(group.targets[0].partition("/")[0], group.environment)
        group = msgspec.structs.replace(group, actions=(all_of_them, *group.actions))
    return group


def _first_that_holds(explanation: Explanation) -> RuleLine | None:
    if is_settled("fleet", explanation.state) or explanation.state in ("running", "rollingBack"):
        return None
    return next((line for line in explanation.rules if line.verdict != "allowed"), None)


def _is_for_votes(line: RuleLine) -> bool:
    """Whether votes are missing, or one of them holds it; a rule of theirs may also deny it whatever anybody votes."""
    is_held = line.verdict != "allowed" and line.reason in (Reason.AWAITING_APPROVAL, Reason.REJECTED)
    return is_held and rules.TRAITS[line.type].is_answered_by_votes


def _key(explanation: Explanation, line: RuleLine | None) -> VerdictKey:
    if line is None:
        return explanation.state, None, None, None, explanation.desired
    return explanation.state, line.policy, line.rule, line.type, line.version
