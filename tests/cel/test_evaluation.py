"""Values, errors, and what an expression may be given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from headgate import cel

RECORD = cel.map_of(cel.STRING, cel.DYN)
ENVIRONMENT = cel.CelEnvironment(
    {"record": RECORD, "other": RECORD, "items": cel.list_of(cel.DYN), "now": cel.TIMESTAMP}
)


def value(text: str, **bindings: object) -> Any:
    """The value, which both evaluators must agree on."""
    program = ENVIRONMENT.compile(text)
    exact, _ = program.evaluate_counted(bindings)
    assert program.evaluate(bindings) == exact
    return exact


def error(text: str, **bindings: object) -> cel.EvaluationError:
    program = ENVIRONMENT.compile(text)
    with pytest.raises(cel.EvaluationError) as exact:
        program.evaluate_counted(bindings)
    with pytest.raises(cel.EvaluationError) as raised:
        program.evaluate(bindings)
    assert type(raised.value) is type(exact.value)
    return raised.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("record.missing == 1 || true", True),
        ("true || record.missing == 1", True),
        ("record.missing == 1 && false", False),
        ("!(record.missing == 1 && false)", True),
        ("record.text || true", True),
        ("false && record.text", False),
        ("[0, 1].exists(x, 1 / x == 1)", True),
        ("[0, 1].all(x, 1 / x == 2)", False),
        ("true ? 1 : record.missing", 1),
        ("has(record.missing) ? record.missing : 'none'", "none"),
        ("cel.bind(x, record.missing, true)", True),
        ("optional.of(1).orValue(record.missing)", 1),
    ],
)
def test_an_error_that_something_else_decides_is_absorbed(text: str, expected: object) -> None:
    assert value(text, record={"text": "t"}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "record.missing == 1 || false",
        "record.missing == 1 && true",
        "record.missing ? 1 : 2",
        "[0, 1].all(x, 1 / x == 1)",
        "[0, 1].exists(x, 1 / x == 7)",
        "[1, 0].exists_one(x, 1 / x == 1)",
        "[1, 0].map(x, 1 / x)",
        "[1, 0].filter(x, 1 / x > 0)",
        "record.text || false",
        "{1: 1}.exists(k, record.missing)",
    ],
)
def test_any_other_error_is_raised(text: str) -> None:
    error(text, record={"text": "t"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("record.a.b", "no such key: 'b'"),
        ("record['x']", "no such key: 'x'"),
        ("items[3]", "index out of range: 3"),
        ("other.x", "no such attribute: other"),
    ],
)
def test_what_is_not_there_is_a_missing_key(text: str, message: str) -> None:
    raised = error(text, record={"a": {}}, items=[])
    assert isinstance(raised, cel.MissingKey)
    assert raised.message == message


def test_a_field_of_something_without_fields_is_an_error_but_no_missing_key() -> None:
    raised = error("record.a.b", record={"a": 5})
    assert not isinstance(raised, cel.MissingKey)
    assert raised.message == "a value of type int has no fields, so no 'b'"


def test_integers_are_checked_for_overflow() -> None:
    assert error("9223372036854775807 + 1").message == "integer overflow"
    assert error("-9223372036854775808 / -1").message == "integer overflow"


def test_bools_are_no_numbers() -> None:
    assert value("record.flag == 1", record={"flag": True}) is False
    assert value("record.one == true", record={"one": 1}) is False
    assert value("record.flag in [0, 1]", record={"flag": True}) is False
    error("{1: 'a'}[record.flag]", record={"flag": True})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{1: 'one', true: 'yes'}.size()", 2),
        ("{1: 'one', true: 'yes'}[1]", "one"),
        ("{1: 'one', true: 'yes'}[true]", "yes"),
        ("{0: 'none', false: 'no'}[false]", "no"),
        ("{1: 'one', true: 'yes'}[1u]", "one"),
        ("{1: 'one', true: 'yes'}[dyn(1.0)]", "one"),
        ("{true: 'yes', 1: 'one'} == {1: 'one', true: 'yes'}", True),
        ("{1: 'one', true: 'yes'} == {1: 'one', 2: 'yes'}", False),
        ("{1: 'one', true: 'yes'}.map(key, string(key))", ["1", "true"]),
        ("{1: 'one', true: 'yes'}.transformMap(key, text, text + '!')[true]", "yes!"),
        ("dyn(true) in {1: 'one'} || dyn(0) in {false: 'no'}", False),
        ("dyn(false) in {1: 'one', true: 'yes'}", False),
    ],
)
def test_a_bool_and_a_number_are_two_keys_of_a_map(text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text", ["{1: 'a', 1u: 'b'}", "{1: 'a', true: 'b', true: 'c'}", "{1: 'a', true: 'b', 1u: 'c'}"]
)
def test_equal_numbers_and_equal_bools_are_one_key(text: str) -> None:
    assert "duplicate key in map" in error(text).message


def test_numbers_compare_across_their_types() -> None:
    assert value("record.one == 1.0 && record.one == 1u && record.one < 1.5", record={"one": 1}) is True
    error("record.one + 1.0", record={"one": 1})


def test_a_plain_datetime_is_a_timestamp_anywhere_in_the_data() -> None:
    berlin = timezone(timedelta(hours=2))
    record = {"since": [datetime(2030, 1, 1, 2, tzinfo=berlin)], "naive": datetime(2030, 1, 1)}  # noqa: DTZ001
    assert value("record.since[0] == timestamp('2030-01-01T00:00:00Z')", record=record) is True
    assert value("record.naive == record.since[0]", record=record) is True
    assert value(
        "now - record.since[0] > duration('1h')", record=record, now=datetime(2030, 1, 1, 2, tzinfo=UTC)
    )


def test_results_are_plain_python_values() -> None:
    assert value("timestamp('2030-01-01T00:00:00Z') + duration('90m')") == datetime(
        2030, 1, 1, 1, 30, tzinfo=UTC
    )
    assert type(value("duration('1s') + duration('1s')")) is timedelta
    assert type(value("timestamp('2030-01-01T00:00:00.000000001Z')")) is cel.Timestamp
    assert type(value("1u + 1u")) is cel.Uint


def test_parts_of_a_timestamp_follow_the_time_zone() -> None:
    moment = datetime(2030, 7, 1, 23, 30, tzinfo=UTC)
    assert value("now.getHours('Europe/Berlin')", now=moment) == 1
    assert value("now.getDayOfWeek('Europe/Berlin')", now=moment) == 2
    assert value("now.getDayOfWeek()", now=moment) == 1


def test_data_may_hold_tuples_and_other_mappings() -> None:
    class Lazy(Mapping[str, object]):
        def __getitem__(self, key: str) -> object:
            return {"a": 1}[key]

        def __iter__(self) -> Iterator[str]:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    assert value("items.all(x, x > 0) && 2 in items", items=(1, 2)) is True
    assert value("record.inner.a == 1 && !has(record.inner.b)", record={"inner": Lazy()}) is True
    assert value("record.inner.exists(k, v, v == 1)", record={"inner": Lazy()}) is True


class Recording(dict[str, object]):
    """Bindings that remember what was asked for."""

    def __init__(self, **values: object) -> None:
        super().__init__(values)
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> object:
        self.asked.append(name)
        return super().__getitem__(name)


def test_a_variable_is_fetched_only_when_it_is_reached() -> None:
    bindings = Recording(record={"a": 1}, other={"b": 2})
    assert ENVIRONMENT.compile("record.a == 2 && other.b == 2").evaluate(bindings) is False
    assert bindings.asked == ["record"]


def test_integers_and_doubles_mix_where_the_environment_says_so() -> None:
    mixing = cel.CelEnvironment({"pods": cel.list_of(cel.DYN), "n": cel.INT}, mixed_numbers=True)
    bindings = {"pods": [1, 2, 3, 4, 5], "n": 4}
    assert mixing.compile("pods.size() * 0.8").evaluate(bindings) == 4.0
    assert mixing.compile("n >= pods.size() * 0.8").evaluate(bindings) is True
    assert mixing.compile("n / 2.0 + 1 - 0.5 == 2.5").evaluate(bindings) is True
    assert mixing.compile("n / 3").evaluate(bindings) == 1
    assert mixing.compile("pods[0] + 0.5").evaluate(bindings) == 1.5
    with pytest.raises(cel.CompileError):
        ENVIRONMENT.compile("items.size() * 0.8")


def test_the_cost_grows_with_what_is_walked() -> None:
    program = ENVIRONMENT.compile("items.all(x, x >= 0)")
    _, few = program.evaluate_counted({"items": [0] * 10})
    _, many = program.evaluate_counted({"items": [0] * 1000})
    assert few < 100
    assert 50 * few < many < 100 * few


def test_a_smaller_budget_can_be_set() -> None:
    program = ENVIRONMENT.compile("items.all(x, x >= 0)")
    with pytest.raises(cel.BudgetExceeded, match="more than 100 steps"):
        program.evaluate({"items": [0] * 1000}, steps=100)
    with pytest.raises(cel.BudgetExceeded, match="more than 100 steps"):
        program.evaluate_counted({"items": [0] * 1000}, steps=100)


def test_no_operator_absorbs_an_exceeded_budget() -> None:
    program = ENVIRONMENT.compile("items.all(x, x >= 0) || true")
    with pytest.raises(cel.BudgetExceeded):
        program.evaluate({"items": [0] * 1000}, steps=100)
    with pytest.raises(cel.BudgetExceeded):
        program.evaluate_counted({"items": [0] * 1000}, steps=100)
