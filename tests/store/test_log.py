"""The log of a workspace: one order, everything of a transaction or nothing."""

import pytest

from headgate.store import LogEntry, Store
from headgate.store.port import UnknownWorkspaceError

from .values import (
    AWKWARD_TEXTS,
    HOME,
    LONG_TEXT,
    NOW,
    abandoned,
    append,
    audit,
    event,
    identifier,
    payloads,
    row,
    workspace,
)


def test_an_empty_log_has_the_head_zero(store: Store) -> None:
    with store.begin(HOME) as transaction:
        assert transaction.head == 0
    assert store.head(HOME) == 0


def test_entries_come_back_as_they_were_appended(store: Store) -> None:
    entries = [
        LogEntry(1, NOW, "change", b'{"b": 1,  "a": [2]}', "ada", "00-" + "a" * 32 + "-" + "b" * 16 + "-01"),
        LogEntry(2, NOW + 1, "decided", b"{}"),
    ]
    with store.begin(HOME) as transaction:
        transaction.append(entries)
    assert store.log_after(HOME, 0, 10) == entries


def test_the_head_is_the_newest_entry(store: Store) -> None:
    with store.begin(HOME) as transaction:
        append(transaction, b"1", b"2")
        assert transaction.head == 2
    with store.begin(HOME) as transaction:
        append(transaction, b"3")
    assert store.head(HOME) == 3


def test_a_transaction_reads_what_it_appended(store: Store) -> None:
    with store.begin(HOME) as transaction:
        append(transaction, b"1", b"2")
        assert [one.payload for one in transaction.log_after(1)] == [b"2"]


def test_a_page_of_the_log_starts_after_a_number_and_ends_with_the_limit(store: Store) -> None:
    with store.begin(HOME) as transaction:
        append(transaction, b"1", b"2", b"3", b"4")
    assert [one.seq for one in store.log_after(HOME, 1, 2)] == [2, 3]
    assert store.log_after(HOME, 4, 10) == []


def test_an_exception_in_the_block_leaves_nothing(store: Store) -> None:
    job = identifier("job")
    with abandoned(store) as transaction:
        append(transaction, b"1")
        transaction.put("job", [row("job", id=job)])
        transaction.add_events([event("happened")])
        transaction.add_audit([audit("web")])
    assert store.head(HOME) == 0
    assert payloads(store) == []
    assert store.job(HOME, job) is None
    assert store.events_after(HOME, 0, 10) == []
    assert store.audit_before(HOME, None, 10) == []


def test_a_transaction_follows_one_that_failed(store: Store) -> None:
    with abandoned(store) as transaction:
        append(transaction, b"1")
    with store.begin(HOME) as transaction:
        append(transaction, b"2")
    assert payloads(store) == [b"2"]


def test_a_number_that_is_taken_is_refused(store: Store) -> None:
    with store.begin(HOME) as transaction:
        append(transaction, b"1")
    with pytest.raises(AssertionError), store.begin(HOME) as transaction:
        transaction.append([LogEntry(1, NOW, "change", b"2")])
    assert payloads(store) == [b"1"]


def test_a_workspace_that_is_not_there_has_no_log(store: Store) -> None:
    with pytest.raises(UnknownWorkspaceError), store.begin("nowhere"):
        raise AssertionError("the block was entered")
    with pytest.raises(UnknownWorkspaceError):
        store.head("nowhere")


def test_workspaces_have_logs_of_their_own(store: Store) -> None:
    store.add_workspace(workspace("other"))
    with store.begin(HOME) as transaction:
        append(transaction, b"1")
    with store.begin("other") as transaction:
        assert transaction.head == 0
        append(transaction, b"2")
    assert payloads(store) == [b"1"]
    assert payloads(store, "other") == [b"2"]


@pytest.mark.parametrize("text", [*AWKWARD_TEXTS.values(), LONG_TEXT], ids=[*AWKWARD_TEXTS, "long"])
def test_names_of_users_come_back_to_the_letter(store: Store, text: str) -> None:
    entry = LogEntry(1, NOW, "change", b"{}", text)
    with store.begin(HOME) as transaction:
        transaction.append([entry])
    assert store.log_after(HOME, 0, 1) == [entry]
