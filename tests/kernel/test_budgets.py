"""The budget of one level, over every small state there is."""

import itertools
from collections.abc import Iterator

import pytest

from headgate.kernel import budgets
from headgate.kernel.budgets import BudgetMove, Limits
from headgate.kernel.quantities import Quantity
from headgate.kernel.units import Unit


def every_state(indices: int) -> Iterator[list[Unit]]:
    """Each index is empty, on its way out, or held by an old or new unit that is available or not."""
    kinds: list[tuple[bool, bool, bool] | None] = [None, (False, False, True)]
    kinds += [(available, outdated, False) for available in (True, False) for outdated in (True, False)]
    for combination in itertools.product(kinds, repeat=indices):
        yield [
            Unit(index, is_available=kind[0], is_outdated=kind[1], is_going=kind[2])
            for index, kind in enumerate(combination)
            if kind is not None
        ]


def every_limit(most: int) -> Iterator[Limits]:
    for replicas in range(most + 1):
        for unavailable, surge in itertools.product(range(replicas + 1), range(3)):
            if unavailable or surge or not replicas:
                yield Limits(replicas, unavailable, surge)


def deleted(step: BudgetMove) -> list[Unit]:
    return [*step.replaced, *step.removed]


@pytest.mark.parametrize("may_update", [True, False])
@pytest.mark.parametrize("keeps_surge", [True, False])
def test_no_deletion_takes_the_available_below_the_floor_and_no_creation_goes_over_the_ceiling(
    may_update: bool, keeps_surge: bool
) -> None:
    for units in every_state(4):
        live = [unit for unit in units if not unit.is_going]
        available = sum(unit.is_available for unit in live)
        for limits in every_limit(4):
            step = budgets.step(units, limits, may_update=may_update, keeps_surge=keeps_surge)
            gone = [unit for unit in deleted(step) if unit.is_available]
            assert not gone or available - len(gone) >= limits.floor, (units, limits, step)
            assert not step.create or len(live) + len(step.create) <= limits.ceiling, (units, limits, step)
            assert not {unit.index for unit in units} & set(step.create), (units, limits, step)
            assert len({unit.index for unit in deleted(step)}) == len(deleted(step)), (units, limits, step)


def test_without_leave_to_update_no_regular_unit_is_touched_and_no_surge_is_made() -> None:
    for units in every_state(4):
        for limits in every_limit(3):
            step = budgets.step(units, limits, may_update=False, keeps_surge=True)
            assert not step.replaced
            assert all(unit.index >= limits.replicas for unit in step.removed)
            assert all(index < limits.replicas for index in step.create)


def test_a_new_surge_unit_leaves_only_when_every_regular_unit_is_new_and_available() -> None:
    for units in every_state(4):
        for limits in every_limit(3):
            step = budgets.step(units, limits, may_update=True, keeps_surge=True)
            surge_left = [
                unit for unit in step.removed if unit.index < limits.ceiling and not unit.is_outdated
            ]
            regular = [unit for unit in units if unit.index < limits.replicas]
            good = [u for u in regular if u.is_available and not u.is_outdated and not u.is_going]
            assert not surge_left or len(good) == limits.replicas


def test_no_more_surge_is_made_than_there_are_outdated_available_units_to_protect() -> None:
    for units in every_state(4):
        for limits in every_limit(3):
            step = budgets.step(units, limits, may_update=True, keeps_surge=True)
            protected = [
                u
                for u in units
                if u.index < limits.replicas and u.is_available and u.is_outdated and not u.is_going
            ]
            surge = [index for index in step.create if index >= limits.replicas]
            there = [
                u
                for u in units
                if limits.replicas <= u.index < limits.ceiling and not u.is_outdated and not u.is_going
            ]
            assert not surge or len(surge) + len(there) <= min(limits.max_surge, len(protected))


