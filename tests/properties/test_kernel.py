"""Laws of the small pure parts that every level stands on."""

from collections.abc import Callable
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import identifiers, quantities, waves

from .effort import examples

COUNTS = st.integers(0, 200)
SIZES = st.integers(1, 20)
KEYS = st.lists(st.text(max_size=8), unique=True, max_size=30)


@examples(100)
@given(COUNTS, SIZES)
def test_waves_of_one_size_bring_everyone_in_ceil_of_n_by_size_waves(total: int, size: int) -> None:
    assert _waves_needed(total, lambda landed: waves.linear_limit(landed, size)) == -(-total // size)


@examples(100)
@given(st.integers(1, 2000))
def test_doubling_waves_bring_everyone_in_as_many_waves_as_the_last_position_says(total: int) -> None:
    assert _waves_needed(total, waves.exponential_limit) == waves.exponential_wave_of(total - 1) + 1


@examples(100)
@given(st.integers(0, 2000))
def test_the_wave_of_a_position_is_the_one_whose_limit_first_reaches_it(position: int) -> None:
    landed, wave = 0, 0
    while position >= waves.exponential_limit(landed):
        landed = waves.exponential_limit(landed)
        wave += 1
    assert wave == waves.exponential_wave_of(position)


@examples(200)
@given(COUNTS, COUNTS, COUNTS, SIZES)
def test_a_wave_never_holds_more_than_its_size(landed: int, in_flight: int, waiting: int, size: int) -> None:
    limit = waves.linear_limit(landed, size)
    started = sum(waves.may_go(rank, landed, in_flight, limit) for rank in range(waiting))
    assert started + in_flight <= max(size, in_flight)


@examples(100)
@given(KEYS, st.randoms(use_true_random=False))
def test_ranks_do_not_depend_on_the_order_of_the_input(keys: list[str], chance: Random) -> None:
    pairs = [(key, identifiers.fnv1a_64(key)) for key in keys]
    ranks = identifiers.rank(pairs)
    assert identifiers.rank(chance.sample(pairs, len(pairs))) == ranks
    assert sorted(ranks.values()) == list(range(len(keys)))


@examples(100)
@given(KEYS, st.text(max_size=8))
def test_one_more_member_moves_the_others_by_one_place_at_most(keys: list[str], newcomer: str) -> None:
    old = identifiers.rank((key, identifiers.fnv1a_64(key)) for key in keys if key != newcomer)
    new = identifiers.rank((key, identifiers.fnv1a_64(key)) for key in {*keys, newcomer})
    assert all(new[key] - place in (0, 1) for key, place in old.items())


@examples(200)
@given(st.integers(0, 100), st.integers(0, 10_000))
def test_shares_rounded_up_and_down_differ_by_one_at_most_and_stay_within_the_whole(
    percent: int, total: int
) -> None:
    share = quantities.parse(f"{percent}%")
    up, down = share.resolve(total, "up"), share.resolve(total, "down")
    assert 0 <= down <= up <= min(down + 1, total)
    assert (up == 0) == (percent * total == 0)


def _waves_needed(total: int, limit_after: Callable[[int], int]) -> int:
    landed = count = 0
    while landed < total:
        limit = limit_after(landed)
        landed += sum(waves.may_go(rank, landed, 0, limit) for rank in range(total - landed))
        count += 1
    return count
