"""What the world outside the engine knows: every accepted object, kept apart from the engine's own books.

Agents and promises read the fleet from here, so that a promise never takes the engine's word for what it checks.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headgate.fleet import changes, expressions, model, records
from headgate.kernel.instants import Instant

View = dict[str, Any]

_KIND_OF: dict[type, str] = {
    model.Resource: "Resource",
    model.Environment: "Environment",
    model.Deployment: "Deployment",
    model.Version: "Version",
    model.Policy: "Policy",
    model.JobAgent: "JobAgent",
    model.VariableSet: "VariableSet",
    model.Freeze: "Freeze",
    model.Signal: "Signal",
}
KINDS = tuple(_KIND_OF.values())


class Mirror:
    """Objects by kind and name (a version by `deployment/tag`); CEL views are made once for each object."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
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
        found: model.Version | None = self.objects["Version"].get(f"{deployment}/{tag}")
        return found

    def apply(self, change: changes.Change) -> None:
        match change:
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
                    rejection = model.Rejection(change.reason, change.user, 0, change.rollback)
                    self._put(msgspec.structs.replace(version, status="rejected", rejection=rejection))
            case changes.SetVariable(key=key, value=value, resource=str(resource)):
                self._set_variable(resource, key, value)
            case _:
                pass

    def _put(self, item: Any) -> None:
        kind = _KIND_OF[type(item)]
        name = name_of(item)
        self.objects[kind][name] = item
        self._views.pop((kind, name), None)

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
        name = name_of(item)
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
        found: dict[str, object] = {}
        for variable, kind, name in (
            ("deployment", "Deployment", deployment),
            ("environment", "Environment", environment),
            ("resource", "Resource", resource),
        ):
            view = self.view(kind, name)
            if view is not None:
                found[variable] = view
        return found

    def freezes_over(
        self, deployment: str, environment: str, resource: str, now: Instant
    ) -> Iterator[model.Freeze]:
        if not self.freezes:
            return
        bindings = self.bindings(deployment, environment, resource)
        for freeze in self.freezes.values():
            if not freeze.is_over(now) and matches(freeze.selector, bindings):
                yield freeze


def name_of(item: Any) -> str:
    return f"{item.deployment}/{item.tag}" if isinstance(item, model.Version) else item.name


def matches(selector: str | None, bindings: Mapping[str, object]) -> bool:
    return selector is None or expressions.SELECTOR.selector(selector).matches(bindings)
