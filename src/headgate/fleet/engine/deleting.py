"""What is deleted, and what ends with it: jobs, groups, slots."""

from __future__ import annotations

from collections.abc import Callable

from headgate.fleet.model import kinds
from headgate.fleet.model.changes import Delete
from headgate.fleet.state import catalog, departing, freezes, holds, membership, references, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, Site, Target, VersionNode
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def delete(state: State, change: Delete, now: Instant) -> None:
    name = change.name
    match change.kind:
        case "Resource":
            node = references.resource(state, name)
            _end_groups(state, [p for p in state.sites.values() if p.resource is node], node.name, now)
            catalog.remove_resource(state, node)
            name = node.name
        case "Environment":
            environment = references.environment(state, name)
            _refuse_if_needed(state, lambda target: target.environment is environment)
            gone = [p for p in state.sites.values() if p.environment is environment]
            _end_groups(state, gone, environment.name, now)
            catalog.remove_environment(state, environment)
            departing.forget_old(state, now)
            name = environment.name
            state.shared.clear()
            state.waiting.happened(wakes.ENVIRONMENTS)
        case "Deployment":
            deployment = references.deployment(state, name)
            _refuse_if_needed(state, lambda target: target.deployment is deployment)
            _refuse("name", dependents(state, deployment))
            catalog.remove_pairs(state, list(deployment.pairs.values()))
            for version in list(deployment.versions):
                catalog.remove_version(state, version)
            del state.deployments[deployment.name]
            state.forms_changed()
            name = deployment.name
        case "Version":
            owner, _, tag = name.partition("/")
            version_node = references.version(state, owner, tag)
            _refuse("name", users_of_version(state, version_node))
            catalog.remove_version(state, version_node)
            name = kinds.name_of(version_node.object)
        case "Policy":
            policy = references.policy(state, name)
            catalog.remove_policy(state, policy)
            name = policy.object.name
        case _:
            _delete_plain(state, change, now)
    state.journal.changed(change.kind, name)


def _delete_plain(state: State, change: Delete, now: Instant) -> None:
    kind, name = kinds.BY_NAME.get(change.kind), change.name
    if kind is None:
        raise Rejected((Problem("kind", f"is {change.kind!r}; allowed are {', '.join(kinds.BY_NAME)}"),))
    if kind is kinds.JOB_AGENT:
        _refuse("name", users_of_agent(state, name))
    freeze = state.freezes.get(name) if kind is kinds.FREEZE else None
    references.remove_plain(state, kind, name)
    if freeze is not None:
        freezes.lifted(state, freeze[0], now)
    if kind is kinds.VARIABLE_SET:
        state.touch_all()
    state.waiting.happened(wakes.FREEZES if kind is kinds.FREEZE else wakes.SIGNALS)


def _refuse_if_needed(state: State, goes: Callable[[Target], bool]) -> None:
    """A prepared resource always comes back: what its post-hooks need stays until they have run."""
    for _, site in sorted(state.sites.items()):
        for target in site.members.values() if site.executing is not None else ():
            if goes(target) and membership.lingers(state, target):
                group = site.executing
                raise Rejected(
                    (
                        Problem(
                            "name",
                            f"group {group.id if group else ''} has prepared {site.resource.name} and still needs "
                            f"{target.name}; let it end, or abort it first",
                        ),
                    )
                )


def _refuse(path: str, problem: str | None) -> None:
    if problem is not None:
        raise Rejected((Problem(path, problem),))


def users_of_agent(state: State, name: str) -> str | None:
    """Who would be without an agent."""
    users = sorted(node.name for node in state.deployments.values() if node.object.job_agent == name)
    return f"{name} runs the jobs of {_and_more(users)}" if users else None


def dependents(state: State, deployment: DeploymentNode) -> str | None:
    """Versions of other deployments that could never be deployed again."""
    users = sorted(
        f"{node.name} {version.tag}"
        for node in state.deployments.values()
        if node is not deployment
        for version in node.versions
        if deployment.name in version.dependencies and version.is_ready
    )
    return f"{_and_more(users)} depends on {deployment.name}" if users else None


def users_of_version(state: State, node: VersionNode) -> str | None:
    """What runs somewhere must stay known: it is what keeps a target from going back by itself."""
    deployment = state.deployments[node.object.deployment]
    running, ahead = [], []
    for target in deployment.targets():
        record = target.record
        job = state.jobs.get(record.job or "")
        if record.deployed == node.id or (job is not None and job.version == node.id):
            running.append(target.name)
        elif record.rollback_to == node.id:
            ahead.append(target.name)
    if running:
        return f"{node.tag} runs on {_and_more(sorted(running))}; set its status to rejected to go back"
    return f"{_and_more(sorted(ahead))} is going back to {node.tag}" if ahead else None


def _and_more(names: list[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def _end_groups(state: State, sites: list[Site], what: str, now: Instant) -> None:
    """The resource or the environment is gone: the groups there end with it, whatever they were at."""
    for site in sites:
        for group in list(site.groups()):
            group.reason = f"{what} was deleted"
            group.completed_at = now
            state.groups.pop(group.id, None)
            state.group_changed(group, "aborted", now)
            holds.give_back(state, group)
        site.collecting = site.waiting = site.executing = None
        if state.executing_at.get(site.location) is site:
            del state.executing_at[site.location]
            state.waiting.happened(wakes.site(*site.location))
