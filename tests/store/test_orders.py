"""The outbox: every order is held by one agent at a time, and nobody acts on a claim that was lost."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.kernel import instants
from headgate.store import Dispatch, Store

from .values import AWKWARD_TEXTS, HOME, NOW, abandoned, order, put_orders, workspace

LEASE_SECONDS = 30.0
AFTER_THE_LEASE = NOW + instants.seconds(LEASE_SECONDS) + 1


def claim(
    store: Store, holder: str = "one", now: int = NOW, limit: int = 10, **given: object
) -> list[Dispatch]:
    return store.claim_dispatches(holder=holder, now=now, seconds=LEASE_SECONDS, limit=limit, **given)  # type: ignore[arg-type]


def claimed_jobs(store: Store, **given: object) -> list[str]:
    return [one.job for one in claim(store, **given)]  # type: ignore[arg-type]


def cancel(store: Store, job: str) -> None:
    with store.begin(HOME) as transaction:
        transaction.cancel_dispatches([job])


def claim_one(store: Store, holder: str = "one", now: int = NOW) -> Dispatch:
    [found] = claim(store, holder, now)
    return found


def test_an_order_comes_back_as_it_was_put(store: Store) -> None:
    written = order("job", deadline_at=NOW + 5, state=b'{"run":  7}')
    put_orders(store, [written])
    assert store.dispatch(HOME, "job") == written


def test_an_order_that_is_not_there_is_none(store: Store) -> None:
    assert store.dispatch(HOME, "job") is None


@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS)
def test_agents_may_have_any_name(store: Store, text: str) -> None:
    put_orders(store, [order("job", agent=text)])
    assert claimed_jobs(store, agent=text, holder=text) == ["job"]


def test_agents_that_have_enough_get_nothing_more(store: Store) -> None:
    put_orders(store, [order("one", agent="a'b"), order("two", agent="other"), order("three", agent="full")])
    assert claimed_jobs(store, without=[(HOME, "full"), (HOME, "a'b"), ("elsewhere", "other")]) == ["two"]
    assert sorted(claimed_jobs(store)) == ["one", "three"]


def test_a_claim_says_who_holds_it_and_until_when(store: Store) -> None:
    put_orders(store, [order("job")])
    found = claim_one(store)
    assert (found.claimed_by, found.claims) == ("one", 1)
    assert found.claimed_until == NOW + instants.seconds(LEASE_SECONDS)
    assert store.dispatch(HOME, "job") == found


def test_what_one_holds_is_not_offered_to_another(store: Store) -> None:
    put_orders(store, [order("job")])
    claim_one(store)
    assert claim(store, "two") == []


def test_the_oldest_is_handed_out_first(store: Store) -> None:
    put_orders(store, [order(f"job-{age}", created_at=NOW - age, not_before=NOW - age) for age in (2, 3, 1)])
    assert claimed_jobs(store, limit=2) == ["job-3", "job-2"]
    assert claimed_jobs(store) == ["job-1"]


def test_an_order_that_is_not_due_waits(store: Store) -> None:
    put_orders(store, [order("job", not_before=NOW + 1)])
    assert claim(store) == []
    assert claimed_jobs(store, now=NOW + 1) == ["job"]


def test_claims_keep_to_their_types(store: Store) -> None:
    put_orders(store, [order("a", type="exec"), order("b", type="http"), order("c", type="pull")])
    assert sorted(claimed_jobs(store, types=["exec", "http"])) == ["a", "b"]
    assert claimed_jobs(store, types=[]) == []
    assert claimed_jobs(store, types=None) == ["c"]


def test_claims_keep_to_their_agent(store: Store) -> None:
    put_orders(store, [order("a", agent="runner"), order("b", agent="other")])
    assert claimed_jobs(store, agent="other") == ["b"]


def test_claims_keep_to_their_workspace(store: Store) -> None:
    store.add_workspace(workspace("other"))
    put_orders(store, [order("a"), order("b", workspace="other")])
    assert claimed_jobs(store, workspace="other") == ["b"]
    assert claimed_jobs(store) == ["a"]


def test_a_claim_that_ran_out_is_offered_again_with_another_token(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store)
    assert claim(store, "two", AFTER_THE_LEASE - 2) == []
    second = claim_one(store, "two", AFTER_THE_LEASE)
    assert second.token != first.token
    assert (second.claimed_by, second.claims) == ("two", 2)


def test_a_renewed_claim_is_not_offered_again(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store)
    assert store.renew_dispatch(first, AFTER_THE_LEASE + 1)
    assert claim(store, "two", AFTER_THE_LEASE) == []


def test_a_lost_claim_can_be_neither_renewed_nor_saved(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store)
    second = claim_one(store, "two", AFTER_THE_LEASE)
    assert not store.renew_dispatch(first, AFTER_THE_LEASE * 2)
    first.state = b'{"mine":true}'
    assert not store.save_dispatch(first)
    assert store.dispatch(HOME, "job") == second


def test_a_lost_claim_of_the_same_holder_is_lost_too(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store, "one")
    claim_one(store, "one", AFTER_THE_LEASE)
    assert not store.renew_dispatch(first, AFTER_THE_LEASE * 2)
    assert not store.save_dispatch(first)


def test_what_an_agent_saves_is_there_for_the_next(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store)
    first.state = b'{"run":7}'
    assert store.save_dispatch(first)
    assert claim_one(store, "two", AFTER_THE_LEASE).state == b'{"run":7}'


def test_an_order_that_is_given_back_is_offered_when_it_is_due(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store)
    first.claimed_by = first.claimed_until = None
    first.not_before = NOW + 5
    assert store.save_dispatch(first)
    assert claim(store, "two", NOW + 4) == []
    assert claim_one(store, "two", NOW + 5).claims == 2


def test_a_finished_order_is_gone(store: Store) -> None:
    put_orders(store, [order("job")])
    held = claim_one(store)
    store.finish_dispatch(HOME, "job")
    assert store.dispatch(HOME, "job") is None
    assert not store.renew_dispatch(held, AFTER_THE_LEASE)
    assert not store.save_dispatch(held)
    assert store.dispatch(HOME, "job") is None


def test_finishing_twice_is_finishing_once(store: Store) -> None:
    put_orders(store, [order("job")])
    store.finish_dispatch(HOME, "job")
    store.finish_dispatch(HOME, "job")
    assert store.dispatch(HOME, "job") is None


def test_a_cancelled_order_is_not_handed_out(store: Store) -> None:
    put_orders(store, [order("job", cancelled=True)])
    assert claim(store) == []


def test_cancelling_takes_back_an_order_that_nobody_has_seen(store: Store) -> None:
    put_orders(store, [order("job")])
    cancel(store, "job")
    assert store.dispatch(HOME, "job") is None


def test_cancelling_leaves_an_order_that_was_handed_out_until_it_is_finished(store: Store) -> None:
    put_orders(store, [order("job")])
    claim_one(store)
    cancel(store, "job")
    [left] = store.cancelled_dispatches(["pull"])
    assert left.claimed_by == "one"
    assert claim(store, "two", AFTER_THE_LEASE) == []
    store.finish_dispatch(HOME, "job")
    assert store.cancelled_dispatches(["pull"]) == []


def test_cancelling_what_is_not_there_changes_nothing(store: Store) -> None:
    put_orders(store, [order("job")])
    cancel(store, "other")
    assert store.dispatch(HOME, "job") == order("job")


def test_a_claim_of_a_cancelled_order_is_not_renewed(store: Store) -> None:
    put_orders(store, [order("job")])
    held = claim_one(store)
    cancel(store, "job")
    assert not store.renew_dispatch(held, AFTER_THE_LEASE)


def test_what_is_needed_to_stop_a_cancelled_job_can_still_be_saved(store: Store) -> None:
    put_orders(store, [order("job")])
    held = claim_one(store)
    cancel(store, "job")
    held.state = b'{"run":7}'
    assert store.save_dispatch(held)
    [left] = store.cancelled_dispatches(["pull"])
    assert left.state == b'{"run":7}'


def test_cancelled_orders_are_listed_for_the_agents_of_their_type(store: Store) -> None:
    put_orders(
        store,
        [
            order("a", cancelled=True, type="exec"),
            order("b", cancelled=True, type="http"),
            order("c", type="exec"),
        ],
    )
    assert [one.job for one in store.cancelled_dispatches(["exec"])] == ["a"]
    assert sorted(one.job for one in store.cancelled_dispatches(["exec", "http"])) == ["a", "b"]
    assert store.cancelled_dispatches([]) == []


def test_orders_past_their_deadline_are_listed_whoever_holds_them(store: Store) -> None:
    put_orders(
        store,
        [
            order("a", deadline_at=NOW),
            order("b", deadline_at=NOW - 1),
            order("c", deadline_at=NOW + 2),
            order("d"),
        ],
    )
    claim(store)
    assert sorted(one.job for one in store.overdue_dispatches(NOW + 1, 10)) == ["a", "b"]
    assert len(store.overdue_dispatches(NOW + 1, 1)) == 1


def test_a_rolled_back_order_was_never_there(store: Store) -> None:
    with abandoned(store) as transaction:
        names = order("job").__struct_fields__
        transaction.put("job_dispatch", [[getattr(order("job"), name) for name in names]])
    assert claim(store) == []


def test_every_order_goes_to_exactly_one_of_many_agents(store: Store) -> None:
    _claim_all([store] * 8)


def test_every_order_goes_to_exactly_one_of_many_processes(two_stores: tuple[Store, Store]) -> None:
    _claim_all([*two_stores] * 4)


def _claim_all(stores: list[Store]) -> None:
    jobs = [f"job-{number:03}" for number in range(200)]
    put_orders(stores[0], [order(job) for job in jobs])

    def work(number: int) -> list[str]:
        mine: list[str] = []
        while found := claim(stores[number], f"agent-{number}", limit=3):
            assert all(one.claimed_by == f"agent-{number}" for one in found)
            mine.extend(one.job for one in found)
        return mine

    with ThreadPoolExecutor(len(stores)) as threads:
        handed_out = Counter(job for mine in threads.map(work, range(len(stores))) for job in mine)
    assert handed_out == Counter(jobs)


def test_a_claim_that_is_given_back_does_not_count_and_its_token_is_good_for_nothing(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store)
    store.give_back_dispatch(first)
    found = store.dispatch(HOME, "job")
    assert found is not None
    assert (found.claims, found.claimed_by, found.claimed_until) == (0, None, None)
    assert not store.renew_dispatch(first, AFTER_THE_LEASE)
    assert claim_one(store, "two").claims == 1


def test_what_another_one_has_by_now_is_not_given_back(store: Store) -> None:
    put_orders(store, [order("job")])
    first = claim_one(store)
    second = claim_one(store, "two", AFTER_THE_LEASE)
    store.give_back_dispatch(first)
    assert store.dispatch(HOME, "job") == second


def test_a_lost_claim_is_told_once_with_who_had_it(store: Store) -> None:
    put_orders(store, [order("job", type="pull")])
    first = claim_one(store)
    assert store.end_lost_claims("pull", AFTER_THE_LEASE - 2, 10) == []
    assert store.end_lost_claims("pull", AFTER_THE_LEASE, 10) == [first]
    assert store.end_lost_claims("pull", AFTER_THE_LEASE, 10) == []
    found = store.dispatch(HOME, "job")
    assert found is not None
    assert (found.claimed_by, found.claims, found.token) == (None, 1, first.token)


def test_claims_of_other_types_that_are_cancelled_or_kept_up_are_not_lost(store: Store) -> None:
    put_orders(store, [order("a", type="exec"), order("b", type="pull"), order("c", type="pull")])
    kept = {found.job: found for found in claim(store, "one", limit=3)}
    assert store.renew_dispatch(kept["b"], AFTER_THE_LEASE * 2)
    cancel(store, "c")
    assert store.end_lost_claims("pull", AFTER_THE_LEASE, 10) == []
