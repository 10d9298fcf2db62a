"""Judges a run by its output alone: what is said here is computed from times, names and the scenario document.

Every function yields sentences about what is wrong. None of them asks the engine, and each leaves out what the output
cannot decide (a policy that was changed on the way, a group that an operator took in hand).
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from . import judging_groups
from .objects import Document
from .recorded import NEVER, Run, moment, name_of, taken_back, upstream_of

LIVE = frozenset({"pending", "queued", "inProgress", "actionRequired"})


def wrong(run: Run) -> Iterator[str]:
    for judge in (
        times_in_order,
        judging_groups.statuses_in_order,
        one_live_job,
        judging_groups.one_executing_group,
        budgets,
        judging_groups.order_in_groups,
        order_outside_groups,
        judging_groups.leaked_versions,
        judging_groups.hooks,
        downgrades,
        attempts,
        rollout_turns,
        cooldowns,
    ):
        yield from (f"{judge.__name__}: {sentence}" for sentence in judge(run))


def times_in_order(run: Run) -> Iterator[str]:
    for job in run.jobs:
        created, started, completed = (moment(job[key]) for key in ("createdAt", "startedAt", "completedAt"))
        if not created <= min(started, completed) or (started != NEVER and started > completed):
            yield f"{name_of(job)}: {job}"
        if (job["status"] in LIVE) != (completed == NEVER):
            yield f"{name_of(job)} is {job['status']}, completed {job['completedAt']}"


def one_live_job(run: Run) -> Iterator[str]:
    for jobs in run.by_target().values():
        for earlier, later in pairwise(jobs):
            if moment(later["createdAt"]) < moment(earlier["completedAt"]):
                yield f"{name_of(later)} started while {name_of(earlier)} ran"


def budgets(run: Run) -> Iterator[str]:
    """A group holds from its start to its end, a job while it lives or waits for its retry; a resource counts once."""
    if any(payload["action"] == "release" for payload in run.said("group")):
        return
    for name, policy, rule in run.rules("resourceConcurrency"):
        members: dict[str | None, set[str]] = defaultdict(set)
        for resource in run.objects["Resource"]:
            if run.matches(rule["groupSelector"], "", "", resource):
                members[run.value_of(rule.get("groupBy"), resource)].add(resource)
        held = list(_held(run, policy))
        for together in members.values():
            for sentence in _over(rule, together, held):
                yield f"{name} {sentence}"


def _over(rule: Document, members: set[str], held: list[tuple[float, float, str]]) -> Iterator[str]:
    limit = rule["limitValue"]
    if rule["limitType"] == "percentage":
        limit = -(-len(members) * limit // 100)
    ours = [one for one in held if one[2] in members and one[0] < one[1]]
    for at in sorted({start for start, _, _ in ours}):
        active = {resource for start, end, resource in ours if start <= at < end}
        if len(active) > limit:
            yield f"allows {limit} of {sorted(members)}, active at {at:g}: {sorted(active)}"


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
    return bool(run.said("target", "targets", "group"))


def order_outside_groups(run: Run) -> Iterator[str]:
    """What is upstream on the resource had succeeded with its newest release, as far as it had one before."""
    if run.said("target", "targets") or "Version" in run.moved:
        return
    by_target = run.by_target()
    for job in run.jobs:
        if job["group"] is not None or job["kind"] != "deploy":
            continue
        for name in set(upstream_of(run, job)):
            place = (name, job["environment"], job["resource"])
            earlier = [
                other
                for other in by_target.get(place, ())
                if run.is_earlier(other, job)
                and not taken_back(other)
                and not _values_were_taken_back(run, other, job)
            ]
            if earlier and not _succeeded_before(earlier[-1], job):
                yield f"{name_of(job)} started although {name_of(earlier[-1])} was {earlier[-1]['status']}"


def _values_were_taken_back(run: Run, upstream: Document, job: Document) -> bool:
    """Whether values that failed may have become what they were before `job`: then nothing is left to do upstream."""
    since, until = moment(upstream["createdAt"]), moment(job["createdAt"])
    return (
        upstream["kind"] == "variable"
        and upstream["status"] != "successful"
        and any(kind == "setVariable" and since <= at <= until for at, kind, _ in run.steps)
    )


def _succeeded_before(upstream: Document, job: Document) -> bool:
    return upstream["status"] == "successful" and moment(upstream["completedAt"]) <= moment(job["createdAt"])


def downgrades(run: Run) -> Iterator[str]:
    """Going back needs a rollback, a version that was rejected, or a command."""
    gone = run.moved & {"Deployment", "Environment", "Resource"}
    rejected = {
        payload["deployment"] for payload in run.said("setVersion") if payload["status"] == "rejected"
    } | {payload["deployment"] for payload in run.said("rejectVersion")}
    for (deployment, _, _), jobs in run.by_target().items():
        if deployment in rejected or gone:
            continue
        deployed: float | None = None
        for job in jobs:
            published = run.published.get((deployment, job["version"]))
            if published is None:
                continue
            if job["kind"] != "rollback" and deployed is not None and published < deployed:
                yield f"{name_of(job)} ({job['kind']}) is older than what ran there"
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
            yield f"{name_of(job)} is attempt {job['attempt']} of {allowed}"


def rollout_turns(run: Run) -> Iterator[str]:
    """Positions differ, so the n-th target of a version starts n turns after the publication at the earliest; those of one
    value, where they are counted by value."""
    for name, policy, rule in run.rules("gradualRollout"):
        turns: dict[tuple[str, str, str, str | None], dict[str, float]] = defaultdict(dict)
        for job in run.jobs:
            if job["group"] is None and job["kind"] == "deploy" and run.covers(policy, job):
                value = run.value_of(rule.get("groupBy"), job["resource"])
                key = (job["deployment"], job["environment"], job["version"], value)
                turns[key].setdefault(job["resource"], moment(job["createdAt"]))
        for (deployment, environment, tag, _), starts in turns.items():
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
    """What a person retries is not new, also where it was put back meanwhile."""
    is_retried = any(
        payload["action"] == "retry" for what in ("target", "targets") for payload in run.said(what)
    )
    for name, policy, rule in run.rules("versionCooldown"):
        for jobs in run.by_target().values():
            tried: set[str] = set()
            for earlier, later in pairwise(job for job in jobs if not taken_back(job)):
                tried.add(earlier["version"])
                is_tried_again = is_retried and later["version"] in tried
                is_new = later["version"] != earlier["version"] and later["kind"] == "deploy"
                is_new = is_new and not is_tried_again
                if later["group"] is not None or not is_new or not run.covers(policy, later):
                    continue
                if moment(later["createdAt"]) < moment(earlier["completedAt"]) + rule["intervalSeconds"]:
                    yield f"{name}: {name_of(later)} started while it cooled down from {name_of(earlier)}"


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
    """Any of several of one instant: which of them arrived last the output does not show."""
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
