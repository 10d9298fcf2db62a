"""How many items change at a time, for collections of every small size, against the formulas."""

import pytest

from headgate.graph.compile.compiler import compile_definition
from headgate.kernel.problems import Rejected

from .planned import Bench, definition


def linear(count: int, size: int) -> list[int]:
    return [min(size, count - start) for start in range(0, count, size)]


def exponential(count: int) -> list[int]:
    found: list[int] = []
    done = 0
    while done < count:
        wave = min(max(1, done), count - done)
        found.append(wave)
        done += wave
    return found


@pytest.mark.parametrize("count", range(1, 17))
def test_exponential_waves_double_what_has_landed(count: int) -> None:
    bench = Bench(count, ["exponentiallyUpdated(worker, workers)"])
    bench.edit(release="two")
    assert bench.waves() == exponential(count)


@pytest.mark.parametrize("count", range(1, 17))
def test_absent_gates_are_exponential_waves(count: int) -> None:
    bench = Bench(count, None)
    bench.edit(release="two")
    assert bench.waves() == exponential(count)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("count", range(1, 17))
def test_linear_waves_are_of_their_size(count: int, size: int) -> None:
    bench = Bench(count, [f"linearlyUpdated(worker, workers, {size})"])
    bench.edit(release="two")
    assert bench.waves() == linear(count, size)


def test_both_together_are_the_smaller_of_two_limits() -> None:
    bench = Bench(40, ["exponentiallyUpdated(worker, workers)", "linearlyUpdated(worker, workers, 10)"])
    bench.edit(release="two")
    assert bench.waves() == [1, 1, 2, 4, 2, 6, 4, 10, 2, 8]


def test_a_wave_goes_on_when_a_part_of_it_has_landed() -> None:
    """Of four in flight one lands: five have landed, three are in flight, and eight is still the limit."""
    bench = Bench(16, None)
    bench.edit(release="two")
    for names in (["i00"], ["i01"], ["i02", "i03"]):
        bench.become_ready(*names)
        bench.settle()
    assert bench.in_flight() == ["i04", "i05", "i06", "i07"]
    bench.become_ready("i04")
    bench.settle()
    assert bench.in_flight() == ["i05", "i06", "i07"]


def test_counting_gates_count_each_admission_before_the_next() -> None:
    bench = Bench(7, ["workers.filter(w, w.updated() && !w.ready()).size() < 2"])
    bench.edit(release="two")
    assert bench.waves() == [2, 2, 2, 1]


def test_a_share_of_the_collection_is_counted_with_mixed_numbers() -> None:
    bench = Bench(10, ["workers.filter(w, w.updated() && !w.ready()).size() < workers.size() * 0.3"])
    bench.edit(release="two")
    assert bench.waves() == [3, 3, 3, 1]


def test_an_item_that_lost_readiness_holds_the_next_wave() -> None:
    bench = Bench(4, None)
    bench.edit(release="two")
    bench.become_ready("i00")
    bench.settle()
    item = next(item for item in bench.store if item.name == "i00")
    bench.store.update_status(
        item.key, item.uid, {"ready": False, "observedGeneration": item.generation}, bench.now, "world"
    )
    bench.become_ready("i01")
    bench.settle()
    assert bench.in_flight() == []
    assert [unit.number for unit in bench.plan().instance_pass.units] == [2, 2, 1, 1]  # type: ignore[union-attr]


def test_changes_left_in_flight_by_an_unrelated_revision_still_count() -> None:
    """Each edit that changes nothing for the item in flight would else let one more go."""
    bench = Bench(6, ["linearlyUpdated(worker, workers, 1)"])
    bench.edit(release="two")
    assert bench.in_flight() == ["i00"]
    bench.edit(items=[*bench.items, "j0"])
    assert bench.in_flight() == ["i00"]
    bench.edit(items=[*bench.items, "j0", "j1"])
    assert bench.in_flight() == ["i00"]


def test_a_wave_smaller_than_one_is_refused() -> None:
    with pytest.raises(Rejected, match="the size of a wave is 0"):
        compile_definition(definition(["linearlyUpdated(worker, workers, 0)"]))
