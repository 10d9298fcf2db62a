"""What is deleted, and what ends with it: jobs, groups, slots."""

from __future__ import annotations

from headgate.fleet import after_rules, catalog, holds, references
from headgate.fleet.changes import Delete
from headgate.fleet.state import State
from headgate.fleet.units import Place, VersionNode
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def delete(state: State, change: Delete, now: Instant) -> None:
    name = change.name
    match change.kind:
        case "Resource":
            node = references.resource(state, name)
            _end_groups(state, [p for p in state.places.values() if p.resource is node], node.name, now)
            catalog.remove_resource(state, node)
            name = node.name
        case "Environment":
            environment = references.environment(state, name)
            gone = [p for p in state.places.values() if p.environment is environment]
            _end_groups(state, gone, environment.name, now)
            pairs = [
                d.pairs[environment.name] for d in state.deployments.values() if environment.name in d.pairs
            ]
            catalog.remove_pairs(state, pairs)
            del state.environments[environment.name]
            name = environment.name
            state.shared.clear()
            state.waiting.happened(("environments",))
        case "Deployment":
            deployment = references.deployment(state, name)
            catalog.remove_pairs(state, list(deployment.pairs.values()))
            for version in list(deployment.versions):
                catalog.remove_version(state, version)
            del state.deployments[deployment.name]
            name = deployment.name
        case "Version":
            owner, _, tag = name.partition("/")
            version_node = references.version(state, owner, tag)
            _refuse_if_in_use(state, version_node)
            catalog.remove_version(state, version_node)
            name = references.name_of(version_node.object)
        case "Policy":
            policy = references.policy(state, name)
            catalog.remove_policy(state, policy)
            name = policy.object.name
            after_rules.settle(state, now)
        case "JobAgent" | "VariableSet" | "Freeze" | "Signal":
            references.remove_simple(state, change.kind, name)
            state.touch_all() if change.kind == "VariableSet" else None
            state.waiting.happened(("freeze",) if change.kind == "Freeze" else ("signals",))
        case _:
            raise Rejected(
                (Problem("kind", f"is {change.kind!r}; allowed are {', '.join(references.KINDS)}"),)
            )
    state.journal.changed(change.kind, name)


def _refuse_if_in_use(state: State, node: VersionNode) -> None:
    """What runs somewhere must stay known: it is what keeps a target from going back by itself."""
    deployment = state.deployments[node.object.deployment]
    users = sorted(
        target.name
        for target in deployment.targets()
        if target.record.deployed == node.id
        or (target.record.job is not None and state.jobs[target.record.job].version == node.id)
    )
    if users:
        more = f" and {len(users) - 1} more" if len(users) > 1 else ""
        raise Rejected(
            (Problem("name", f"{node.tag} runs on {users[0]}{more}; set its status to rejected to go back"),)
        )


def _end_groups(state: State, places: list[Place], what: str, now: Instant) -> None:
    """The resource or the environment is gone: the groups there end with it, whatever they were at."""
    for place in places:
        for group in list(place.groups()):
            group.reason = f"{what} was deleted"
            group.completed_at = now
            state.groups.pop(group.id, None)
            state.group_changed(group, "aborted", now)
            holds.give_back(state, place.resource.name, group.id)
        place.collecting = place.waiting = place.executing = None
        if state.sites.get(place.site) is place:
            del state.sites[place.site]
            state.waiting.happened(("site", *place.site))
