"""The revisions of one instance, and which of them each object was granted by.

An object is at the highest revision that granted it. What is granted is written first, and what lets go of a grant
afterwards, so that a crash between the two leaves an object with two grants and never with none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.graph.reconcile import contents, revisions
from headgate.graph.reconcile.nodes import NodeUnit
from headgate.graph.reconcile.revisions import GrantedChange, Inputs, InstanceRevision
from headgate.kernel.objects import Action, Create, DeleteObject, Object, UpdateStatus


class RevisionLedger:
    def __init__(self, items: Iterable[Object]) -> None:
        self._objects = {item.uid: item for item in items}
        self._highest_number = revisions.highest_number(self._objects.values())
        parsed = (revisions.from_object(item) for item in self._objects.values())
        self.revisions = {revision.number: revision for revision in parsed if revision is not None}
        self.granted: dict[str, dict[str, tuple[int, GrantedChange]]] = {}
        """By node and object."""
        self._holders: dict[str, str] | None = None
        self._outlived: list[tuple[int, str, str]] = []
        """Grants that a later one took the place of, and that a crash kept from being let go."""
        for number in sorted(self.revisions):
            for node, record in self.revisions[number].nodes.items():
                own = self.granted.setdefault(node, {})
                for text, grant in record.granted.items():
                    if text in own:
                        self._outlived.append((own[text][0], node, text))
                    own[text] = (number, grant)

    def open(self, inputs: Inputs, order: tuple[str, ...]) -> InstanceRevision:
        """The newest revision: the last one if nothing has changed since, or a new one."""
        inputs_hash = inputs.hash()
        last = self.revisions.get(max(self.revisions, default=0))
        if last is not None and last.inputs_hash == inputs_hash:
            self.newest = last
        else:
            number = self._highest_number + 1
            self.newest = InstanceRevision(number, inputs, inputs_hash, order, {}, is_changed=True)
            self.revisions[number] = self.newest
        return self.newest

    def holder(self, text: str) -> str | None:
        """The node that was granted the object last."""
        if self._holders is None:
            highest: dict[str, int] = {}
            self._holders = {}
            for node, own in self.granted.items():
                for each, (number, _) in own.items():
                    if number > highest.get(each, 0):
                        highest[each], self._holders[each] = number, node
        return self._holders.get(text)

    def number_of(self, node: str) -> int | None:
        """The highest revision of the node, if all that it has there was granted."""
        number = self.highest_of(node)
        if not number:
            return None
        count = sum(each == number for each, _ in self.granted[node].values())
        return number if self.revisions[number].record(node).size == count else None

    def has_reached(self, node: str) -> bool:
        """Whether all that the node had at the newest revision, when that was last worked out, was granted. Where its
        content has changed since under the same number, all of it by the last change."""
        record = self.newest.nodes.get(node)
        if record is None or not record.digest or len(record.granted) != record.size:
            return False
        return not record.step or all(grant.step == record.step for grant in record.granted.values())

    def highest_of(self, node: str) -> int:
        return max((number for number, _ in self.granted.get(node, {}).values()), default=0)

    def grant(
        self,
        node: str,
        unit: NodeUnit,
        revision: InstanceRevision,
        grant: GrantedChange,
        content: contents.Content | None,
    ) -> None:
        """An object that another node was granted changes hands with it."""
        revision.grant(node, unit.text, grant, content)
        if unit.number and (unit.number, unit.origin) != (revision.number, node):
            self.revisions[unit.number].forget(unit.origin, unit.text)
        if unit.origin != node:
            self.granted.get(unit.origin, {}).pop(unit.text, None)
        self.granted.setdefault(node, {})[unit.text] = (revision.number, grant)
        unit.number, unit.grant, unit.origin = revision.number, grant, node

    def forget(self, node: str, unit: NodeUnit) -> None:
        self.revisions[unit.number].forget(node, unit.text)

    def grants(self, instance: Object, definition: str) -> list[Action]:
        """To be written before anything acts on them; the newest first."""
        actions: list[Action] = []
        for number in sorted(self.revisions, reverse=True):
            revision = self.revisions[number]
            if not revision.uid:
                actions.append(Create(revisions.to_object(revision, instance, definition)))
            elif revision.is_changed:
                actions.extend(self._updated(revision))
        return actions

    def releases(self) -> list[Action]:
        """To be written when what they are about is done: until then a grant still tells what an object was."""
        for number, node, text in self._outlived:
            self.revisions[number].forget(node, text)
        actions: list[Action] = []
        for revision in self.revisions.values():
            is_kept = revision.is_in_use or revision is self.newest
            if is_kept and revision.uid and revision.has_let_go and not revision.is_changed:
                actions.extend(self._updated(revision))
        return [*actions, *self._let_go()]

    def _updated(self, revision: InstanceRevision) -> Iterator[Action]:
        item = self._objects[revision.uid]
        status = revision.status()
        if item.status != status:
            yield UpdateStatus(item.key, revision.uid, status)

    def granted_by_hash(self, text: str, content_hash: str) -> tuple[InstanceRevision, str] | None:
        """The newest revision that granted the object this content, and to which node."""
        for number in sorted(self.revisions, reverse=True):
            for node, record in self.revisions[number].nodes.items():
                grant = record.granted.get(text)
                if grant is not None and grant.hash == content_hash:
                    return self.revisions[number], node
        return None

    def _let_go(self) -> list[Action]:
        """Revisions that nothing is at any more; one whose status was never written granted nothing."""
        gone: list[Action] = []
        for uid, item in self._objects.items():
            number = int(item.spec.get("number", 0))
            revision = self.revisions.get(number)
            if number != self.newest.number and (revision is None or not revision.is_in_use):
                gone.append(DeleteObject(item.key, uid, "nothing is at this revision any more"))
        return gone
