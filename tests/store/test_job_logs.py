"""What jobs print: numbered, bounded, written by whoever has the claim, and gone with the job."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.store import Store
from headgate.store.job_lines import FULL, MOST_BYTES, MOST_LINES, JobLines, LogEnd

from .values import AWKWARD_TEXTS, HOME, NOW, identifier, order, put_orders, row

TOKEN = 7


def begin(store: Store, *jobs: str) -> None:
    put_orders(store, [order(job, token=TOKEN, claims=1) for job in jobs])


def add(
    store: Store, *lines: str, job: str = "job", offset: int | None = None, token: int = TOKEN
) -> LogEnd | None:
    return store.append_job_lines(JobLines(HOME, job, NOW, lines, offset), token)


def lines(store: Store, offset: int = 0, job: str = "job", limit: int = 100_000) -> list[str]:
    return [line for _, piece in store.job_lines(HOME, job, offset, limit) for line in piece]


def test_lines_come_back_in_their_order_from_any_of_them(store: Store) -> None:
    begin(store, "job")
    add(store, "a", "b", "c")
    end = add(store, "d", "e")
    assert end is not None
    assert end.lines == 5
    assert store.job_log_end(HOME, "job") == end
    for offset in range(7):
        assert lines(store, offset) == list("abcde")[offset:]
    assert lines(store, limit=1) == ["a", "b", "c"]


@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS)
def test_a_line_may_be_any_text(store: Store, text: str) -> None:
    begin(store, "job")
    add(store, text)
    assert lines(store) == [text]


def test_what_is_sent_twice_is_there_once(store: Store) -> None:
    begin(store, "job")
    add(store, "a", "b", offset=0)
    add(store, "a", "b", "c", offset=0)
    add(store, "b", offset=1)
    assert lines(store) == ["a", "b", "c"]


def test_only_the_newest_claim_may_add(store: Store) -> None:
    begin(store, "job")
    assert add(store, "a", token=TOKEN + 1) is None
    assert add(store, "a", job="another") is None
    assert lines(store) == []


def test_a_log_has_a_most_of_lines(store: Store) -> None:
    begin(store, "job")
    for _ in range(MOST_LINES // 1_000 + 2):
        end = add(store, *(["x"] * 1_000))
    assert end is not None
    assert end.is_full
    found = lines(store)
    assert (len(found), found[-1]) == (MOST_LINES, FULL)


def test_a_log_has_a_most_of_bytes(store: Store) -> None:
    begin(store, "job")
    for _ in range(MOST_BYTES // 400_000 + 2):
        end = add(store, *(["y" * 4_000] * 100))
    assert end is not None
    assert end.is_full
    found = lines(store)
    assert found[-1] == FULL
    assert found.count(FULL) == 1
    assert sum(len(line) + 1 for line in found[:-1]) < MOST_BYTES


def test_many_who_add_at_once_lose_nothing(two_stores: tuple[Store, Store]) -> None:
    jobs = [f"job-{number}" for number in range(4)]
    begin(two_stores[0], *jobs)

    def write(number: int) -> None:
        add(two_stores[number % 2], str(number), job=jobs[number // 2 % 4])

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(160)))
    found = [lines(two_stores[0], job=job) for job in jobs]
    assert sorted(int(line) for some in found for line in some) == list(range(160))


def test_a_log_goes_with_its_job(store: Store) -> None:
    old, other = identifier("old"), identifier("other job")
    with store.begin(HOME) as transaction:
        transaction.put("job", [row("job", id=old), row("job", id=other, is_current=True)])
    begin(store, old, other)
    add(store, "a", job=old)
    add(store, "b", job=other)
    assert store.prune(HOME, "jobs", before=NOW + 1, keep=0, limit=10) == 1
    assert lines(store, job=old) == []
    assert lines(store, job=other) == ["b"]


def test_a_log_goes_with_its_workspace(store: Store) -> None:
    begin(store, "job")
    add(store, "a")
    store.remove_workspace(HOME)
    assert lines(store) == []
