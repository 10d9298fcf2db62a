"""Stands beside the engine and writes down what it does: for the promises, and for the result."""

from collections.abc import Sequence

from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.kernel.instants import Instant
from headgate.promises import FLEET
from headgate.promises.base import FleetPromise
from headgate.promises.books.mirror import Mirror
from headgate.promises.watch import FleetWatch
from headgate.simulate.model import group_steps
from headgate.simulate.model.usage import UsageLedger


class Recording(FleetWatch):
    def __init__(self, mirror: Mirror, now: Instant, checked: Sequence[type[FleetPromise]] = FLEET) -> None:
        super().__init__(mirror, now, checked)
        self.ledger = UsageLedger(mirror)
        self.group_steps: list[group_steps.GroupProgress] = []
        self.tags: dict[str, str] = {}

    def accepted(self, change: changes.Change) -> None:
        super().accepted(change)
        if isinstance(change, changes.JobReported):
            return
        if isinstance(change, changes.Put) and isinstance(change.object, model.Version):
            self.tags[change.object.id] = change.object.tag
        self.ledger.changed(change)

    def decided(self) -> None:
        self.ledger.decided(self.now)
        super().decided()

    def on_group_changed(self, group: records.Group) -> None:
        self.group_steps.append(group_steps.newest(group, self.now))
        super().on_group_changed(group)

    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None:
        self.ledger.taken(rule, resource, self.now)

    def on_slot_freed(self, rule: str, resource: str) -> None:
        self.ledger.freed(rule, resource, self.now)