def test_what_is_down_and_outdated_is_replaced_at_once_whatever_the_budget() -> None:
    for units in every_state(4):
        for limits in every_limit(3):
            step = budgets.step(units, limits, may_update=True, keeps_surge=True)
            down = {
                unit for unit in units if unit.is_outdated and not unit.is_available and not unit.is_going
            }
            assert down <= set(deleted(step))


def advanced(units: list[Unit], step: BudgetMove) -> list[Unit]:
    """One round of a world without faults: what was going is gone, what was starting is available."""
    out = {unit.index for unit in deleted(step)}
    after: list[Unit] = []
    for unit in units:
        if unit.index in out:
            after.append(Unit(unit.index, is_available=False, is_going=True))
        elif not unit.is_going:
            after.append(Unit(unit.index, is_available=True, is_outdated=unit.is_outdated))
    return after + [Unit(index, is_available=False) for index in step.create]


def test_from_every_state_the_update_ends_with_exactly_the_regular_units_new_and_available() -> None:
    for start in every_state(4):
        for limits in every_limit(3):
            units = start
            for _ in range(40):
                step = budgets.step(units, limits, may_update=True, keeps_surge=True)
                if step == budgets.BudgetMove() and not any(
                    unit.is_going or not unit.is_available for unit in units
                ):
                    break
                units = advanced(units, step)
            ended = sorted((unit.index, unit.is_available, unit.is_outdated) for unit in units)
            assert ended == [(index, True, False) for index in range(limits.replicas)], (start, limits)


def test_the_worked_example_with_three_units_and_one_of_surge_comes_out_in_its_order() -> None:
    limits = Limits(3, 0, 1)
    units = [Unit(index, is_available=True, is_outdated=True) for index in range(3)]
    said: list[str] = []
    for _ in range(30):
        step = budgets.step(units, limits, may_update=True, keeps_surge=True)
        said += [f"create {index}" for index in step.create]
        said += [f"delete {unit.index}" for unit in deleted(step)]
        units = advanced(units, step)
    assert said == [
        "create 3",
        "delete 0",
        "create 0",
        "delete 1",
        "create 1",
        "delete 2",
        "create 2",
        "delete 3",
    ]


def test_older_units_go_first_and_equally_old_ones_by_index() -> None:
    units = [
        Unit(index, is_available=True, is_outdated=True, age_rank=age)
        for index, age in enumerate((30, 10, 20, 10))
    ]
    step = budgets.step(units, Limits(4, 3, 0), may_update=True, keeps_surge=True)
    assert [unit.index for unit in step.replaced] == [1, 3, 2]


def test_units_below_the_partition_keep_their_revision_and_do_not_hold_surge_back() -> None:
    units = [
        Unit(0, is_available=True, is_outdated=True, may_move=False),
        Unit(1, is_available=True),
        Unit(2, is_available=True),
    ]
    step = budgets.step(units, Limits(2, 0, 1), may_update=True, keeps_surge=True)
    assert (step.create, step.replaced, [u.index for u in step.removed]) == ((), (), [2])


@pytest.mark.parametrize(
    ("replicas", "unavailable", "surge", "expected"),
    [
        (10, Quantity(25, is_percentage=True), Quantity(25, is_percentage=True), (2, 3)),
        (3, Quantity(10, is_percentage=True), Quantity(0), (1, 0)),
        (3, Quantity(5), Quantity(0), (3, 0)),
        (3, Quantity(0), Quantity(0), (1, 0)),
        (3, Quantity(0), Quantity(50, is_percentage=True), (0, 2)),
        (0, Quantity(1), Quantity(0), (0, 0)),
    ],
)
def test_percentages_round_down_for_what_is_lost_and_up_for_what_is_added(
    replicas: int, unavailable: Quantity, surge: Quantity, expected: tuple[int, int]
) -> None:
    found = budgets.limits(replicas, unavailable, surge)
    assert (found.max_unavailable, found.max_surge) == expected
