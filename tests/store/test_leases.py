"""Leases: one holder at a time, and a former holder writes nothing."""

from collections.abc import Callable

import pytest

from headgate.kernel import instants
from headgate.store import Lease, LeaseLostError, Store

from .values import HOME, append, eventually, payloads

LONG = 600.0
SHORT = 0.02


def take(store: Store, holder: str, seconds: float = LONG) -> Lease:
    lease = store.take_lease("engine", holder, seconds)
    assert lease is not None
    return lease


def take_over(store: Store, holder: str) -> Lease:
    """Waits for the present lease to run out."""
    found: list[Lease] = []

    def taken() -> bool:
        lease = store.take_lease("engine", holder, LONG)
        found.extend([lease] if lease is not None else [])
        return lease is not None

    eventually(taken)
    return found[0]


def test_a_lease_has_one_holder(store: Store) -> None:
    lease = take(store, "one")
    assert (lease.name, lease.holder) == ("engine", "one")
    assert store.take_lease("engine", "two", LONG) is None


def test_leases_of_other_names_are_free(store: Store) -> None:
    take(store, "one")
    assert store.take_lease("agents", "two", LONG) is not None


def test_a_holder_renews_its_lease(store: Store) -> None:
    lease = take(store, "one")
    [(_, before)] = store.leases()
    assert store.renew_lease(lease, 2 * LONG)
    [(renewed, after)] = store.leases()
    assert renewed == lease
    assert after - before >= instants.seconds(LONG)


def test_a_lease_that_ran_out_is_taken_over_with_a_greater_token(store: Store) -> None:
    first = take(store, "one", SHORT)
    second = take_over(store, "two")
    assert second.holder == "two"
    assert second.token > first.token


def test_a_former_holder_cannot_renew(store: Store) -> None:
    first = take(store, "one", SHORT)
    take_over(store, "two")
    assert not store.renew_lease(first, LONG)
    assert store.take_lease("engine", "three", LONG) is None


def test_a_released_lease_is_free_at_once_and_its_token_still_grows(store: Store) -> None:
    first = take(store, "one")
    store.release_lease(first)
    assert take(store, "two").token > first.token


def test_a_former_holder_releases_nothing(store: Store) -> None:
    first = take(store, "one", SHORT)
    take_over(store, "two")
    store.release_lease(first)
    assert store.take_lease("engine", "three", LONG) is None


def test_a_holder_of_the_same_name_that_comes_back_has_a_greater_token(store: Store) -> None:
    first = take(store, "one", SHORT)
    second = take_over(store, "one")
    assert second.token > first.token


def test_leases_are_listed_with_their_end(store: Store) -> None:
    lease = take(store, "one")
    [(listed, ends_at)] = store.leases()
    assert listed == lease
    store.renew_lease(lease, 0)
    [(_, ended_at)] = store.leases()
    assert 0 < ends_at - ended_at <= instants.seconds(LONG + 60)


def test_a_transaction_with_the_newest_lease_is_committed(store: Store) -> None:
    with store.begin(HOME, take(store, "one")) as transaction:
        append(transaction, b"1")
    assert payloads(store) == [b"1"]


def test_a_transaction_with_an_older_lease_writes_nothing(store: Store) -> None:
    first = take(store, "one", SHORT)
    take_over(store, "two")
    with pytest.raises(LeaseLostError), store.begin(HOME, first) as transaction:
        append(transaction, b"1")
    assert payloads(store) == []


def test_a_transaction_with_a_released_lease_that_another_took_writes_nothing(store: Store) -> None:
    first = take(store, "one")
    store.release_lease(first)
    take(store, "two")
    with pytest.raises(LeaseLostError), store.begin(HOME, first) as transaction:
        append(transaction, b"1")
    assert payloads(store) == []


def test_a_lease_is_held_against_other_processes(two_stores: tuple[Store, Store]) -> None:
    one, other = two_stores
    lease = take(one, "one")
    assert other.take_lease("engine", "two", LONG) is None
    one.release_lease(lease)
    assert take(other, "two").token > lease.token
    with pytest.raises(LeaseLostError), one.begin(HOME, lease) as transaction:
        append(transaction, b"1")
    assert payloads(other) == []


def test_tokens_grow_over_a_restart(shared_url: str, opened: Callable[[str], Store]) -> None:
    before = opened(shared_url)
    first = take(before, "one")
    before.release_lease(first)
    before.close()
    assert take(opened(shared_url), "two").token > first.token
