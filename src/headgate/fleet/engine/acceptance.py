"""Takes accepted changes into the state, and refuses what names nothing or contradicts what is there.

A change is judged as a whole before anything of it is taken: one that is refused leaves nothing behind, and whoever
plays the log takes exactly what was taken then.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from headgate.fleet.cycles import cycle, hooks, jobs, leaving, operators
from headgate.fleet.engine import deleting, edits, manifest_objects, orders, outcomes
from headgate.fleet.gates import failures, rejecting, resuming
from headgate.fleet.model import agent_fields, changes, kinds, rule_ids
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import (
    Change,
    Delete,
    DeleteSkip,
    GroupAction,
    JobReported,
    Measured,
    Put,
    PutSkip,
    RejectVersion,
    ResumeBudget,
    SetVariable,
    SetVersionStatus,
    TargetAction,
    TargetsAction,
    Vote,
)
from headgate.fleet.rules import deployment_dependency
from headgate.fleet.state import (
    catalog,
    departing,
    freezes,
    holds,
    references,
    skips,
    successes,
    verifying,
    votes,
    wakes,
)
from headgate.fleet.state.state import State
from headgate.fleet.state.units import DeploymentNode, Target, optional_selector
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def apply(state: State, change: Change, now: Instant) -> None:
    match change:
        case Put():
            _put(state, change, now)
        case Delete():
            deleting.delete(state, change, now)
        case SetVersionStatus():
            _set_version_status(state, change, now)
        case RejectVersion():
            rejecting.by_person(state, change, now)
        case Vote():
            votes.cast(state, change, now)
        case PutSkip():
            skips.put(state, change, now)
        case DeleteSkip():
            skips.delete(state, change)
        case SetVariable():
            _set_variable(state, change, now)
        case GroupAction():
            operators.act(state, change, now)
        case TargetAction():
            orders.act(state, change, now)
        case TargetsAction():
            orders.act_on_many(state, change, now)
        case ResumeBudget():
            resuming.resume(state, change)
        case JobReported():
            outcomes.job_reported(state, change, now)
        case Measured():
            outcomes.measured(state, change, now)
    if state.removed:
        _cancel_jobs_of_removed_targets(state, now)
    if state.forms_moved:
        hooks.settle(state, now)
    if state.rebound:
        _settle_rebound(state, now)


def _put(state: State, change: Put, now: Instant) -> None:
    item = change.object
    kind = kinds.of(item)
    if isinstance(item, model.Version):
        item = _put_version(state, item, now, create_only=change.create_only)
    else:
        _put_named(state, item, state.get(kind, item.name), now)
    state.journal.changed(kind.name, kinds.name_of(item))


def _put_named(state: State, item: changes.Object, old: Any, now: Instant) -> None:
    match item:
        case model.Resource():
            references.check_identifier(state, item)
            catalog.put_resource(state, _stamped(item, old, now))
            # One that changes its group takes its work along: counted there from now on, and no longer here.
            for target in state.resources[item.name].targets.values():
                _hold_what_runs(state, target, now)
                failures.target_moved(state, target)
        case model.Environment():
            departing.forget_old(state, now)
            catalog.put_environment(state, _stamped(item, old, now))
            state.shared.clear()
            state.waiting.happened(wakes.ENVIRONMENTS)
        case model.Deployment():
            _check_agent(state, item, old)
            catalog.put_deployment(state, _stamped(item, old, now))
        case model.Policy():
            _refuse_cycles(state, item)
            item = msgspec.structs.replace(item, rules=rule_ids.settled(item, old))
            _refuse_ids_of_others(state, item, old)
            catalog.put_policy(state, _stamped(item, old, now))
        case model.VariableSet():
            catalog.put_plain(state, _stamped(item, old, now))
            state.touch_all()
        case model.Freeze():
            item = _stamped(item, old, now)
            catalog.put_plain(state, item)
            freezes.begun(state, item)
            state.waiting.happened(wakes.FREEZES)
        case model.Signal():
            item = _stamped(item, old, now)
            catalog.put_plain(state, msgspec.structs.replace(item, set_at=now))
            state.waiting.happened(wakes.SIGNALS)
        case _:
            catalog.put_plain(state, _stamped(item, old, now))


Item = TypeVar("Item", bound=changes.Object)


def _stamped(item: Item, old: Any, now: Instant) -> Item:
    """A changed object keeps its id and its creation; a new one is created now."""
    if old is None:
        return msgspec.structs.replace(item, created_at=item.created_at or now)
    return msgspec.structs.replace(item, id=old.id, created_at=old.created_at, updated_at=now)


def _put_version(state: State, version: model.Version, now: Instant, *, create_only: bool) -> model.Version:
    """As it is kept: its deployment by name, whichever way it was given. A manifest does not lift a rejection."""
    deployment = state.deployments.get(version.deployment)
    if deployment is None:
        deployment = references.deployment(state, version.deployment, path="spec.deployment")
    old = deployment.tags.get(version.tag)
    if old is None:
        _check_new_version(state, deployment, version)
    elif create_only:
        raise Rejected((Problem("spec.tag", f"{deployment.name} has a version {version.tag!r} already"),))
    for name in version.dependencies:
        if name == deployment.name:
            raise Rejected(
                (Problem(f"spec.dependencies.{name}", "a version cannot depend on its own deployment"),)
            )
    config = version.job_agent_config
    if config and (old is None or old.object.job_agent_config != config):
        _check_config(state, deployment.object, config)
    if old is not None:
        edits.check(state, old, msgspec.structs.replace(version, deployment=deployment.name))
    stamped = _stamped(version, old.object if old else None, now)
    published_at = old.object.published_at if old is not None else None
    if published_at is None and stamped.status == "ready":
        published_at = now
    created_at = stamped.created_at if old is not None else _next_moment(deployment, stamped.created_at)
    kept = msgspec.structs.replace(
        stamped, deployment=deployment.name, created_at=created_at, published_at=published_at
    )
    if old is not None and old.object.status == "rejected":
        kept = msgspec.structs.replace(kept, status=old.object.status, rejection=old.object.rejection)
        catalog.put_version(state, kept)
    elif kept.status == "rejected":
        kept = rejecting.signed(kept, "", now)
        rejecting.put(state, kept, now)
    else:
        catalog.put_version(state, kept)
    if old is not None:
        edits.settle(state, old.object, kept)
        state.judge_anew(kept.id)
    state.waiting.happened(wakes.versions(deployment.name))
    return kept


def _check_new_version(state: State, node: DeploymentNode, version: model.Version) -> None:
    """Versions are referred to by tag and by id: no tag is the id of another one, and no id is given twice."""
    other = state.versions.get(version.tag.lower())
    if other is not None:
        message = f"is {version.tag!r}, which is the id of {kinds.name_of(other.object)}; give it another tag"
        raise Rejected((Problem("spec.tag", message),))
    if version.id in state.versions:
        holder = kinds.name_of(state.versions[version.id].object)
        raise Rejected((Problem("metadata.id", f"is {version.id}, which is the id of {holder}"),))
    if any(one.tag.lower() == version.id for one in node.versions):
        message = f"is {version.id}, which is the tag of another version of {node.name}"
        raise Rejected((Problem("metadata.id", message),))


def _next_moment(deployment: DeploymentNode, created_at: Instant) -> Instant:
    """Versions of one moment are ordered by their arrival: each is a microsecond newer than the one before it."""
    taken = {version.object.created_at for version in deployment.versions}
    while created_at in taken:
        created_at += 1
    return created_at


def _set_version_status(state: State, change: SetVersionStatus, now: Instant) -> None:
    node = references.version(state, change.deployment, change.tag)
    if change.status not in references.VERSION_STATUSES:
        raise Rejected(
            (
                Problem(
                    "status", f"is {change.status!r}; allowed are {', '.join(references.VERSION_STATUSES)}"
                ),
            )
        )
    old = node.object
    message = change.message if change.message is not None else old.message
    if change.status == "rejected" and old.status != "rejected":
        rejecting.by_status(state, node, message, change.user, now)
        return
    published_at = old.published_at
    if published_at is None and change.status == "ready":
        published_at = now
    catalog.put_version(
        state,
        msgspec.structs.replace(
            old,
            status=change.status,
            message=message,
            published_at=published_at,
            rejection=old.rejection if change.status == "rejected" else None,
            updated_at=now,
        ),
    )
    state.judge_anew(node.id)
    state.waiting.happened(wakes.versions(old.deployment))
    state.journal.changed("Version", kinds.name_of(old))


def _set_variable(state: State, change: SetVariable, now: Instant) -> None:
    if (change.resource is None) == (change.deployment is None):
        raise Rejected((Problem("setVariable", "names a resource or a deployment; allowed is one of them"),))
    if change.resource is not None:
        resource = references.resource(state, change.resource).object
        values = {k: v for k, v in resource.variables.items() if k != change.key}
        if change.value is not None:
            values[change.key] = change.value
        _put_sized(state, msgspec.structs.replace(resource, variables=values), now)
        return
    deployment = references.deployment(state, change.deployment or "").object
    variables = {k: v for k, v in deployment.variables.items() if k != change.key}
    if change.value is not None:
        old = deployment.variables.get(change.key)
        variables[change.key] = model.DeploymentVariable(change.value, old.values if old is not None else ())
    _put_sized(state, msgspec.structs.replace(deployment, variables=variables), now)


def _put_sized(state: State, item: model.Resource | model.Deployment, now: Instant) -> None:
    """One variable after another makes an object that no manifest could bring."""
    too_large = manifest_objects.size_problem(item, path="")
    if too_large is not None:
        raise Rejected((too_large,))
    _put(state, Put(item), now)


def _cancel_jobs_of_removed_targets(state: State, now: Instant) -> None:
    """Its group is told before its jobs are forgotten: what they have done decides whether the resource is prepared."""
    while state.removed:
        target, site = state.removed.pop(0)
        holds.give_back_for_target(state, target, list(target.record.slots))
        job = state.jobs.get(target.record.job or "")
        if job is not None:
            jobs.cancel(state, job, now, f"{target.name} is no longer a release target")
            if job.kind == "rollback" and departing.is_left_bad(target.record, job):
                target.record.rollback_to, target.record.rollback_cause = job.version, job.reason
        if site is not None:
            leaving.target_left(state, site, target.deployment.name, now)
        for job_id in (*target.record.attempts, *([job.id] if job is not None else ())):
            state.forget_job(job_id)
        departing.leave(state, target, now)
        if departing.is_gone(state, target):
            successes.all_lost(state, target)
            failures.target_gone(state, target)


def _settle_rebound(state: State, now: Instant) -> None:
    """What runs already when rules change is counted from then on, and never stopped: of the targets that have other
    rules now, what is no longer measured, and which slots are held."""
    rebound, state.rebound = sorted(state.rebound), {}
    for target in rebound:
        if state.target_named(target.name) is not target:
            continue
        job = verifying.settle_rules(state, target, now)
        if job is not None:
            outcomes.verification_ended(state, job, now)
        _hold_what_runs(state, target, now)


def _hold_what_runs(state: State, target: Target, now: Instant) -> None:
    holds.hold_what_runs(state, target, now)
    site = target.site
    if site is not None and site.executing is not None and not site.executing.slot_released:
        cycle.hold_again(state, site, site.executing, now)


def _check_agent(state: State, deployment: model.Deployment, old: model.Deployment | None) -> None:
    """What is stored already and stays as it is can be stored again; its jobs say what is wrong."""
    if (
        old is None
        or (deployment.job_agent, deployment.job_agent_selector) != (old.job_agent, old.job_agent_selector)
        or deployment.job_agent_config != old.job_agent_config
    ):
        _check_config(state, deployment, deployment.job_agent_config)


def _check_config(state: State, deployment: model.Deployment, config: model.JsonMap) -> None:
    """What a deployment or one of its versions may say to the agents that run its jobs."""
    problems = agent_fields.closed_problems(config, _opened(state, deployment)) if config else []
    if problems:
        raise Rejected(problems)


def _opened(state: State, deployment: model.Deployment) -> set[str] | None:
    """By the agent that it names; of a selector nobody knows yet whom it chooses, so by any of them."""
    if deployment.job_agent is not None:
        agent = state.job_agents.get(deployment.job_agent)
        return set(agent.open_fields) if agent is not None else None
    if deployment.job_agent_selector is None or not state.job_agents:
        return None
    return {field for agent in state.job_agents.values() for field in agent.open_fields}


def _refuse_ids_of_others(state: State, policy: model.Policy, old: model.Policy | None) -> None:
    """What is known of a rule goes by its id: a copied policy has to have its own. What is stored already can be stored
    again."""
    known = {rule.id for rule in old.rules} if old is not None else set()
    owners = {
        rule.id: f"{node.object.name}, {rule.label}"
        for node in state.policies.values()
        if node.object.name != policy.name
        for rule in node.rules
    }
    problems = [
        Problem(
            f"spec.rules[{rule.index}].id",
            f"is {rule.id}, which is the id of {owners[rule.id]}; leave it out to have one made",
        )
        for rule in policy.rules
        if rule.id in owners and rule.id not in known
    ]
    if problems:
        raise Rejected(problems)


def _refuse_cycles(state: State, policy: model.Policy) -> None:
    """A cycle among the rules is refused when the deployments that are there show it."""
    rules = [rule.spec for rule in policy.rules if rule.kind == "deploymentDependency"]
    if not rules:
        return
    selector = optional_selector(policy.selector)
    views = [
        node.view
        for node in state.deployments.values()
        if selector is None
        or not selector.roots <= {"deployment"}
        or selector.matches({"deployment": node.view})
    ]
    path_of_cycle = deployment_dependency.find_cycle(rules, views)
    if path_of_cycle:
        raise Rejected(
            (Problem("spec.rules", f"the dependency rules form a cycle: {' -> '.join(path_of_cycle)}"),)
        )
