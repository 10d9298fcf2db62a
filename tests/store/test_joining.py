"""Writes of a transaction are joined into few statements, and what comes out is what one after another would give."""

from __future__ import annotations

from headgate.store import Store
from headgate.store.sql import statements
from headgate.store.sql.drivers import Values
from headgate.store.sql.joining import joined
from headgate.store.sql.statements import Write

from .values import HOME

DOCUMENTS = "service_document"


def _document(name: str, text: str = "1") -> Values:
    return (HOME, "trace", name, text)


def _joined(*waiting: tuple[Write, list[Values]]) -> list[int]:
    """How many parts each statement has."""
    return [sql.count("INSERT") + sql.count("DELETE") for sql, _ in joined(waiting)]


def test_writes_to_several_tables_are_one_statement() -> None:
    put = (statements.upsert(DOCUMENTS), [_document("a"), _document("b"), _document("c")])
    assert _joined(put, (statements.delete("job_dispatch"), [(HOME, "a")])) == [2]


def test_writes_to_other_rows_of_one_table_are_one_statement() -> None:
    put = (statements.upsert(DOCUMENTS), [_document("a")])
    assert _joined(put, (statements.delete(DOCUMENTS), [(HOME, "trace", "b")])) == [2]


def test_writes_that_may_touch_the_same_row_follow_each_other() -> None:
    put = (statements.upsert(DOCUMENTS), [_document("a")])
    assert _joined(put, (statements.delete(DOCUMENTS), [(HOME, "trace", "a")])) == [1, 1]
    assert _joined(put, (statements.delete(DOCUMENTS, ("workspace",)), [(HOME,)])) == [1, 1]


def test_a_row_that_is_written_twice_by_one_write_is_written_row_by_row() -> None:
    [(sql, rows)] = joined([(statements.upsert(DOCUMENTS), [_document("a"), _document("a", "2")])])
    assert "unnest" not in sql
    assert len(rows) == 2


def test_the_last_of_several_writes_to_a_row_counts(store: Store) -> None:
    for count in (1, 2, 3, 1_001):
        rows = [(HOME, "trace", f"d-{number}", b"1") for number in range(count)]
        with store.begin(HOME) as transaction:
            transaction.put(DOCUMENTS, rows)
            transaction.put(DOCUMENTS, [(HOME, "trace", "twice", b"1"), (HOME, "trace", "twice", b"2")])
            transaction.delete(DOCUMENTS, [(HOME, "trace", "d-0")])
        kept = {f"d-{number}": b"1" for number in range(1, count)}
        assert store.documents(HOME, "trace") == {**kept, "twice": b"2"}


def test_a_transaction_reads_what_it_has_written(store: Store) -> None:
    with store.begin(HOME) as transaction:
        transaction.put(DOCUMENTS, [(HOME, "trace", "a", b"1")])
        assert transaction.documents("trace") == {"a": b"1"}
        transaction.delete(DOCUMENTS, [(HOME, "trace", "a")])
        assert transaction.documents("trace") == {}
