"""Waves, positions, quantities, slots, ids: the small vocabulary that rules are written in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import decisions, identifiers, quantities, waves
from headgate.kernel.slots import Slots


def test_exponential_waves_are_of_1_1_2_4_8() -> None:
    assert [waves.exponential_wave_of(position) for position in range(9)] == [0, 1, 2, 2, 3, 3, 3, 3, 4]
    assert [waves.exponential_limit(landed) for landed in (0, 1, 2, 3, 4, 7, 8)] == [1, 2, 4, 4, 8, 8, 16]


def test_linear_waves_wait_for_the_whole_wave() -> None:
    assert [waves.linear_limit(landed, 3) for landed in (0, 1, 2, 3, 5, 6)] == [3, 3, 3, 6, 6, 9]
    with pytest.raises(ValueError, match="at least 1"):
        waves.linear_limit(0, 0)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 20))
def test_no_wave_lets_more_go_than_its_limit_leaves(landed: int, in_flight: int, size: int) -> None:
    limit = waves.linear_limit(landed, size)
    going = sum(waves.may_go(rank, landed, in_flight, limit) for rank in range(500))
    assert going == max(0, limit - landed - in_flight)


def test_positions_follow_the_hash_of_target_and_version() -> None:
    def uuid(ending: str) -> str:
        return "00000000-0000-0000-0000-" + ending.rjust(12, "0")

    environment, deployment, version = uuid("e1"), uuid("d1"), uuid("1")
    hashes = {
        str(number): identifiers.fnv1a_64(f"{uuid(str(number))}-{environment}-{deployment}{version}")
        for number in range(1, 6)
    }
    assert hashes["2"] == 3955105845042184451
    assert hashes["1"] == 18157588806983268326
    places = identifiers.rank(hashes.items())
    assert sorted(places, key=lambda key: places[key]) == ["2", "4", "3", "5", "1"]


@given(st.text(), st.text())
def test_a_hash_can_go_on_from_its_prefix(prefix: str, rest: str) -> None:
    whole = identifiers.fnv1a_64(prefix + rest)
    assert identifiers.fnv1a_64(rest, identifiers.fnv1a_64(prefix)) == whole


@given(st.text(), st.lists(st.integers(0, 2**64 - 1), max_size=9))
def test_many_hashes_go_on_together_as_each_by_itself(rest: str, states: list[int]) -> None:
    together = identifiers.fnv1a_64_of_each(rest, states)
    assert list(together) == [identifiers.fnv1a_64(rest, state) for state in states]


def test_words_are_found_when_a_verdict_is_read() -> None:
    asked: list[int] = []

    def say(number: int) -> str:
        asked.append(number)
        return f"number {number}"

    verdict = decisions.allowed(decisions.Sentence(say, (3,)))
    assert verdict == decisions.allowed(decisions.Sentence(say, (3,)))
    assert asked == []
    assert verdict.message == "number 3"


@given(st.permutations([("a", 5), ("b", 5), ("c", 1)]))
def test_equal_hashes_are_ordered_by_key_whatever_the_input_order(pairs: list[tuple[str, int]]) -> None:
    assert identifiers.rank(pairs) == {"c": 0, "a": 1, "b": 2}


def test_a_percentage_is_resolved_up_or_down() -> None:
    fifth = quantities.parse("20%")
    assert (fifth.resolve(11, "up"), fifth.resolve(11, "down")) == (3, 2)
    assert quantities.parse(3).resolve(11, "up") == 3


@pytest.mark.parametrize("value", ["101%", "-1%", "10 %", "1.5%", "10", -1, 1.5, True, None, 2**40])
def test_what_is_no_quantity_is_refused_with_what_is_allowed(value: object) -> None:
    with pytest.raises(ValueError, match="allowed is a whole number such as 3"):
        quantities.parse(value)


class Counted(Slots[str]):
    def __init__(self, limit: int) -> None:
        super().__init__()
        self.count = limit

    @property
    def limit(self) -> int:
        return self.count


def test_a_holder_counts_once_for_all_its_purposes() -> None:
    slots = Counted(2)
    assert slots.take("a", "drain", 1)
    assert not slots.take("a", "upgrade", 2)
    assert slots.take("b", "drain", 3)
    assert slots.has_room_for("a")
    assert not slots.has_room_for("c")
    assert not slots.release("a", "drain")
    assert slots.release("a", "upgrade")
    assert slots.has_room_for("c")
    assert slots.held_since("b") == 3


def test_a_limit_that_shrinks_takes_nothing_away() -> None:
    slots = Counted(2)
    slots.take("a", "", 1)
    slots.take("b", "", 1)
    slots.count = 1
    assert set(slots.holders) == {"a", "b"}
    slots.release("a", "")
    assert slots.free == 0
    assert not slots.has_room_for("c")


def test_waiters_stand_in_order_then_by_name() -> None:
    slots = Counted(1)
    for key, name in ((1, "b"), (1, "a"), (0, "c")):
        slots.queue(key, name)
    assert [name for _, name in slots.in_line()] == ["c", "a", "b"]
    slots.leave(0, "c")
    assert [name for _, name in slots.in_line()] == ["a", "b"]


def test_who_leaves_the_line_while_it_is_walked_is_passed_by() -> None:
    slots = Counted(1)
    for name in ("a", "b", "c"):
        slots.queue(0, name)
    walked = []
    for _, name in slots.in_line():
        walked.append(name)
        slots.leave(0, "b")
    assert walked == ["a", "c"]


def test_ids_follow_from_kind_and_name() -> None:
    ids = identifiers.NamedIds("run-1")
    assert ids.new("Resource", "node-3") == identifiers.NamedIds("run-1").new("Resource", "node-3")
    assert ids.new("Resource", "node-3") != ids.new("Environment", "node-3")
    assert ids.new("Resource", "node-3") != identifiers.NamedIds("run-2").new("Resource", "node-3")
    assert identifiers.is_uuid(ids.new("Resource", "node-3"))


@pytest.mark.parametrize("text", ["", "x", "{00000000-0000-0000-0000-000000000001}", "0" * 32, "0" * 36])
def test_only_the_canonical_form_is_a_uuid(text: str) -> None:
    assert not identifiers.is_uuid(text)


def test_a_verdict_carries_its_sentence_and_its_details() -> None:
    verdict = decisions.pending(decisions.Reason.AWAITING_DEPENDENCY, "waits", requeue_at=5, missing=["a"])
    assert (verdict.is_allowed, verdict.message, verdict.requeue_at) == (False, "waits", 5)
    assert verdict.details == {"missing": ["a"]}
