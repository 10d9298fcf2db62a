"""Judges the groups of a run by its output: their states, who ran before whom, which versions, and the hooks."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from .objects import Document
from .recorded import NEVER, Run, moment, name_of, taken_back, upstream_of

NEXT_STATUS: dict[str, set[str]] = {
    "collecting": {"ready", "aborted"},
    "ready": {"executing", "queued", "superseded", "merged", "aborted", "completed"},
    "queued": {"ready", "superseded", "merged", "aborted", "completed"},
    "executing": {"completed", "failed", "rolledBack", "aborted"},
    "failed": {"executing", "aborted", "rolledBack"},
}
"""`completed` without a start: what was locked turned out to run already."""


def statuses_in_order(run: Run) -> Iterator[str]:
    for group in run.groups:
        steps = group["history"]
        for earlier, later in pairwise(steps):
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
        for earlier, later in pairwise(groups):
            if moment(later["startedAt"]) < moment(earlier["completedAt"]):
                yield f"two groups of {policy} executed on {resource} at {later['startedAt']}"


def order_in_groups(run: Run) -> Iterator[str]:
    """An upstream that runs in the group has succeeded in it before; merging may bring a later lock of it. One that failed
    and has nothing to go back to is passed over where each goes back by itself."""
    if run.moved & {"Deployment", "Environment", "Resource"}:
        return
    hosts = {group["mergedInto"] for group in run.groups}
    jobs_of = run.by_group()
    for group in run.groups:
        if group["id"] in hosts or run.is_handled(group):
            continue
        roles = {member["deployment"]: member["role"] for member in group["members"]}
        passed_over = {m["deployment"] for m in group["members"] if m["state"] == "skipped"}
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
            ahead = {name for name in upstream_of(run, job) if name in roles and roles[name] != "postHook"}
            ahead = {name for name in ahead if role != "preHook" or roles[name] == "preHook"}
            if role != "preHook":
                ahead |= {name for name in roles if roles[name] == "preHook"}
            if role == "postHook":
                ahead |= {name for name in roles if roles[name] == "member"}
            yield from _unfinished(job, ahead - passed_over, jobs)


def _ended_badly(group: Document) -> bool:
    """Or is about to: then post-hooks may run although members have failed, because their dependencies are waived."""
    is_about_to = group["status"] == "executing" and any(m["state"] == "failed" for m in group["members"])
    return is_about_to or group["status"] in ("rolledBack", "aborted", "failed")


def _unfinished(job: Document, ahead: set[str], jobs: list[Document]) -> Iterator[str]:
    for name in sorted(ahead):
        runs = [other for other in jobs if other["deployment"] == name and not taken_back(other)]
        done = [
            other
            for other in runs
            if other["status"] == "successful" and moment(other["completedAt"]) <= moment(job["createdAt"])
        ]
        if runs and not done and not _put_back(runs):
            yield f"{name_of(job)} started before {name} had succeeded in this group"


def _put_back(runs: list[Document]) -> bool:
    return any(job["kind"] == "rollback" for job in runs)


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
                yield f"{name_of(job)} was published after its group had locked"
            if moment(job["createdAt"]) < moment(group["lockedAt"]):
                yield f"{name_of(job)} started before its group had locked"


def hooks(run: Run) -> Iterator[str]:
    jobs_of = run.by_group()
    for job in run.jobs:
        if job["kind"] == "hook" and job["group"] is None:
            yield f"{name_of(job)} is a hook without a group"
    for group in run.groups:
        if (
            group["status"] not in ("completed", "rolledBack")
            or group["startedAt"] is None
            or run.is_handled(group)
        ):
            continue
        for member in group["members"]:
            # A person may skip a hook that failed, also by a skip of the rule that made it one.
            if member["role"] == "member" or member["state"] in ("dropped", "skipped"):
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
