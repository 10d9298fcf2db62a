"""A gate that counts its own collection gives the same answers whether it is counted once or anew for every item."""

import pytest

from headgate.graph.compile import expressions
from headgate.graph.reconcile import counting
from headgate.graph.reconcile.items import GraphItem, GraphItems

NAMES = frozenset(("worker", "each"))


def items() -> GraphItems:
    made = [
        GraphItem(None, updated, ready, is_changed=updated, is_member=True, value=value, index=index)
        for index, (updated, ready, value) in enumerate(
            [(True, True, 1), (True, False, 2), (False, True, 3), (False, False, 4)]
        )
    ]
    return GraphItems(made)


@pytest.mark.parametrize(
    ("text", "folds", "reads_item"),
    [
        ("workers.filter(w, w.updated() && !w.ready()).size() < 2", 1, False),
        ("size(workers.filter(w, w.ready())) >= workers.size() / 2", 1, False),
        ("workers.all(w, w.updated() || w.value < 5) && workers.exists(w, w.ready())", 2, False),
        ("workers.exists_one(w, w.value == 2)", 1, False),
        ("workers.filter(w, w.value < worker.value && !w.updated()).size() == 0", 0, True),
        ("workers.filter(w, w.ready()).size() > worker.index", 1, True),
        ("workers.map(w, w.value).exists(v, v > 3)", 0, False),
        ("workers.filter(w, workers.size() > w.index).size() > 1", 0, False),
    ],
)
def test_folds_over_the_collection_are_found_and_count_the_same(
    text: str, folds: int, reads_item: bool
) -> None:
    program = expressions.compile_in({"workers", *NAMES}, text)
    counted = counting.rewritten(program, "workers", NAMES)
    assert (len(counted.folds), counted.reads_item) == (folds, reads_item)
    found = items()
    bindings: dict[str, object] = {"workers": found}
    tallies = [(fold, counting.FoldTally(fold, found, bindings)) for fold in counted.folds]
    for item in found:
        own = {**bindings, **dict.fromkeys(NAMES, item)}
        values = {fold.name: tally.value() for fold, tally in tallies}
        assert counted.program.evaluate({**own, **values}) == program.evaluate(own)
        if not item.is_current:
            found.admit(item)
            for _, tally in tallies:
                tally.observe(item)


def test_a_fold_that_fails_for_an_item_is_left_to_the_expression() -> None:
    program = expressions.compile_in({"workers", *NAMES}, "workers.filter(w, w.status.ready).size() < 2")
    counted = counting.rewritten(program, "workers", NAMES)
    tally = counting.FoldTally(counted.folds[0], items(), {})
    assert tally.has_failed
