"""Checks what the engine says it was allowed by, and judges again, from its own books, what can be judged alone.

Judged again: the version's status and scope, approvals and vetoes, version selectors, deployment windows, and inside
a bracket the order of hooks and dependencies. Only first attempts of ordinary jobs pass these gates: a retry, a
rollback, a redeployment and a change of variables do not pass the version's gates again.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from headgate import cel
from headgate.fleet import changes, expressions, model, records
from headgate.fleet.rules import deployment_window
from headgate.kernel.instants import Instant
from headgate.simulate.mirror import Mirror, matches
from headgate.simulate.promises.base import Broken, Promise

_JUDGED_AGAIN = frozenset({"approval", "versionSelector", "deploymentWindow", "deploymentDependency"})
_SETTLED_WITHOUT_A_JOB = frozenset({"unchanged", "dropped", "skipped"})


class NoGateSkipped(Promise):
    name = "NoGateSkipped"
    sentence = "nothing starts unless every gate that applies said allowed on the state it was decided on"

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._votes: dict[tuple[str, str, str], dict[str, changes.Vote]] = {}
        self._skipped_rules: set[str] = set()
        self._succeeded: set[tuple[str, str]] = set()
        self._started_groups: set[str] = set()
        self._rules_by_place: dict[tuple[str, str, str], list[tuple[model.Policy, model.Rule]]] = {}
        self._upstream_names: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._reads_deployment_only: dict[str, bool] = {}

    def changed(self, change: changes.Change, now: Instant) -> None:
        match change:
            case changes.Vote():
                place = (change.deployment, change.tag, change.environment)
                self._votes.setdefault(place, {})[change.user] = change
            case changes.PutSkip():
                self._skipped_rules.add(change.rule)
                self._rules_by_place.clear()
            case changes.Put() | changes.Delete() | changes.SetVariable():
                self._rules_by_place.clear()
                self._upstream_names.clear()
                self._reads_deployment_only.clear()
            case _:
                pass

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.group is not None and job.status == "successful":
            self._succeeded.add((job.group, job.deployment))

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        for judged in verdicts:
            if not judged.is_allowed:
                label = judged.rule.label if judged.rule is not None else judged.kind
                self.broken(
                    now, f"{job.target} {job.tag} started while {label} said {judged.verdict.message!r}"
                )
        if job.attempt == 1 and job.kind in ("deploy", "hook"):
            for fact in self._judge_version(job):
                self.broken(now, f"{job.target} started {fact}")
            for fact in self._judge_moment(job, now):
                self.broken(now, f"{job.target} {job.tag} started {fact}")
        if job.group is not None:
            self._started_groups.add(job.group)

    def _judge_version(self, job: records.Job) -> Iterator[str]:
        version = self.mirror.version(job.deployment, job.tag)
        if version is None:
            return
        not_allowed = ("rejected",) if job.group is not None else ("building", "failed", "rejected", "paused")
        if version.status in not_allowed:
            yield f"{job.tag}, whose status is {version.status}"
        if version.target_selector is not None and _is_false(version.target_selector, self._bindings(job)):
            yield f"{job.tag}, whose targetSelector is false here"
        for policy, rule in self._rules(job):
            if rule.kind == "approval":
                yield from self._judge_approval(job, policy, rule)
            elif rule.kind == "versionSelector" and job.group is None:
                bindings = self._bindings(job)
                bindings["version"] = self.mirror.view("Version", f"{job.deployment}/{job.tag}")
                if not expressions.VERSION_SELECTOR.selector(rule.spec.selector).matches(bindings):
                    yield f"{job.tag}, which {policy.name}, {rule.label} does not select"

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
        if job.group is None or job.group not in self._started_groups:
            yield from self._judge_windows(job, now)
        group = self.mirror.groups.get(job.group) if job.group is not None else None
        if group is not None and group.phase == "forward":
            yield from self._judge_order(job, group)

    def _judge_windows(self, job: records.Job, now: Instant) -> Iterator[str]:
        for policy, rule in self._rules(job):
            if rule.kind != "deploymentWindow" or rule.spec.first_deployment == "bypass":
                continue
            if not deployment_window.judge(rule.spec, now).is_allowed:
                yield f"outside its window ({policy.name}, {rule.label})"

    def _judge_order(self, job: records.Job, group: records.Group) -> Iterator[str]:
        role = next(
            (member.role for member in group.members if member.deployment == job.deployment), "member"
        )
        upstream = {name for name in self._upstream(job) if name != job.deployment}
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

    def _upstream(self, job: records.Job) -> Iterator[str]:
        for _, rule in self._rules(job):
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

    def _rules(self, job: records.Job) -> list[tuple[model.Policy, model.Rule]]:
        """What is judged here, of the policies that match the target, but for rules that some skip names."""
        place = (job.deployment, job.environment, job.resource)
        found = self._rules_by_place.get(place)
        if found is None:
            bindings = self.mirror.bindings(*place)
            found = self._rules_by_place[place] = [
                (policy, rule)
                for policy in self.mirror.policies.values()
                if policy.enabled and matches(policy.selector, bindings)
                for rule in policy.rules
                if rule.kind in _JUDGED_AGAIN
                and not self._skipped_rules & {rule.id, rule.name, str(rule.index)}
            ]
        return found


def _is_false(selector: str, bindings: dict[str, object]) -> bool:
    """A targetSelector that fails to evaluate includes the version: the one exception to this promise."""
    try:
        return not expressions.SELECTOR.selector(selector).judge(bindings)
    except cel.EvaluationError:
        return False


def _is_hook_of_other_end(role: str, upstream_role: str) -> bool:
    """Hooks stand at their ends whatever the rules say."""
    return role == "preHook" or upstream_role == "postHook"
