"""Takes accepted changes into the state, and refuses what names nothing or contradicts what is there."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from headgate.fleet import catalog, changes, failures, holds, jobs, model, references, verifying
from headgate.fleet.brackets import cycle, operators, shape
from headgate.fleet.changes import (
    Change,
    Delete,
    DeleteSkip,
    GroupAction,
    JobReported,
    Measured,
    Put,
    PutSkip,
    ResumeBudget,
    SetVariable,
    SetVersionStatus,
    TargetAction,
    Vote,
)
from headgate.fleet.records import Job
from headgate.fleet.rules import deployment_dependency
from headgate.fleet.state import State
from headgate.fleet.units import Place, Target, VersionNode, optional_selector
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def apply(state: State, change: Change, now: Instant) -> None:
    match change:
        case Put():
            _put(state, change, now)
        case Delete():
            _delete(state, change, now)
        case SetVersionStatus():
            _set_version_status(state, change, now)
        case Vote():
            _vote(state, change, now)
        case PutSkip():
            _put_skip(state, change, now)
        case DeleteSkip():
            _delete_skip(state, change)
        case SetVariable():
            _set_variable(state, change, now)
        case GroupAction():
            operators.act(state, change, now)
        case TargetAction():
            _target_action(state, change, now)
        case ResumeBudget():
            failures.resume(state, references.rule(state, change.policy, change.rule).id, change.environment)
        case JobReported():
            _job_reported(state, change, now)
        case Measured():
            _measured(state, change, now)
    _cancel_jobs_of_removed_targets(state, now)


def _put(state: State, change: Put, now: Instant) -> None:
    thing = change.object
    references.check_unique(state, thing, create_only=change.create_only)
    match thing:
        case model.Resource():
            catalog.put_resource(state, _stamped(thing, _object(state.resources.get(thing.name)), now))
            _hold_what_runs_on(state, thing.name, now)
        case model.Environment():
            catalog.put_environment(state, _stamped(thing, _object(state.environments.get(thing.name)), now))
            state.shared.clear()
            state.waiting.happened(("environments",))
        case model.Deployment():
            catalog.put_deployment(state, _stamped(thing, _object(state.deployments.get(thing.name)), now))
        case model.Version():
            _put_version(state, thing, now)
        case model.Policy():
            _refuse_cycles(state, thing)
            catalog.put_policy(state, _stamped(thing, _object(state.policies.get(thing.name)), now))
            _rules_changed(state, now)
        case model.JobAgent():
            state.job_agents[thing.name] = _stamped(thing, state.job_agents.get(thing.name), now)
        case model.VariableSet():
            old = state.variable_sets.get(thing.name)
            stamped = _stamped(thing, old[0] if old else None, now)
            state.variable_sets[thing.name] = (stamped, optional_selector(thing.selector))
            _touch_all(state)
        case model.Freeze():
            frozen = state.freezes.get(thing.name)
            stamped_freeze = _stamped(thing, frozen[0] if frozen else None, now)
            state.freezes[thing.name] = (stamped_freeze, optional_selector(thing.selector))
            state.waiting.happened(("freeze",))
        case model.Signal():
            signal = _stamped(thing, state.signals.get(thing.name), now)
            state.signals[thing.name] = msgspec.structs.replace(signal, set_at=now)
            state.waiting.happened(("signals",))
    state.journal.changed(type(thing).__name__, references.name_of(thing))


def _object(node: object) -> object:
    return getattr(node, "object", None)


Thing = TypeVar("Thing", bound=changes.Object)


def _stamped(thing: Thing, old: object, now: Instant) -> Thing:
    """A changed object keeps its id and its creation; a new one is created now."""
    if old is None:
        created = getattr(thing, "created_at", 0) or now
        return msgspec.structs.replace(thing, created_at=created)
    return msgspec.structs.replace(
        thing, id=getattr(old, "id", ""), created_at=getattr(old, "created_at", now), updated_at=now
    )


def _put_version(state: State, version: model.Version, now: Instant) -> None:
    deployment = references.deployment(state, version.deployment, path="spec.deployment")
    for name in version.dependencies:
        if name == deployment.name:
            raise Rejected(
                (Problem(f"spec.dependencies.{name}", "a version cannot depend on its own deployment"),)
            )
    old = deployment.version(version.tag)
    stamped = _stamped(version, old.object if old else None, now)
    published_at = old.object.published_at if old is not None else None
    if published_at is None and stamped.status == "ready":
        published_at = stamped.created_at if old is None else now
    catalog.put_version(
        state, msgspec.structs.replace(stamped, deployment=deployment.name, published_at=published_at)
    )
    _judge_anew(state, stamped.id)


def _judge_anew(state: State, version_id: str) -> None:
    for key in [key for key in state.shared if key[1] == version_id]:
        del state.shared[key]


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
    published_at = node.object.published_at
    if published_at is None and change.status == "ready":
        published_at = now
    message = change.message if change.message is not None else node.object.message
    catalog.put_version(
        state,
        msgspec.structs.replace(
            node.object,
            status=change.status,
            message=message,
            published_at=published_at,
            updated_at=now,
        ),
    )
    _judge_anew(state, node.id)
    state.journal.changed("Version", node.id)


def _vote(state: State, change: Vote, now: Instant) -> None:
    node = references.version(state, change.deployment, change.tag)
    environment = references.environment(state, change.environment)
    if not change.user.strip():
        raise Rejected((Problem("user", "must name who votes"),))
    votes = state.approvals.setdefault((node.id, environment.name), {})
    votes.pop(change.user, None)
    if change.status != "withdrawn":
        votes[change.user] = model.Approval(
            node.id, environment.name, change.user, change.status, change.reason, now, change.roles
        )
    _judge_anew(state, node.id)
    state.journal.changed("approval", node.id, environment.name, change.user)
    state.waiting.happened(("votes", node.id, environment.name))
    pair = state.deployments[node.object.deployment].pairs.get(environment.name)
    for target in pair.targets.values() if pair is not None else ():
        if target.place is not None:
            state.waiting.touch(target.place)


def _put_skip(state: State, change: PutSkip, now: Instant) -> None:
    rule = references.rule(state, change.policy, change.rule)
    problems = []
    if not change.reason.strip():
        problems.append(Problem("reason", "must say why; it is shown to everyone who asks"))
    if rule.kind in references.NOT_SKIPPABLE:
        problems.append(Problem("rule", f"{rule.kind} has no verdict that could be skipped"))
    if (change.deployment is None) != (change.tag is None):
        problems.append(
            Problem("tag", "deployment and tag name a version together; allowed is both or neither")
        )
    if problems:
        raise Rejected(problems)
    version = None
    if change.deployment is not None and change.tag is not None:
        version = references.version(state, change.deployment, change.tag).id
    skip = model.Skip(
        id=change.id or state.new_id("skip", rule.id),
        policy=rule.policy.name,
        rule=rule.id,
        version_id=version,
        environment=references.environment(state, change.environment).name if change.environment else None,
        resource=references.resource(state, change.resource).name if change.resource else None,
        reason=change.reason,
        user=change.user,
        created_at=now,
        expires_at=change.expires_at,
    )
    state.skips[skip.id] = skip
    state.skips_by_rule.setdefault(rule.id, {})[skip.id] = skip
    state.waiting.happened(("skips", rule.id))
    state.journal.changed("skip", skip.id)


def _delete_skip(state: State, change: DeleteSkip) -> None:
    skip = state.skips.pop(change.id, None)
    if skip is None:
        raise Rejected((Problem("id", f"there is no skip {change.id}"),))
    by_rule = state.skips_by_rule[skip.rule]
    del by_rule[skip.id]
    if not by_rule:
        del state.skips_by_rule[skip.rule]
    state.waiting.happened(("skips", skip.rule))
    state.journal.changed("skip", skip.id)


def _set_variable(state: State, change: SetVariable, now: Instant) -> None:
    if (change.resource is None) == (change.deployment is None):
        raise Rejected((Problem("setVariable", "names a resource or a deployment; allowed is one of them"),))
    if change.resource is not None:
        resource = references.resource(state, change.resource).object
        values = {k: v for k, v in resource.variables.items() if k != change.key}
        if change.value is not None:
            values[change.key] = change.value
        _put(state, Put(msgspec.structs.replace(resource, variables=values)), now)
        return
    deployment = references.deployment(state, change.deployment or "").object
    variables = {k: v for k, v in deployment.variables.items() if k != change.key}
    if change.value is not None:
        old = deployment.variables.get(change.key)
        variables[change.key] = model.DeploymentVariable(change.value, old.values if old is not None else ())
    _put(state, Put(msgspec.structs.replace(deployment, variables=variables)), now)


def _delete(state: State, change: Delete, now: Instant) -> None:
    name = change.name
    match change.kind:
        case "Resource":
            node = references.resource(state, name)
            _end_groups(state, [p for p in state.places.values() if p.resource is node], node.name, now)
            catalog.remove_resource(state, node)
        case "Environment":
            environment = references.environment(state, name)
            gone = [p for p in state.places.values() if p.environment is environment]
            _end_groups(state, gone, environment.name, now)
            pairs = [
                d.pairs[environment.name] for d in state.deployments.values() if environment.name in d.pairs
            ]
            catalog.remove_pairs(state, pairs)
            del state.environments[environment.name]
            state.shared.clear()
            state.waiting.happened(("environments",))
        case "Deployment":
            deployment = references.deployment(state, name)
            catalog.remove_pairs(state, list(deployment.pairs.values()))
            for version in list(deployment.versions):
                catalog.remove_version(state, version)
            del state.deployments[deployment.name]
        case "Version":
            owner, _, tag = name.partition("/")
            version_node = references.version(state, owner, tag)
            _refuse_if_in_use(state, version_node)
            catalog.remove_version(state, version_node)
        case "Policy":
            catalog.remove_policy(state, references.policy(state, name))
            _rules_changed(state, now)
        case "JobAgent" | "VariableSet" | "Freeze" | "Signal":
            references.remove_simple(state, change.kind, name)
            _touch_all(state) if change.kind == "VariableSet" else None
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
        state.sites.pop(place.site, None)


def _cancel_jobs_of_removed_targets(state: State, now: Instant) -> None:
    while state.removed:
        target = state.removed.pop(0)
        holds.give_back(state, target.resource.name, target.name)
        job = state.jobs.get(target.record.job or "")
        if job is not None:
            jobs.cancel(state, job, now, f"{target.name} is no longer a release target")
            cycle.job_ended(state, job, now)
            state.jobs.pop(job.id, None)


def _rules_changed(state: State, now: Instant) -> None:
    for job in verifying.drop_unruled(state, now):
        _verification_ended(state, job, now)
    _hold_what_runs(state, now)


def _hold_what_runs(state: State, now: Instant) -> None:
    """A rule that arrives while jobs run counts what runs; it takes nothing away."""
    for name in sorted(state.unfinished):
        holds.restore_target(state, state.targets[name], now)
    for place in state.places.values():
        if place.executing is not None and not place.executing.slot_released:
            cycle.hold_again(state, place, place.executing, now)


def _hold_what_runs_on(state: State, resource: str, now: Instant) -> None:
    """A resource that changes its group takes its work along: counted there from now on, and no longer here."""
    holds.leave_groups(state, resource)
    for target in state.resources[resource].targets.values():
        holds.restore_target(state, target, now)
        place = target.place
        if place is not None and place.executing is not None and not place.executing.slot_released:
            cycle.hold_again(state, place, place.executing, now)


def _target_action(state: State, change: TargetAction, now: Instant) -> None:
    target = references.target(state, change.target)
    record = target.record
    if record.job is not None:
        raise Rejected((Problem("target", f"{target.name} has a live job; wait for it to end"),))
    if target.place is not None and target.deployment.name in shape.of_place(target.place).hooks:
        raise Rejected(
            (Problem("target", f"{target.name} is a hook: it runs in every cycle, not by itself"),)
        )
    match change.action:
        case "retry":
            _retry_target(state, target)
        case "redeploy":
            if record.deployed is None:
                raise Rejected((Problem("target", f"{target.name} has nothing deployed to deploy again"),))
            record.ordered = "redeploy"
        case "rollback":
            if record.previous is None or record.previous not in state.versions:
                raise Rejected((Problem("target", f"{target.name} has no previous version to go back to"),))
            jobs.order_rollback(state, target, record.deployed or "", record.previous)
            record.failed_at = None
    state.target_changed(target)
    state.touch(target)


def _retry_target(state: State, target: Target) -> None:
    """Whatever failed or was put back here may be tried again."""
    record = target.record
    record.failed_at = None
    record.failed_version = None
    record.failures.clear()
    record.spent.clear()
    record.retry_at = None
    record.attempts = record.attempts[-1:]
    if target.place is not None:
        target.place.record.floors.pop(target.deployment.name, None)
        target.place.record.backs.pop(target.deployment.name, None)
        state.journal.changed("place", *target.place.key)


def _job_reported(state: State, change: JobReported, now: Instant) -> None:
    if change.status not in model.JOB_LIVE | model.JOB_TERMINAL:
        allowed = ", ".join(sorted(model.JOB_LIVE | model.JOB_TERMINAL))
        raise Rejected((Problem("status", f"is {change.status!r}; allowed are {allowed}"),))
    job = state.jobs.get(change.job)
    ended_before = job is None or job.completed_at is not None
    jobs.report(state, change, now)
    if job is not None and not ended_before and job.completed_at is not None:
        cycle.job_ended(state, job, now)


def _measured(state: State, change: Measured, now: Instant) -> None:
    if not verifying.measured(state, change, now):
        return
    _verification_ended(state, state.jobs[change.job], now)


def _verification_ended(state: State, job: Job, now: Instant) -> None:
    if job.group is not None:
        cycle.job_ended(state, job, now)
    elif job.verification == "failed":
        _verification_failed(state, job, now)


def _verification_failed(state: State, job: Job, now: Instant) -> None:
    """Only what still runs can be put back; a newer release has its own verification."""
    target = state.targets.get(job.target)
    if target is None or target.record.deployed != job.version or target.record.job is not None:
        return
    jobs.given_up(state, target, job, now)
    if jobs.fires_rollback(target, job.status, verification_failed=True):
        jobs.order_rollback(state, target, job.version, target.record.previous)
    state.target_changed(target)


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
    found = deployment_dependency.find_cycle(rules, views)
    if found:
        raise Rejected((Problem("spec.rules", f"the dependency rules form a cycle: {' -> '.join(found)}"),))


def _touch_all(state: State) -> None:
    for target in state.targets.values():
        state.touch(target)
