"""Gates that count their own collection, kept from counting it anew for every item.

`pods.filter(p, p.updated() && !p.ready()).size() < 2` is asked of each item in turn, and each admission counts before
the next is asked. What such a fold says about one item changes only when that item is admitted, so it is counted once
and then kept up to date. An expression in which no such fold is found, or whose fold fails for an item, is evaluated
as it stands.
"""

from __future__ import annotations

import dataclasses
from collections import ChainMap
from collections.abc import Mapping
from typing import Any, Literal

from headgate import cel
from headgate.cel import syntax
from headgate.cel.syntax import Loop, SyntaxNode
from headgate.cel.types import BOOL, INT
from headgate.graph.reconcile.items import GraphItem, GraphItems

_ITEM = "@item"

Kind = Literal["count", "all", "exists", "exists_one"]


@dataclasses.dataclass(frozen=True)
class CountingFold:
    """`name` stands in the rewritten expression for what `predicate` says about all items together."""

    name: str
    kind: Kind
    predicate: cel.Program
    reads_state_only: bool
    """Whether all that it asks of an item is `ready()` and `updated()`: then four answers serve all items."""


@dataclasses.dataclass(frozen=True)
class Counted:
    program: cel.Program
    folds: tuple[CountingFold, ...]
    reads_item: bool
    """Whether the answer differs between items of the same list."""


def rewritten(program: cel.Program, collection: str, item_names: frozenset[str]) -> Counted:
    """`item_names` are the names of the current item in the expression."""
    rewriting = _Rewriting(program, collection, item_names)
    root = rewriting.node(program.root)
    if not rewriting.folds:
        return Counted(program, (), bool(program.roots & item_names))
    changed = cel.Program(program.text, root, program.slots, program.callees)
    return Counted(changed, tuple(rewriting.folds), bool(changed.roots & item_names))


class _Rewriting:
    def __init__(self, program: cel.Program, collection: str, item_names: frozenset[str]) -> None:
        self._program = program
        self._collection = collection
        self._item_names = item_names
        self.folds: list[CountingFold] = []

    def node(self, node: SyntaxNode) -> SyntaxNode:
        folded = self._folded(node)
        if folded is not None:
            return folded
        if isinstance(node, syntax.Call):
            return dataclasses.replace(node, arguments=tuple(self.node(each) for each in node.arguments))
        return node

    def _folded(self, node: SyntaxNode) -> SyntaxNode | None:
        match node:
            case syntax.Call(function="size", arguments=(syntax.Fold(loop=Loop.LIST) as fold,)):
                if isinstance(fold.item, syntax.Local) and fold.item.slot in fold.slots:
                    return self._named("count", fold)
            case syntax.Fold(loop=Loop.ALL):
                return self._named("all", node)
            case syntax.Fold(loop=Loop.EXISTS):
                return self._named("exists", node)
            case syntax.Fold(loop=Loop.EXISTS_ONE):
                return self._named("exists_one", node)
        return None

    def _named(self, kind: Kind, fold: syntax.Fold) -> SyntaxNode | None:
        match fold.source:
            case syntax.Variable(name=name) if name == self._collection:
                pass
            case _:
                return None
        if len(fold.slots) != 1 or fold.condition is None or not self._is_about_one_item(fold.condition):
            return None
        (slot,) = fold.slots
        predicate = _with_item(fold.condition, slot)
        name = f"@fold{len(self.folds)}"
        program = cel.Program(self._program.text, predicate, self._program.slots, self._program.callees)
        self.folds.append(CountingFold(name, kind, program, _reads_state_only(predicate)))
        return syntax.Variable(name, type=INT if kind == "count" else BOOL)

    def _is_about_one_item(self, condition: SyntaxNode) -> bool:
        """Neither the list as a whole nor the current item is in it, and nothing that binds names of its own."""
        for node in syntax.walk(condition):
            if isinstance(node, syntax.Fold | syntax.Bind):
                return False
            if isinstance(node, syntax.Variable) and (
                node.name == self._collection or node.name in self._item_names
            ):
                return False
        return True


def _with_item(node: SyntaxNode, slot: int) -> SyntaxNode:
    match node:
        case syntax.Local(slot=local_slot) if local_slot == slot:
            return syntax.Variable(_ITEM)
        case syntax.Select(operand=operand) | syntax.Has(operand=operand):
            return dataclasses.replace(node, operand=_with_item(operand, slot))
        case syntax.Call(arguments=arguments):
            return dataclasses.replace(node, arguments=tuple(_with_item(each, slot) for each in arguments))
        case syntax.ListLiteral(elements=elements):
            return dataclasses.replace(node, elements=tuple(_with_item(each, slot) for each in elements))
        case syntax.MapLiteral(entries=entries):
            return dataclasses.replace(
                node,
                entries=tuple(
                    dataclasses.replace(
                        entry, key=_with_item(entry.key, slot), value=_with_item(entry.value, slot)
                    )
                    for entry in entries
                ),
            )
    return node


def _reads_state_only(node: SyntaxNode) -> bool:
    match node:
        case syntax.Variable(name=name):
            return name != _ITEM
        case syntax.Call(function="ready" | "updated", arguments=(syntax.Variable(),)):
            return True
    return all(_reads_state_only(child) for child in node.children())


class FoldTally:
    """One fold over one list in one pass."""

    def __init__(self, fold: CountingFold, items: GraphItems, bindings: Mapping[str, object]) -> None:
        self._fold = fold
        self._bindings = bindings
        self._size = len(items)
        self._true = 0
        self.has_failed = False
        self._known: dict[int, bool] = {}
        self._by_state: dict[tuple[bool, bool], object] = {}
        for item in items:
            self.observe(item)

    def observe(self, item: GraphItem) -> None:
        if self.has_failed:
            return
        value = self._of_state(item) if self._fold.reads_state_only else self._value(item)
        if not isinstance(value, bool):
            self.has_failed = True
            return
        self._true += value - self._known.get(id(item), False)
        self._known[id(item)] = value

    def _of_state(self, item: GraphItem) -> object:
        state = (item.is_current, item.is_ready())
        if state not in self._by_state:
            self._by_state[state] = self._value(item)
        return self._by_state[state]

    def _value(self, item: GraphItem) -> object:
        own: dict[str, object] = {_ITEM: item}
        try:
            return self._fold.predicate.evaluate(ChainMap(own, self._bindings))  # type: ignore[arg-type]
        except cel.EvaluationError:
            return None

    def value(self) -> Any:
        match self._fold.kind:
            case "count":
                return self._true
            case "all":
                return self._true == self._size
            case "exists":
                return self._true > 0
        return self._true == 1
