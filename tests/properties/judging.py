"""Judges a run by its output alone: what is said here is computed from times, names and the scenario document.

Every function yields sentences about what is wrong. None of them asks the engine, and each leaves out what the output
cannot decide (a policy that was changed on the way, a group that an operator took in hand).
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from typing import Any

from headgate.fleet import expressions
from headgate.simulate.result import Result

from .objects import Document

NEVER = float("inf")
LIVE = frozenset({"pending", "queued", "inProgress", "actionRequired"})
NEXT_STATUS: dict[str, set[str]] = {
    "collecting": {"ready", "aborted"},
    "ready": {"executing", "queued", "superseded", "aborted", "completed"},
    "queued": {"ready", "superseded", "merged", "aborted", "completed"},
    "executing": {"completed", "failed", "rolledBack", "aborted"},
    "failed": {"executing", "aborted", "rolledBack"},
}
"""`completed` without a start: what was locked turned out to run already."""


def moment(text: str | None) -> float:
    return NEVER if text is None else datetime.fromisoformat(text).timestamp()


class Run:
    """A scenario document and the output document of its run, with what both say in convenient form."""

    def __init__(self, scenario: Document, played: Result) -> None:
        result = played.document()
        self._sequence = {job.id: number for number, job in enumerate(played.jobs)}
        self.spec = scenario["spec"]
        self.start = moment(self.spec["start"].replace("Z", "+00:00"))
        self.end = moment(result["end"])
        self.jobs: list[Document] = result["jobs"]
        self.groups: list[Document] = result["groups"]
        self.converged: bool = result["converged"]
        self.refused = {item["step"] for item in result["rejected"]}

    @cached_property
    def steps(self) -> list[tuple[float, str, Any]]:
        """Accepted steps: when, what kind, and what it says."""
        found = []
        for number, step in enumerate(self.spec["timeline"]):
            kind = next(key for key in step if key != "at")
            if f"timeline[{number}].{kind}" not in self.refused:
                found.append((self.start + float(step["at"][1:-1]), kind, step[kind]))
        return found

    def said(self, *kinds: str) -> list[Any]:
        return [payload for _, kind, payload in self.steps if kind in kinds]

    @cached_property
    def moved(self) -> set[str]:
        """Kinds of objects that were changed or deleted on the way."""
        return {payload["kind"] for payload in self.said("apply", "delete")}

    @cached_property
    def objects(self) -> dict[str, dict[str, Document]]:
        found: dict[str, dict[str, Document]] = defaultdict(dict)
        for number, document in enumerate(self.spec["objects"]):
            if f"objects[{number}]" not in self.refused:
                found[document["kind"]][document["metadata"]["name"]] = document["spec"]
        return found

    @cached_property
    def published(self) -> dict[tuple[str, str], float]:
        """When each version was created; only the first publication of a tag counts."""
        found = {(spec["deployment"], spec["tag"]): self.start for spec in self.objects["Version"].values()}
        for at, kind, payload in self.steps:
            if kind == "publish":
                found[(payload["deployment"], payload["tag"])] = at
        return found

    def rules(self, kind: str) -> Iterator[tuple[str, Document, Document]]:
        """Policy name, policy and rule, for policies that stay as they are and rules that nobody skips."""
        skipped = {(payload["policy"], payload["rule"]) for payload in self.said("skip")}
        if "Policy" in self.moved or self.moved & {"Deployment", "Environment", "Resource"}:
            return
        for name, policy in self.objects["Policy"].items():
            for index, rule in enumerate(policy["rules"]):
                if kind in rule and policy.get("enabled", True) and (name, index) not in skipped:
                    yield name, policy, rule[kind]

    def covers(self, policy: Document, job: Document) -> bool:
        return self.matches(
            policy.get("selector", "true"), job["deployment"], job["environment"], job["resource"]
        )

    def matches(self, selector: str, deployment: str, environment: str, resource: str) -> bool:
        bindings = {
            "deployment": self._view("Deployment", deployment),
            "environment": self._view("Environment", environment),
            "resource": self._view("Resource", resource),
        }
        return expressions.SELECTOR.selector(selector).matches(bindings)

    def _view(self, kind: str, name: str) -> Document:
        return {"name": name, **self.objects[kind].get(name, {})}

    def by_target(self) -> dict[tuple[str, str, str], list[Document]]:
        """Jobs of each target in the order in which they were created, also within one instant."""
        found: dict[tuple[str, str, str], list[Document]] = defaultdict(list)
        for job in sorted(self.jobs, key=lambda job: self._sequence[job["id"]]):
            found[(job["deployment"], job["environment"], job["resource"])].append(job)
        return found

    def is_earlier(self, job: Document, other: Document) -> bool:
        return self._sequence[job["id"]] < self._sequence[other["id"]]

    def by_group(self) -> dict[str, list[Document]]:
        found: dict[str, list[Document]] = defaultdict(list)
        for job in self.jobs:
            if job["group"] is not None:
                found[job["group"]].append(job)
        return found

    @cached_property
    def handled(self) -> set[tuple[str, str]]:
        """Environments and resources whose groups an operator took in hand."""
        return {(payload["environment"], payload["resource"]) for payload in self.said("group")}

    def is_handled(self, group: Document) -> bool:
        return (group["environment"], group["resource"]) in self.handled


def wrong(run: Run) -> Iterator[str]:
    for judge in (
        times_in_order,
        statuses_in_order,
        one_live_job,
        one_executing_group,
        budgets,
        order_in_groups,
        order_outside_groups,
        leaked_versions,
        hooks,
        downgrades,
        attempts,
        rollout_turns,
        cooldowns,
    ):
        yield from (f"{judge.__name__}: {sentence}" for sentence in judge(run))


def _name(job: Document) -> str:
    return (
        f"{job['deployment']}/{job['environment']}/{job['resource']} {job['version']} at {job['createdAt']}"
    )


def times_in_order(run: Run) -> Iterator[str]:
    for job in run.jobs:
        created, started, completed = (moment(job[key]) for key in ("createdAt", "startedAt", "completedAt"))
        if not created <= min(started, completed) or (started != NEVER and started > completed):
            yield f"{_name(job)}: {job}"
        if (job["status"] in LIVE) != (completed == NEVER):
            yield f"{_name(job)} is {job['status']}, completed {job['completedAt']}"


def statuses_in_order(run: Run) -> Iterator[str]:
    for group in run.groups:
        steps = group["history"]
        for earlier, later in itertools.pairwise(steps):
            if later["status"] not in NEXT_STATUS.get(earlier["status"], ()):
                if group["resource"] in run.objects["Resource"] and later["status"] == "aborted":
                    continue
                yield f"a group of {group['resource']} went from {earlier['status']} to {later['status']}"
            if moment(later["at"]) < moment(earlier["at"]):
                yield f"a group of {group['resource']} went back in time: {steps}"
        if steps[-1]["status"] != group["status"]:
            yield f"a group of {group['resource']} is {group['status']}, its history ends {steps[-1]['status']}"
        if (group["status"] == "merged") != (group["mergedInto"] is not None):
            yield f"a group of {group['resource']} is {group['status']} with mergedInto {group['mergedInto']}"


def one_live_job(run: Run) -> Iterator[str]:
    for jobs in run.by_target().values():
        for earlier, later in itertools.pairwise(jobs):
            if moment(later["createdAt"]) < moment(earlier["completedAt"]):
                yield f"{_name(later)} started while {_name(earlier)} ran"


def one_executing_group(run: Run) -> Iterator[str]:
    places: dict[tuple[str, str], list[Document]] = defaultdict(list)
    brackets = {
        name
        for name, policy in run.objects["Policy"].items()
        if sum("deploymentBracket" in rule for rule in policy["rules"]) == 1
    }
    for group in run.groups:
        if group["startedAt"] is not None and group["policy"] in brackets and "Policy" not in run.moved:
            places[(group["policy"], group["resource"])].append(group)
    for (policy, resource), groups in places.items():
        groups.sort(key=lambda group: (moment(group["startedAt"]), moment(group["completedAt"])))
        for earlier, later in itertools.pairwise(groups):
            if moment(later["startedAt"]) < moment(earlier["completedAt"]):
                yield f"two groups of {policy} executed on {resource} at {later['startedAt']}"


def budgets(run: Run) -> Iterator[str]:
    """A group holds from its start to its end, a job while it lives or waits for its retry; a resource counts once."""
    if any(payload["action"] == "release" for payload in run.said("group")):
        return
    for name, policy, rule in run.rules("resourceConcurrency"):
        members = {
            resource
            for resource in run.objects["Resource"]
            if run.matches(rule["groupSelector"], "", "", resource)
        }
        limit = rule["limitValue"]
        if rule["limitType"] == "percentage":
            limit = -(-len(members) * limit // 100)
        held = [
            (start, end, resource)
            for start, end, resource in _held(run, policy)
            if resource in members and start < end
        ]
        for at in sorted({start for start, _, _ in held}):
            active = {resource for start, end, resource in held if start <= at < end}
            if len(active) > limit:
                yield f"{name} allows {limit} of {sorted(members)}, active at {at - run.start:g}s: {sorted(active)}"


def _held(run: Run, policy: Document) -> Iterator[tuple[float, float, str]]:
    for group_id, jobs in run.by_group().items():
        group = next(group for group in run.groups if group["id"] == group_id)
        if any(run.covers(policy, job) for job in jobs) and not _may_lose_its_slot(run, group):
            first = min(moment(job["createdAt"]) for job in jobs if run.covers(policy, job))
            yield first, moment(group["completedAt"]), group["resource"]
    for jobs in run.by_target().values():
        for job, following in zip(jobs, [*jobs[1:], None]):
            if job["group"] is None and run.covers(policy, job):
                end = moment(job["completedAt"])
                if following is not None and following["attempt"] == job["attempt"] + 1 and not _by_hand(run):
                    end = moment(following["createdAt"])
                yield moment(job["createdAt"]), end, job["resource"]


def _may_lose_its_slot(run: Run, group: Document) -> bool:
    rules = run.objects["Policy"].get(group["policy"], {"rules": []})["rules"]
    return any(rule.get("deploymentBracket", {}).get("onStuck") == "release" for rule in rules)


def _by_hand(run: Run) -> bool:
    """Operators may repeat what would not repeat by itself."""
    return bool(run.said("target", "group"))


def _upstream(run: Run, job: Document) -> Iterator[str]:
    for _, policy, rule in run.rules("deploymentDependency"):
        place = (job["environment"], job["resource"])
        if not run.covers(policy, job):
            continue
        if run.matches(rule.get("appliesTo", "true"), job["deployment"], *place):
            for name in run.objects["Deployment"]:
                if name != job["deployment"] and run.matches(rule["dependsOn"], name, *place):
                    yield name


def order_in_groups(run: Run) -> Iterator[str]:
    """An upstream that runs in the group has succeeded in it before; merging may bring a later lock of it."""
    if run.moved & {"Deployment", "Environment", "Resource"}:
        return
    hosts = {group["mergedInto"] for group in run.groups}
    jobs_of = run.by_group()
    for group in run.groups:
        if group["id"] in hosts or run.is_handled(group):
            continue
        roles = {member["deployment"]: member["role"] for member in group["members"]}
        jobs = jobs_of.get(group["id"], [])
        put_back_at = min(
            (moment(job["createdAt"]) for job in jobs if job["kind"] == "rollback"), default=NEVER
        )
        for job in jobs:
            role = roles[job["deployment"]]
            if job["kind"] == "rollback" or moment(job["createdAt"]) >= put_back_at:
                continue
            if role == "postHook" and _ended_badly(group):
                continue
            ahead = {name for name in _upstream(run, job) if name in roles and roles[name] != "postHook"}
            ahead = {name for name in ahead if role != "preHook" or roles[name] == "preHook"}
            if role != "preHook":
                ahead |= {name for name in roles if roles[name] == "preHook"}
            if role == "postHook":
                ahead |= {name for name in roles if roles[name] == "member"}
            yield from _unfinished(job, ahead, jobs)


def _ended_badly(group: Document) -> bool:
    """Then post-hooks may have run although members had failed: their dependencies are waived."""
    return group["status"] in ("rolledBack", "aborted", "failed")


def _unfinished(job: Document, ahead: set[str], jobs: list[Document]) -> Iterator[str]:
    for name in sorted(ahead):
        runs = [other for other in jobs if other["deployment"] == name]
        done = [
            other
            for other in runs
            if other["status"] == "successful" and moment(other["completedAt"]) <= moment(job["createdAt"])
        ]
        if runs and not done and not _put_back(runs):
            yield f"{_name(job)} started before {name} had succeeded in this group"


def _put_back(runs: list[Document]) -> bool:
    return any(job["kind"] == "rollback" for job in runs)


def order_outside_groups(run: Run) -> Iterator[str]:
    """What is upstream on the resource had succeeded with its newest release, as far as it had one before."""
    if run.said("target") or "Version" in run.moved:
        return
    by_target = run.by_target()
    for job in run.jobs:
        if job["group"] is not None or job["kind"] != "deploy":
            continue
        for name in set(_upstream(run, job)):
            place = (name, job["environment"], job["resource"])
            earlier = [other for other in by_target.get(place, ()) if run.is_earlier(other, job)]
            if earlier and not _succeeded_before(earlier[-1], job):
                yield f"{_name(job)} started although {_name(earlier[-1])} was {earlier[-1]['status']}"


def _succeeded_before(upstream: Document, job: Document) -> bool:
    return upstream["status"] == "successful" and moment(upstream["completedAt"]) <= moment(job["createdAt"])


def leaked_versions(run: Run) -> Iterator[str]:
    """A version published after the close never runs in the group."""
    jobs_of = run.by_group()
    for group in run.groups:
        locked = {member["deployment"]: moment(member["lockedAt"]) for member in group["members"]}
        for job in jobs_of.get(group["id"], []):
            published = run.published.get((job["deployment"], job["version"]))
            if job["kind"] == "rollback" or published is None or locked.get(job["deployment"]) is None:
                continue
            if published > locked[job["deployment"]]:
                yield f"{_name(job)} was published after its group had locked"
            if moment(job["createdAt"]) < moment(group["lockedAt"]):
                yield f"{_name(job)} started before its group had locked"


def hooks(run: Run) -> Iterator[str]:
    jobs_of = run.by_group()
    for job in run.jobs:
        if job["kind"] == "hook" and job["group"] is None:
            yield f"{_name(job)} is a hook without a group"
    for group in run.groups:
        if (
            group["status"] not in ("completed", "rolledBack")
            or group["startedAt"] is None
            or run.is_handled(group)
        ):
            continue
        for member in group["members"]:
            if member["role"] == "member" or member["state"] == "dropped":
                continue
            done = [
                job
                for job in jobs_of.get(group["id"], [])
                if job["deployment"] == member["deployment"] and job["status"] == "successful"
            ]
            wanted = 1 if group["status"] == "completed" else None
            if wanted is not None and len(done) != wanted:
                name = member["deployment"]
                yield f"hook {name} of a completed group on {group['resource']} succeeded {len(done)} times"
            if len(done) > 1:
                yield f"hook {member['deployment']} succeeded {len(done)} times in one cycle"


def downgrades(run: Run) -> Iterator[str]:
    """Going back needs a rollback, a version that was rejected, or a command."""
    gone = run.moved & {"Deployment", "Environment", "Resource"}
    rejected = {
        payload["deployment"] for payload in run.said("setVersion") if payload["status"] == "rejected"
    }
    for (deployment, _, _), jobs in run.by_target().items():
        if deployment in rejected or gone:
            continue
        deployed: float | None = None
        for job in jobs:
            published = run.published.get((deployment, job["version"]))
            if published is None:
                continue
            if job["kind"] != "rollback" and deployed is not None and published < deployed:
                yield f"{_name(job)} ({job['kind']}) is older than what ran there"
            if job["status"] == "successful":
                deployed = published


def attempts(run: Run) -> Iterator[str]:
    """Without a retry rule there is one attempt; with several the strictest counts."""
    if _by_hand(run) or "Policy" in run.moved:
        return
    limits = [(policy, rule["maxRetries"] + 1) for _, policy, rule in run.rules("retry")]
    if run.moved & {"Deployment", "Environment", "Resource"}:
        return
    for job in run.jobs:
        allowed = min((most for policy, most in limits if run.covers(policy, job)), default=1)
        if job["attempt"] > allowed:
            yield f"{_name(job)} is attempt {job['attempt']} of {allowed}"


def rollout_turns(run: Run) -> Iterator[str]:
    """Positions differ, so the n-th target of a version starts n turns after the publication at the earliest."""
    for name, policy, rule in run.rules("gradualRollout"):
        turns: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
        for job in run.jobs:
            if job["group"] is None and job["kind"] == "deploy" and run.covers(policy, job):
                key = (job["deployment"], job["environment"], job["version"])
                turns[key].setdefault(job["resource"], moment(job["createdAt"]))
        for (deployment, environment, tag), starts in turns.items():
            published = run.published.get((deployment, tag))
            for position, at in enumerate(sorted(starts.values())):
                if published is not None and at < published + _offset(rule, position):
                    yield f"{name}: {deployment}/{environment} {tag} was number {position} too early"


def _offset(rule: Document, position: int) -> float:
    """A lower bound: for the normalized kind the number of targets is not known from the output."""
    interval = float(rule["timeScaleInterval"])
    match rule["rolloutType"]:
        case "linear":
            return position * interval
        case "exponential":
            return position.bit_length() * interval
    return 0.0


def cooldowns(run: Run) -> Iterator[str]:
    for name, policy, rule in run.rules("versionCooldown"):
        for jobs in run.by_target().values():
            for earlier, later in itertools.pairwise(jobs):
                is_new = later["version"] != earlier["version"] and later["kind"] == "deploy"
                if later["group"] is not None or not is_new or not run.covers(policy, later):
                    continue
                if moment(later["createdAt"]) < moment(earlier["completedAt"]) + rule["intervalSeconds"]:
                    yield f"{name}: {_name(later)} started while it cooled down from {_name(earlier)}"


def behind(run: Run) -> Iterator[str]:
    """Targets that do not run the newest version in their scope; hooks get theirs with the next cycle."""
    hooks = {job["deployment"] for job in run.jobs if job["kind"] == "hook"}
    for (deployment, environment, resource), jobs in run.by_target().items():
        if deployment in hooks or run.moved:
            continue
        done = [job for job in jobs if job["status"] == "successful"]
        newest = _newest_in_scope(run, deployment, environment, resource)
        if newest and (not done or done[-1]["version"] not in newest):
            runs = done[-1]["version"] if done else "nothing"
            yield f"{deployment}/{environment}/{resource} runs {runs}, newest is {' or '.join(sorted(newest))}"


def _newest_in_scope(run: Run, deployment: str, environment: str, resource: str) -> set[str]:
    """Several of one instant are ordered by their ids, which the output does not show."""
    scopes = {
        (spec["deployment"], spec["tag"]): spec.get("targetSelector")
        for spec in (*run.objects["Version"].values(), *run.said("publish"))
    }
    known = {
        tag: at
        for (owner, tag), at in run.published.items()
        if owner == deployment and _in_scope(run, scopes[(owner, tag)], deployment, environment, resource)
    }
    newest_at = max(known.values(), default=0.0)
    return {tag for tag, at in known.items() if at == newest_at}


def _in_scope(run: Run, selector: str | None, deployment: str, environment: str, resource: str) -> bool:
    """A scope that reads a label that is not there fails, and a scope that fails keeps the version."""
    labels = run.objects["Resource"].get(resource, {}).get("metadata", {})
    if selector is None or ("'rack'" in selector and "rack" not in labels):
        return True
    return run.matches(selector, deployment, environment, resource)
