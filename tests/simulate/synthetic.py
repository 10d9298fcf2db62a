"""A made-up run to test promises with: objects, jobs and groups as an engine would report them."""

from typing import Any

from headgate.fleet.engine import manifests
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.fleet.state.state import GateResult
from headgate.fleet.state.units import BoundRule
from headgate.kernel import decisions, instants
from headgate.kernel.identifiers import NamedIds
from headgate.promises.books.mirror import Mirror
from headgate.promises.watch import FleetWatch

START = instants.parse("2026-03-01T09:00:00Z")
IDS = NamedIds()


def put(kind: str, name: str, /, **spec: object) -> changes.Put:
    document = {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    found: Any = manifests.parse(document, IDS, START)
    return changes.Put(found)


def version(deployment: str, tag: str, **spec: object) -> changes.Put:
    return put("Version", f"{deployment}/{tag}", deployment=deployment, tag=tag, **spec)


def job(resource: str = "node-1", deployment: str = "api", tag: str = "v1", **fields: Any) -> records.Job:
    settings: dict[str, Any] = {
        "id": f"{deployment}-{resource}-{tag}-{fields.get('attempt', 1)}",
        "deployment": deployment,
        "environment": "prod",
        "resource": resource,
        "version": IDS.new("Version", f"{deployment}/{tag}"),
        "tag": tag,
        "variables": (),
        "attempt": 1,
        "kind": "deploy",
        "created_at": START,
        **fields,
    }
    return records.Job(**settings)


def group(
    resource: str = "node-1", status: records.GroupStatus = "executing", **fields: Any
) -> records.Group:
    settings: dict[str, Any] = {
        "id": f"group-{resource}",
        "policy": "lifecycle",
        "rule": "rule",
        "environment": "prod",
        "resource": resource,
        "status": status,
        "collection_started_at": START,
        "collection_ends_at": START,
        "created_at": START,
        **fields,
    }
    return records.Group(**settings)


def allowed_by(policy: model.Policy, rule: model.Rule, **details: object) -> GateResult:
    return GateResult(BoundRule(policy, rule), rule.kind, decisions.allowed("fine", **details))


class ObservedFleet:
    """A watch over a fleet of four nodes and one deployment, `api`, in one environment, `prod`."""

    def __init__(self, *policies: changes.Put) -> None:
        self.watch = FleetWatch(Mirror(), START)
        self.accept(put("Environment", "prod", resourceSelector="true"))
        self.accept(put("Deployment", "api", resourceSelector="true"))
        for number in range(1, 5):
            self.accept(put("Resource", f"node-{number}", kind="Node"))
        self.accept(version("api", "v1"))
        for policy in policies:
            self.accept(policy)

    def accept(self, change: changes.Change) -> None:
        self.watch.accepted(change)

    def create(self, *jobs: records.Job) -> None:
        """Each with what an engine says that has asked everybody and heard no objection."""
        for created in jobs:
            place = (created.deployment, created.environment, created.resource)
            said = [allowed_by(*bound) for bound in self.watch.mirror.rules_over(*place)]
            self.watch.on_job_created(created, said)

    def end(self, ended: records.Job, status: str = "successful") -> None:
        before, ended.status = ended.status, status
        self.watch.on_job_changed(ended, before)

    @property
    def broken(self) -> list[str]:
        return [violation.promise for violation in self.watch.violations]

    @property
    def messages(self) -> str:
        return "\n".join(violation.message for violation in self.watch.violations)
