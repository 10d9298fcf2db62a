"""In the fleet: checks what the engine says it was allowed by, and judges again, from its own books, what can be judged alone.

Every rule that applies, found without the engine, must be among those it was allowed by, unless a skip that is in force
names it for this version and target. Judged again: the version's status, scope and what it depends on, approvals and
vetoes, version selectors, deployment windows, lines that failures have stopped, and inside a bracket the order of hooks and
dependencies. Only first attempts of ordinary
jobs pass these gates: a retry, a rollback, a redeployment and a change of variables do not pass the version's gates
again.

In a graph: every unit that a plan lets go, and every instance that it lets on, is asked about again, with what it
depends on and with its gates.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate import cel
from headgate.fleet.model import changes, expressions, records
from headgate.fleet.model import objects as model
from headgate.fleet.rules import deployment_window
from headgate.graph.reconcile import nodes
from headgate.graph.reconcile.instances import InstancePass
from headgate.graph.reconcile.nodes import NodeState, NodeUnit
from headgate.graph.reconcile.rollouts import DefinitionRollout, RolloutMember
from headgate.kernel.instants import Instant
from headgate.promises.base import STILL_TO_RUN, Broken, FleetPromise, GraphPromise, Promise
from headgate.promises.books.graph_gates import MOST_CHECKED_ITEMS, Gates
from headgate.promises.books.mirror import Mirror, TargetKey, matches
from headgate.promises.books.skips import Skips
from headgate.promises.books.stopped_lines import StoppedLines

Bound = tuple[model.Policy, model.Rule]

_JUDGED_AGAIN = frozenset({"approval", "versionSelector", "deploymentWindow", "deploymentDependency"})
NOT_ALWAYS_ASKED: Mapping[str, str] = {
    "scopedVersion": "asked only about a version that has a targetSelector",
    "deploymentBracket": "of starts in a group; what comes first there is judged again",
    "deploymentDependency": "not asked where it names nobody else; judged again",
    "resourceConcurrency": "a budget, which BudgetNeverExceeded counts",
    "retry": "of attempts that have ended",
    "rollback": "of attempts that have ended",
    "verification": "of what was deployed",
}
"""Rules that an ordinary start need not have been asked about, each with the reason. All others it must, whatever a rule's
file says of its stage: one that the engine forgets to ask is not forgotten here as well."""
_SETTLED_WITHOUT_A_JOB = frozenset({"unchanged", "dropped", "skipped"})


class NoGateSkipped(Promise):
    name = "NoGateSkipped"
    sentence = "nothing starts unless every gate that applies said allowed on the state it was decided on"


class FleetNoGateSkipped(NoGateSkipped, FleetPromise):
    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._votes: dict[tuple[str, str, str], dict[str, changes.Vote]] = {}
        self._skips = Skips(mirror)
        self._lines = StoppedLines(mirror)
        self._succeeded: set[tuple[str, str]] = set()
        self._started_groups: set[str] = set()
        self._deployed: dict[str, str | None] = {}
        """The tag that came to run on each target last."""
        self._known: dict[str, str | None] = {}
        """The same, also of targets whose environment was deleted: if it comes back in time, what ran there is known."""
        self._adopted: set[str] = set()
        """Deployments of which several targets were adopted at once: some may have been passed over, nobody knows which."""
        self._rules_by_target: dict[TargetKey, list[Bound]] = {}
        self._upstream_names: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._reads_deployment_only: dict[str, bool] = {}

    def changed(self, change: changes.Change, now: Instant) -> None:
        self._skips.changed(change)
        self._lines.changed(change)
        match change:
            case changes.Vote():
                deployment, tag = self.mirror.version_named(change.deployment, change.tag)
                environment = self.mirror.name_in("Environment", change.environment) or ""
                self._votes.setdefault((deployment, tag, environment), {})[change.user] = change
            case changes.TargetAction(action="adopt"):
                self._deployed[change.target] = self._known[change.target] = change.to
            case changes.TargetsAction(action="adopt"):
                self._adopted.add(self.mirror.name_in("Deployment", change.deployment) or "")
            case changes.Put() | changes.Delete() | changes.SetVariable():
                self._rules_by_target.clear()
                self._upstream_names.clear()
                self._reads_deployment_only.clear()
            case _:
                pass
        if isinstance(change, changes.Delete):
            self._deployed = {
                name: tag for name, tag in self._deployed.items() if change.name not in name.split("/")
            }
            if change.kind in ("Deployment", "Resource"):
                self._known = {
                    name: tag for name, tag in self._known.items() if change.name not in name.split("/")
                }
            self._votes = {
                key: votes
                for key, votes in self._votes.items()
                if self.mirror.version(key[0], key[1]) is not None
            }

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.status != "successful":
            self._lines.job_ended(job)
            return
        self._deployed[job.target] = self._known[job.target] = job.tag
        if job.group is not None:
            self._succeeded.add((job.group, job.deployment))

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        for fact in self._judge_verdicts(job, verdicts, now):
            self.broken(now, f"{job.target} {job.tag} started {fact}")
        if job.attempt == 1 and job.kind in ("deploy", "hook"):
            for fact in self._judge_version(job, now):
                self.broken(now, f"{job.target} started {fact}")
        if job.attempt == 1 and job.kind in ("deploy", "hook", "variable"):
            for fact in self._judge_moment(job, now):
                self.broken(now, f"{job.target} {job.tag} started {fact}")
        if job.group is not None:
            self._started_groups.add(job.group)

    def _judge_verdicts(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> Iterator[str]:
        """All said allowed, those that were skipped are skipped, and nobody was forgotten."""
        for judged in verdicts:
            label = judged.rule.label if judged.rule is not None else judged.kind
            if not judged.is_allowed:
                yield f"while {label} said {judged.verdict.message!r}"
            elif judged.verdict.details.get("skip") is not None and not self._may_be_skipped(
                judged.rule.rule, job, now
            ):
                yield f"with {label} as skipped, which no skip that is in force names here"
        if job.kind == "deploy" and job.group is None:
            asked = {judged.rule.id for judged in verdicts if judged.rule is not None}
            for policy, rule in self._rules(TargetKey.of_job(job)):
                if rule.kind not in NOT_ALWAYS_ASKED and rule.id not in asked:
                    yield f"without being asked about by {policy.name}, {rule.label}"

    def _may_be_skipped(self, rule: model.Rule, job: records.Job, now: Instant) -> bool:
        """In a group the verdicts of all its members come with its first jobs."""
        group = self.mirror.groups.get(job.group) if job.group is not None else None
        if group is None:
            return self._skips.let_pass(rule, (job.deployment, job.tag), job.environment, job.resource, now)
        return any(
            self._skips.let_pass(rule, version, group.environment, group.resource, now)
            for version in self._locked(group)
        )

    def _locked(self, group: records.Group) -> Iterator[tuple[str, str]]:
        """Deployment and tag of every member that has a version."""
        for member in group.members:
            if member.version is not None:
                yield member.deployment, self.mirror.tag_of(member.deployment, member.version)

    def _judge_version(self, job: records.Job, now: Instant) -> Iterator[str]:
        version = self.mirror.version(job.deployment, job.tag)
        if version is None:
            return
        not_allowed = ("rejected",) if job.group is not None else ("building", "failed", "rejected", "paused")
        if version.status in not_allowed:
            yield f"{job.tag}, whose status is {version.status}"
        is_locked_hook = job.kind == "hook" and job.group in self._started_groups
        if (
            version.target_selector is not None
            and not is_locked_hook
            and _is_false(version.target_selector, self._bindings(job))
        ):
            yield f"{job.tag}, whose targetSelector is false here"
        if job.kind == "deploy":
            yield from self._judge_version_dependencies(job, version)
        for policy, rule in self._unskipped(job, now):
            if rule.kind == "approval":
                yield from self._judge_approval(job, policy, rule)
            elif rule.kind == "versionSelector" and job.group is None:
                bindings = self._bindings(job)
                bindings["version"] = self.mirror.view("Version", f"{job.deployment}/{job.tag}")
                if not expressions.VERSION_SELECTOR.selector(rule.spec.selector).matches(bindings):
                    yield f"{job.tag}, which {policy.name}, {rule.label} does not select"

    def _judge_version_dependencies(self, job: records.Job, version: model.Version) -> Iterator[str]:
        for name, dependency in version.dependencies.items():
            own = f"{name}/{job.environment}/{job.resource}"
            places = [own] if own in self._known else self._elsewhere(name, job.resource)
            selector = expressions.VERSION_SELECTOR.selector(dependency.version_selector)
            if name not in self._adopted and not any(self._may_run(place, selector) for place in places):
                yield f"{job.tag}, and no {name} runs there that is {dependency.version_selector}"

    def _elsewhere(self, deployment: str, resource: str) -> list[str]:
        return [
            name
            for name in self._known
            if name.startswith(f"{deployment}/") and name.endswith(f"/{resource}")
        ]

    def _may_run(self, target: str, selector: cel.Selector) -> bool:
        """Whether what runs on a target is selected, as far as that is known."""
        deployment, environment, resource = target.split("/")
        view = self.mirror.view("Version", f"{deployment}/{self._known[target]}")
        if view is None:
            return True
        bindings = self.mirror.bindings(deployment, environment, resource)
        bindings["version"] = view
        return selector.matches(bindings)

    def _judge_approval(self, job: records.Job, policy: model.Policy, rule: model.Rule) -> Iterator[str]:
        votes = self._votes.get((job.deployment, job.tag, job.environment), {})
        roles = rule.spec.roles
        counted = [vote for vote in votes.values() if roles is None or set(roles) & set(vote.roles)]
        if any(vote.status == "rejected" for vote in counted):
            yield f"{job.tag}, which was rejected ({policy.name}, {rule.label})"
        approved = sum(1 for vote in counted if vote.status == "approved")
        if job.group is None and approved < rule.spec.min_approvals:
            yield f"{job.tag} with {approved} of {rule.spec.min_approvals} approvals ({policy.name}, {rule.label})"

    def _judge_moment(self, job: records.Job, now: Instant) -> Iterator[str]:
        group = self.mirror.groups.get(job.group) if job.group is not None else None
        if group is None:
            yield from self._judge_windows(TargetKey.of_job(job), job.tag, now)
            if job.kind == "deploy":
                yield from self._judge_lines(TargetKey.of_job(job), job.version, job.tag, now)
        elif group.id not in self._started_groups:
            for member in group.members:
                if member.state in STILL_TO_RUN and member.version is not None:
                    tag = self.mirror.tag_of(member.deployment, member.version)
                    target = TargetKey(member.deployment, group.environment, group.resource)
                    yield from self._judge_windows(target, tag, now)
                    if not group.without_window and member.kind in ("deploy", "hook"):
                        yield from self._judge_lines(target, member.version, tag, now)
        if group is not None and group.phase == "forward":
            yield from self._judge_order(job, group, now)

    def _judge_windows(self, target: TargetKey, tag: str, now: Instant) -> Iterator[str]:
        for policy, rule in self._rules(target):
            if rule.kind != "deploymentWindow" or self._is_skipped(rule, target, tag, now):
                continue
            is_first = rule.spec.first_deployment == "bypass" and target.name not in self._deployed
            if not is_first and not deployment_window.judge(rule.spec, now).is_allowed:
                yield f"outside the window of {target.deployment} ({policy.name}, {rule.label})"

    def _judge_lines(self, target: TargetKey, version: str, tag: str, now: Instant) -> Iterator[str]:
        if self._deployed.get(target.name) == tag:
            return
        for rule in self._lines.against(target, version):
            if not self._is_skipped(rule, target, tag, now):
                yield f"although the line of {target.deployment} {tag} is stopped ({rule.label})"

    def _is_skipped(self, rule: model.Rule, target: TargetKey, tag: str, now: Instant) -> bool:
        version = (target.deployment, tag)
        return self._skips.let_pass(rule, version, target.environment, target.resource, now)

    def _judge_order(self, job: records.Job, group: records.Group, now: Instant) -> Iterator[str]:
        role = next(
            (member.role for member in group.members if member.deployment == job.deployment), "member"
        )
        upstream = {name for name in self._upstream(job, now) if name != job.deployment}
        for member in group.members:
            if member.deployment == job.deployment or member.state in _SETTLED_WITHOUT_A_JOB:
                continue
            must_precede = (
                (member.role == "preHook" and role != "preHook")
                or (role == "postHook" and member.role != "postHook")
                or (member.deployment in upstream and not _is_hook_of_other_end(role, member.role))
            )
            if must_precede and (group.id, member.deployment) not in self._succeeded:
                yield f"before {member.deployment} ({member.state}) succeeded in this group"

    def _upstream(self, job: records.Job, now: Instant) -> Iterator[str]:
        for _, rule in self._unskipped(job, now):
            if rule.kind == "deploymentDependency":
                yield from self._upstream_by(rule, job)

    def _upstream_by(self, rule: model.Rule, job: records.Job) -> tuple[str, ...]:
        """Kept by deployment where the rule reads nothing else: that is what such rules are usually made of."""
        is_by_deployment = self._reads_deployment_only.get(rule.id)
        if is_by_deployment is None:
            texts = [text for text in (rule.spec.depends_on, rule.spec.applies_to) if text is not None]
            is_by_deployment = expressions.roots(expressions.SELECTOR, texts) <= {"deployment"}
            self._reads_deployment_only[rule.id] = is_by_deployment
        key = (rule.id, job.deployment, "" if is_by_deployment else f"{job.environment}/{job.resource}")
        names = self._upstream_names.get(key)
        if names is None:
            bindings = self._bindings(job)
            names = ()
            if matches(rule.spec.applies_to, bindings):
                names = tuple(
                    name
                    for name in self.mirror.deployments
                    if matches(rule.spec.depends_on, {**bindings, "deployment": self._deployment(name)})
                )
            self._upstream_names[key] = names
        return names

    def _bindings(self, job: records.Job) -> dict[str, object]:
        return self.mirror.bindings(job.deployment, job.environment, job.resource)

    def _deployment(self, name: str) -> dict[str, Any]:
        return self.mirror.view("Deployment", name) or {}

    def _unskipped(self, job: records.Job, now: Instant) -> list[Bound]:
        bound = self._rules(TargetKey.of_job(job))
        if not self._skips:
            return bound
        version = (job.deployment, job.tag)
        return [
            (policy, rule)
            for policy, rule in bound
            if not self._skips.let_pass(rule, version, job.environment, job.resource, now)
        ]

    def _rules(self, target: TargetKey) -> list[Bound]:
        bound = self._rules_by_target.get(target)
        if bound is None:
            bound = self._rules_by_target[target] = [
                (policy, rule)
                for policy, rule in self.mirror.rules_over(*target)
                if rule.kind in _JUDGED_AGAIN or rule.kind not in NOT_ALWAYS_ASKED
            ]
        return bound


class GraphNoGateSkipped(NoGateSkipped, GraphPromise):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._gates = Gates(self.cluster, self.signals, self.known)
        self._let_on: dict[str, int] = {}
        """The graph revision that each instance, by its uid, was let on to by the last look at its definition."""
        self._graph_numbers: dict[str, int] = {}

    def planned(self, instance_pass: InstancePass, now: Instant) -> None:
        self._check_graph(instance_pass, now)
        by_id = {state.id: state for state in instance_pass.states}
        for state in instance_pass.states:
            granted = [unit for unit in state.units if unit.is_granted_now]
            if not granted:
                continue
            self._check_dependencies(state, by_id, granted, now)
            if len(state.units) > MOST_CHECKED_ITEMS:
                continue
            for unit, shut in self._gates.of_units(instance_pass, state, _is_granted_now, now):
                if shut:
                    self.broken(now, f"{state.id} {unit.name} starts against {shut}")

    def _check_graph(self, instance_pass: InstancePass, now: Instant) -> None:
        uid, number = instance_pass.instance.uid, instance_pass.graph_number
        before = self._graph_numbers.get(uid, number)
        self._graph_numbers[uid] = number
        if number != before and self._let_on.get(uid) != number:
            name = instance_pass.instance.name
            self.broken(now, f"{name} takes graph revision {number}, to which nobody let it on")

    def _check_dependencies(
        self, state: NodeState, by_id: dict[str, NodeState], granted: list[NodeUnit], now: Instant
    ) -> None:
        for name in sorted(state.node.depends_on):
            other = by_id.get(name)
            if other is None or other.is_excluded:
                continue
            for unit in other.units:
                item = self.cluster.get(unit.key)
                if item is None or unit.is_granted_now or not nodes.is_observed(item):
                    self.broken(
                        now,
                        f"{state.id} {granted[0].name} starts before {name} {unit.name} is there and ready",
                    )
                    return

    def planned_rollout(self, rollout: DefinitionRollout, now: Instant) -> None:
        for member in rollout.members:
            self._let_on.pop(member.instance.uid, None)
            if member.is_granted_now:
                self._let_on[member.instance.uid] = member.number
        if len(rollout.members) > MOST_CHECKED_ITEMS or not any(map(_is_moved_now, rollout.members)):
            return
        for member, is_open in self._gates.of_members(rollout, _is_moved_now, now):
            if not is_open:
                name = member.instance.name
                self.broken(now, f"{name} gets graph revision {rollout.number} against its gates")


def _is_granted_now(unit: NodeUnit) -> bool:
    return unit.is_granted_now


def _is_moved_now(member: RolloutMember) -> bool:
    return member.is_granted_now and member.number_before > 0


def _is_false(selector: str, bindings: dict[str, object]) -> bool:
    """A targetSelector that fails to evaluate includes the version: the one exception to this promise."""
    try:
        return not expressions.SELECTOR.selector(selector).judge(bindings)
    except cel.EvaluationError:
        return False


def _is_hook_of_other_end(role: str, upstream_role: str) -> bool:
    """Hooks stand at their ends whatever the rules say."""
    return role == "preHook" or upstream_role == "postHook"
