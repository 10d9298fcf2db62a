"""What can be said about a set of manifests without applying it: each one by itself, and how they fit together."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec

from headgate.fleet.engine import manifest_objects
from headgate.fleet.engine.manifest_text import TextDocument
from headgate.fleet.model import agent_fields, expressions
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.rules import deployment_dependency
from headgate.kernel import identifiers
from headgate.kernel.documents import field_path
from headgate.kernel.problems import Problem, Rejected


class _Read(msgspec.Struct, frozen=True):
    document: TextDocument
    object: Object

    def problem(self, path: str, message: str) -> Problem:
        return manifest_objects.located(self.document, Problem(path, message))


def validate(documents: Sequence[TextDocument]) -> list[Problem]:
    """All problems of all documents, in their order; references are checked as far as the set itself decides them."""
    problems: list[Problem] = []
    read: list[_Read] = []
    ids = identifiers.NamedIds("validate")
    for document in documents:
        try:
            parsed = manifest_objects.parse(document, ids, 0)
        except Rejected as rejected:
            problems.extend(manifest_objects.located(document, problem) for problem in rejected.problems)
            continue
        if not isinstance(parsed, manifest_objects.ForeignObject):
            read.append(_Read(document, parsed))
    problems.extend(_repeated(read))
    problems.extend(_unknown_references(read, _declared(documents)))
    problems.extend(_closed_fields(read))
    problems.extend(_cycles(read))
    return problems


def _repeated(read: Sequence[_Read]) -> Iterator[Problem]:
    seen: dict[tuple[str, ...], _Read] = {}
    for item in read:
        for path, what, key in _unique_keys(item.object):
            first = seen.setdefault((type(item.object).__name__, item.object.workspace, path, *key), item)
            if first is not item:
                place = f"{first.document.source}:{first.document.line}"
                yield item.problem(path, f"{what} is already used in {place}")


def _unique_keys(item: Object) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    kind = type(item).__name__
    yield "metadata.id", f"the id {item.id}", (item.id,)
    if isinstance(item, model.Version):
        yield "spec.tag", f"the tag {item.tag} of {item.deployment}", (item.deployment, item.tag)
    else:
        yield "metadata.name", f"the name of {kind} {item.name}", (item.name,)
    if isinstance(item, model.Resource):
        yield "spec.identifier", f"the identifier {item.identifier}", (item.identifier,)


def _unknown_references(read: Sequence[_Read], declared: Mapping[str, frozenset[str]]) -> Iterator[Problem]:
    """A set without any deployment is meant for a fleet that has them; one with some is taken to have all."""
    deployments, agents = declared["Deployment"], declared["JobAgent"]
    for item in read:
        referring = item.object
        if isinstance(referring, model.Version) and deployments:
            if referring.deployment not in deployments:
                yield item.problem("spec.deployment", _unknown(referring.deployment, deployments))
            for name in referring.dependencies:
                if name not in deployments:
                    yield item.problem(field_path("spec.dependencies", name), _unknown(name, deployments))
        agent = referring.job_agent if isinstance(referring, model.Deployment) else None
        if agents and agent is not None and agent not in agents:
            yield item.problem("spec.jobAgent", _unknown(agent, agents))


def _closed_fields(read: Sequence[_Read]) -> Iterator[Problem]:
    """What no job agent, or not the one that the set itself declares, lets deployments and versions fill."""
    agents = {item.object.name: item.object for item in read if isinstance(item.object, model.JobAgent)}
    owners = {item.object.name: item.object for item in read if isinstance(item.object, model.Deployment)}
    for item in read:
        configured = item.object
        if isinstance(configured, model.Deployment | model.Version):
            owner = (
                configured if isinstance(configured, model.Deployment) else owners.get(configured.deployment)
            )
            agent = agents.get((owner.job_agent if owner is not None else None) or "")
            opened = agent.open_fields if agent is not None else None
            for problem in agent_fields.closed_problems(configured.job_agent_config, opened):
                yield item.problem(problem.path, problem.message)


def _declared(documents: Sequence[TextDocument]) -> dict[str, frozenset[str]]:
    """Names and ids by kind, because a reference takes either; of refused documents too, they are there after all."""
    declared: dict[str, set[str]] = {"Deployment": set(), "JobAgent": set()}
    for document in documents:
        value = document.value
        metadata = value.get("metadata") if isinstance(value, dict) else None
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind in ("Deployment", "JobAgent") and isinstance(metadata, dict):
            declared[kind].update(str(metadata[key]) for key in ("name", "id") if key in metadata)
    return {kind: frozenset(names) for kind, names in declared.items()}


def _unknown(name: str, known: Set[str]) -> str:
    names = sorted(name for name in known if not identifiers.is_uuid(name))
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f'is "{name}", which is not in this set; there are {", ".join(names[:10])}{more}'


def _cycles(read: Sequence[_Read]) -> Iterator[Problem]:
    views = [item.object.cel_view() for item in read if isinstance(item.object, model.Deployment)]
    for item in read:
        policy = item.object
        if not isinstance(policy, model.Policy) or not policy.enabled:
            continue
        covered = _covered(policy, views)
        dependencies = [rule.spec for rule in policy.rules if rule.kind == "deploymentDependency"]
        cycle = deployment_dependency.find_cycle(dependencies, covered)
        if cycle is not None:
            path = "spec.rules" if "kind" in item.document.value else "rules"
            yield item.problem(path, f"has dependencies in a circle: {' needs '.join(cycle)}")


def _covered(policy: model.Policy, views: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """None if the selector looks at the resource or the environment: then it cannot be decided here."""
    if policy.selector is None:
        return views
    selector = expressions.SELECTOR.selector(policy.selector)
    if not selector.roots <= {"deployment"}:
        return []
    return [view for view in views if selector.matches({"deployment": view})]
