"""What the world outside the engine knows: every accepted object, kept apart from the engine's own books.

Agents and promises read the fleet from here, so that a promise never takes the engine's word for what it checks.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from headgate.fleet.model import changes, expressions, kinds, records, rule_ids
from headgate.fleet.model import objects as model
from headgate.kernel.instants import Instant

View = dict[str, Any]


class TargetKey(NamedTuple):
    """Which release target it is about, whether or not the engine has it."""

    deployment: str
    environment: str
    resource: str

    @property
    def name(self) -> str:
        return "/".join(self)

    @classmethod
    def of_job(cls, job: records.Job) -> "TargetKey":
        return cls(job.deployment, job.environment, job.resource)

    @classmethod
    def of_members(cls, group: records.Group) -> "list[TargetKey]":
        return [cls(member.deployment, group.environment, group.resource) for member in group.members]


class Mirror:
    """Objects by kind and name (a version by `deployment/tag`); CEL views are made once for each object."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {kind: {} for kind in kinds.BY_NAME}
        self.groups: dict[str, records.Group] = {}
        """Every group as last seen; the engine changes the record in place."""
        self.jobs: dict[str, records.Job] = {}
        """Every job, likewise."""
        self._views: dict[tuple[str, str], View] = {}

    @property
    def resources(self) -> Mapping[str, model.Resource]:
        return self.objects["Resource"]

    @property
    def environments(self) -> Mapping[str, model.Environment]:
        return self.objects["Environment"]

    @property
    def deployments(self) -> Mapping[str, model.Deployment]:
        return self.objects["Deployment"]

    @property
    def policies(self) -> Mapping[str, model.Policy]:
        return self.objects["Policy"]

    @property
    def freezes(self) -> Mapping[str, model.Freeze]:
        return self.objects["Freeze"]

    def version(self, deployment: str, tag: str) -> model.Version | None:
        known_version: model.Version | None = self.objects["Version"].get(f"{deployment}/{tag}")
        return known_version

    def version_named(self, deployment: str, tag: str) -> tuple[str, str]:
        """A version's deployment and tag, each of which may be given by id."""
        owner = self.name_in("Deployment", deployment) or deployment
        named_version = self.version(owner, tag) or next(
            (one for one in self.objects["Version"].values() if one.id == tag and one.deployment == owner),
            None,
        )
        return owner, named_version.tag if named_version is not None else tag

    def tag_of(self, deployment: str, version: str) -> str:
        """Of a version's id; '' where there is none any more."""
        held = self.objects["Version"].values()
        return next((one.tag for one in held if one.id == version and one.deployment == deployment), "")

    def name_in(self, kind: str, reference: str | None) -> str | None:
        named = self._find(kind, reference) if reference is not None else None
        return kinds.name_of(named) if named is not None else reference

    def rule(self, policy: str | None, reference: str) -> model.Rule | None:
        """By id, name or label; within a policy by index too, or by a kind that only one of its rules has."""
        policies = [self._find("Policy", policy)] if policy is not None else self.policies.values()
        rules = [rule for one in policies if one is not None for rule in one.rules]
        tries: list[list[model.Rule]] = [[rule for rule in rules if reference in (rule.id, rule.name)]]
        tries.append([rule for rule in rules if rule.label == reference])
        if policy is not None:
            tries.append([rule for rule in rules if str(rule.index) == reference])
            tries.append([rule for rule in rules if rule.kind == reference])
        return next((candidates[0] for candidates in tries if len(candidates) == 1), None)

    def rules_over(
        self, deployment: str, environment: str, resource: str
    ) -> list[tuple[model.Policy, model.Rule]]:
        """Every rule of every enabled policy that matches the target."""
        bindings = self.bindings(deployment, environment, resource)
        return [
            (policy, rule)
            for policy in self.policies.values()
            if policy.enabled and matches(policy.selector, bindings)
            for rule in policy.rules
        ]

    def rejected(self, version: model.Version) -> None:
        """The engine has marked a version as bad by itself, as a rule told it to."""
        self._put(version)

    def apply(self, change: changes.Change) -> None:
        match change:
            case changes.Put(object=model.Policy() as policy):
                self._put(self._kept(policy))
            case changes.Put(object=model.Version() as version):
                self._put(self._kept_version(version))
            case changes.Put(object=item):
                self._put(item)
            case changes.Delete(kind=kind, name=name):
                self._delete(kind, name)
            case changes.SetVersionStatus(deployment=deployment, tag=tag, status=status):
                version = self._find("Version", f"{deployment}/{tag}")
                if version is not None:
                    rejection = version.rejection if status == "rejected" else None
                    self._put(msgspec.structs.replace(version, status=status, rejection=rejection))
            case changes.RejectVersion():
                version = self._find("Version", f"{change.deployment}/{change.tag}")
                if version is not None:
                    was_sent_back = version.rejection is not None and version.rejection.rollback
                    goes_back = change.rollback or was_sent_back
                    rejection = model.Rejection(change.reason, change.user, 0, goes_back)
                    self._put(msgspec.structs.replace(version, status="rejected", rejection=rejection))
            case changes.SetVariable(key=key, value=value, resource=str(resource)):
                self._set_variable(resource, key, value)
            case _:
                pass

    def _put(self, item: Any) -> None:
        kind = kinds.of(item).name
        name = kinds.name_of(item)
        self.objects[kind][name] = item
        self._views.pop((kind, name), None)

    def _kept(self, policy: model.Policy) -> model.Policy:
        """A policy that is put again keeps its id, and so do its rules."""
        old = self.policies.get(policy.name)
        rules = rule_ids.settled(policy, old)
        return msgspec.structs.replace(policy, id=old.id if old is not None else policy.id, rules=rules)

    def _kept_version(self, version: model.Version) -> model.Version:
        """A version that is put again keeps its id, and a mark as bad is not lifted by it."""
        owner = self.name_in("Deployment", version.deployment) or version.deployment
        old = self.version(owner, version.tag)
        if old is None:
            return msgspec.structs.replace(version, deployment=owner)
        is_marked = old.rejection is not None
        return msgspec.structs.replace(
            version,
            id=old.id,
            deployment=owner,
            status=old.status if is_marked else version.status,
            rejection=old.rejection,
        )

    def _find(self, kind: str, reference: str) -> Any:
        """By name; by id only when no name fits, because that takes a search."""
        held = self.objects[kind]
        if reference in held:
            return held[reference]
        return next((item for item in held.values() if item.id == reference), None)

    def _delete(self, kind: str, reference: str) -> None:
        item = self._find(kind, reference) if kind in self.objects else None
        if item is None:
            return
        name = kinds.name_of(item)
        del self.objects[kind][name]
        self._views.pop((kind, name), None)
        if kind == "Deployment":
            for key in [
                key for key, version in self.objects["Version"].items() if version.deployment == name
            ]:
                self._delete("Version", key)

    def _set_variable(self, reference: str, key: str, value: object) -> None:
        resource = self._find("Resource", reference)
        if resource is None:
            return
        variables = {**resource.variables, key: value}
        if value is None:
            del variables[key]
        self._put(msgspec.structs.replace(resource, variables=variables))

    def view(self, kind: str, name: str) -> View | None:
        key = (kind, name)
        view = self._views.get(key)
        if view is None:
            item = self.objects[kind].get(name)
            if item is None:
                return None
            view = self._views[key] = item.cel_view()
        return view

    def bindings(self, deployment: str, environment: str, resource: str) -> dict[str, object]:
        """What a selector over a target reads; a part that is gone is left out, so reading it fails."""
        views: dict[str, object] = {}
        for variable, kind, name in (
            ("deployment", "Deployment", deployment),
            ("environment", "Environment", environment),
            ("resource", "Resource", resource),
        ):
            view = self.view(kind, name)
            if view is not None:
                views[variable] = view
        return views

    def freezes_over(
        self, deployment: str, environment: str, resource: str, now: Instant
    ) -> Iterator[model.Freeze]:
        if not self.freezes:
            return
        bindings = self.bindings(deployment, environment, resource)
        for freeze in self.freezes.values():
            if not freeze.is_over(now) and matches(freeze.selector, bindings):
                yield freeze


def matches(selector: str | None, bindings: Mapping[str, object]) -> bool:
    return selector is None or expressions.SELECTOR.selector(selector).matches(bindings)
