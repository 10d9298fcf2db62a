"""The smallest world a planner can act in: writes take effect at once, pods start and end when a test says so."""

from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Action, Create, DeleteObject, Key, Object, Update, UpdateStatus
from headgate.workload import labels, model
from headgate.workload.checks import validate
from headgate.workload.expand import manifests
from headgate.workload.plan import planner as plan

START = instants.parse("2026-03-02T09:00:00Z")
MOST_PASSES = 20


class World:
    def __init__(self, document: dict[str, Any]) -> None:
        self.now = START
        self.set = validate.check(manifests.read(document)).accepted()
        self.set.uid = "the-set"
        self.objects: dict[Key, Object] = {}
        self.last: plan.WorkloadPlan | None = None
        self._count = 0

    def plan(self) -> plan.WorkloadPlan:
        self.last = plan.plan(self.set, tuple(self.objects.values()), self.now, NamedIds())
        return self.last

    def settle(self, seconds: int = 0) -> list[str]:
        """Lets the planner act until it has nothing left to do; says what it created and deleted."""
        self.now += instants.seconds(seconds)
        said: list[str] = []
        for _ in range(MOST_PASSES):
            actions = self.plan().actions
            if not actions:
                return said
            for action in actions:
                self.apply(action)
                said += _message(action)
        raise AssertionError(f"it never comes to rest: {said[-10:]}")

    def apply(self, action: Action) -> None:
        self._count += 1
        match action:
            case Create(object=item):
                assert item.key not in self.objects, f"{item.key} is still there"
                item.uid, item.created_at = f"uid-{self._count}", self.now
                self.objects[item.key] = item
            case Update(object=item):
                self.objects[item.key] = msgspec.structs.replace(item, status=self.objects[item.key].status)
            case UpdateStatus(key=key, status=status):
                item = self.set if key == self.set.key else self.objects[key]
                item.status = status
            case DeleteObject(key=key):
                self.delete(key)

    def delete(self, key: Key) -> None:
        if key.kind == "Pod":
            self.objects[key].deleted_at = self.now
        else:
            del self.objects[key]

    def pods(self) -> Iterator[Object]:
        yield from (item for item in self.objects.values() if item.kind == "Pod")

    def run_pods(self) -> None:
        """Whatever is not gated is scheduled and ready, and whatever was deleted is gone."""
        for item in list(self.pods()):
            if item.deleted_at is not None:
                del self.objects[item.key]
            elif not item.spec.get("schedulingGates"):
                item.spec = {**item.spec, "nodeName": "node"}
                item.status = {"scheduled": True, "ready": True}

    def live(self) -> list[str]:
        return sorted(item.spec["hostname"] for item in self.pods() if item.deleted_at is None)

    def come_up(self) -> None:
        for _ in range(3):
            self.settle()
            self.run_pods()
        self.settle()

    def status(self, kind: str, name: str) -> dict[str, Any]:
        return next(item.status for item in self.objects.values() if (item.kind, item.name) == (kind, name))

    def gangs(self, pcs_index: int = 0) -> dict[str, list[str]]:
        """The pod groups of the gangs of one replica of the set, in the order in which they were made."""
        return {
            item.name: [group["name"] for group in item.spec["podgroups"]]
            for item in self.objects.values()
            if item.kind == model.GANG_KIND and item.labels[labels.PCS_REPLICA_INDEX] == str(pcs_index)
        }

    def pod(self, hostname: str) -> Object:
        return next(item for item in self.pods() if item.spec["hostname"] == hostname)


def _message(action: Action) -> list[str]:
    match action:
        case Create(object=item):
            return [f"create {item.kind} {item.spec.get('hostname', item.name)}"]
        case DeleteObject(key=key):
            return [f"delete {key.kind} {key.name}"]
        case _:
            return []
