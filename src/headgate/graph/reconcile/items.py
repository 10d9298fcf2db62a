"""What expressions see of the objects of a graph: an item for each desired object, created or not.

An item reads like the observed object. In a collection it also has `value`, its forEach input, and `index`, its place
in the desired order. A list of items keeps its own counts, so that asking ten thousand items one after another
whether they may go does not count ten thousand items each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headgate import cel
from headgate.graph.reconcile import contents
from headgate.kernel.objects import Object


class GraphItem:
    """One desired object. `ready` is asked once, and only if an expression asks."""

    __slots__ = ("_document", "_ready", "index", "is_changed", "is_current", "is_member", "object", "value")

    def __init__(
        self,
        item: Object | None,
        is_updated: bool,
        ready: Callable[[GraphItem], bool] | bool,
        *,
        is_changed: bool = False,
        is_member: bool = False,
        value: object = None,
        index: int = 0,
    ) -> None:
        self.object = item
        self.is_current = is_updated
        self._ready = ready
        self.is_changed = is_changed
        """Whether the propagation that is under way brought it to where it is."""
        self.is_member = is_member
        self.value = value
        self.index = index
        self._document: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> object:
        if self.is_member:
            if name == "value":
                return self.value
            if name == "index":
                return self.index
        return self.as_document()[name]

    __cel_field__ = __getitem__

    def as_document(self) -> dict[str, Any]:
        if self._document is None:
            self._document = {} if self.object is None else contents.document_of(self.object)
        return self._document

    def is_ready(self) -> bool:
        if not isinstance(self._ready, bool):
            self._ready = self._ready(self)
        return self._ready

    def is_updated(self) -> bool:
        return self.is_current

    def set_ready(self, ready: bool) -> None:
        self._ready = ready

    def __repr__(self) -> str:
        name = self.object.name if self.object is not None else "not created"
        return f"Item({name})"


class GraphItems(list[GraphItem]):
    """A collection in its desired order, with one slot for each desired item.

    Of the items that this propagation has to change, `landed` are at its content and ready, `in_flight` are at its
    content and not ready yet. A change that an earlier propagation left in flight is still in flight.
    """

    def __init__(self, members: Iterable[GraphItem] = (), in_flight_before: Iterable[GraphItem] = ()) -> None:
        super().__init__(members)
        self._older = tuple(in_flight_before)
        self._counts: tuple[int, int] | None = None
        self._ranks: dict[int, int] | None = None
        self._admitted = 0
        self.version = 0
        """Moves with every admission: an answer that was true of one version may not be of the next."""

    def landed_count(self) -> int:
        return self._counted()[0]

    def in_flight_count(self) -> int:
        return self._counted()[1]

    def rank_among_not_updated(self, item: object) -> int:
        """Admissions come in the order of the list, so each takes one rank from all that follow."""
        if not isinstance(item, GraphItem) or not item.is_member:
            raise cel.EvaluationError("the first argument is not an item of the list")
        if self._ranks is None:
            self._ranks = {}
            for each in self:
                if not each.is_current:
                    self._ranks[id(each)] = len(self._ranks)
            self._admitted = 0
        rank = self._ranks.get(id(item))
        if rank is None:
            raise cel.EvaluationError("the first argument is not an item of the list")
        return rank - self._admitted

    def index_of(self, item: object) -> int:
        if isinstance(item, GraphItem) and item.index < len(self) and self[item.index] is item:
            return item.index
        raise cel.EvaluationError("indexOf: the item is not in the list")

    def admit(self, item: GraphItem) -> None:
        """From now on it counts as updated and in flight, for whoever is asked next."""
        landed, in_flight = self._counted()
        item.is_current = True
        item.is_changed = True
        item.set_ready(False)
        self._counts = (landed, in_flight + 1)
        if self._ranks is not None:
            self._admitted += 1
        self.version += 1

    def _counted(self) -> tuple[int, int]:
        if self._counts is None:
            landed = in_flight = 0
            for item in self:
                if item.is_changed and item.is_current:
                    if item.is_ready():
                        landed += 1
                    else:
                        in_flight += 1
            in_flight += sum(1 for item in self._older if item.is_current and not item.is_ready())
            self._counts = (landed, in_flight)
        return self._counts
