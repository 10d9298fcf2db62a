"""Gates: what they read, when they are true, and when time changes that."""

import pytest

from headgate import cel
from headgate.cel import waves
from headgate.graph.compile.expressions import GateExpression, compile_in, gate
from headgate.kernel import instants

NAMES = ("pod", "pods", "schema", "now", "signals")
NINE = instants.parse("2026-03-01T09:00:00Z")


def gate_of(text: str) -> GateExpression:
    return gate(text, compile_in(NAMES, text))


class Item:
    def __init__(self, state: str) -> None:
        """'-' is outdated, 'u' updated and not ready, 'r' updated and ready."""
        self.state = state

    def is_updated(self) -> bool:
        return self.state in "ur"

    def is_ready(self) -> bool:
        return self.state == "r"


def admitted(text: str, states: str) -> str:
    """Which items the gate lets through, asked one by one on the same state."""
    items = [Item(state) for state in states]
    asked = gate_of(text)
    return "".join(
        "." if item.is_updated() else "+" if asked.evaluate({"pod": item, "pods": items}) else "-"
        for item in items
    )


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("----", "+---"),
        ("u---", ".---"),
        ("r---", ".+--"),
        ("rr---", "..++-"),
        ("rru--", "..." + "+-"),
        ("rrr-----", "...+----"),
        ("rrrr-----", "....++++-"),
        ("-r--", "+.--"),
        ("--rr-", "++..-"),
    ],
)
def test_exponential_waves_count_what_landed_and_rank_what_did_not(states: str, expected: str) -> None:
    assert admitted("exponentiallyUpdated(pod, pods)", states) == expected


@pytest.mark.parametrize(
    ("states", "expected"),
    [("-----", "++---"), ("u----", ".+---"), ("r----", ".+---"), ("rr---", "..++-"), ("--r--", "+-.--")],
)
def test_linear_waves_open_when_the_one_before_has_landed(states: str, expected: str) -> None:
    assert admitted("linearlyUpdated(pod, pods, 2)", states) == expected


def test_a_wave_of_no_size_is_an_error_when_it_is_computed() -> None:
    with pytest.raises(cel.EvaluationError, match="at least 1, not 0"):
        admitted("linearlyUpdated(pod, pods, pods.size() - 1)", "-")


def test_lists_are_ready_and_updated_when_all_of_their_items_are() -> None:
    assert waves.is_ready([])
    assert waves.is_updated([])
    assert waves.is_updated([Item("u"), Item("r")])
    assert not waves.is_ready([Item("u"), Item("r")])


def test_the_place_of_an_item_is_found() -> None:
    items = [Item("-"), Item("-")]
    assert gate_of("indexOf(pod, pods) == 1").evaluate({"pod": items[1], "pods": items})
    with pytest.raises(cel.EvaluationError, match="not in the list"):
        gate_of("indexOf(pod, pods) == 1").evaluate({"pod": Item("-"), "pods": items})


def test_a_share_of_a_list_may_be_written_with_a_fraction() -> None:
    share = "pods.filter(p, p.ready()).size() >= pods.size() * 0.8"
    assert gate_of(share).evaluate({"pods": [Item("r")] * 4 + [Item("u")]})
    assert not gate_of(share).evaluate({"pods": [Item("r")] * 3 + [Item("u")] * 2})


def test_an_absent_optional_is_missing_data() -> None:
    with pytest.raises(cel.MissingKey):
        gate_of("schema.?on").evaluate({"schema": {}})
    assert gate_of("schema.?on").evaluate({"schema": {"on": True}})


def test_a_value_that_is_no_bool_is_an_error() -> None:
    with pytest.raises(cel.EvaluationError, match="neither true nor false"):
        gate_of("schema.x").evaluate({"schema": {"x": "true"}})


def test_ready_of_what_is_no_item_is_an_error() -> None:
    with pytest.raises(cel.EvaluationError, match="for items and lists of them"):
        gate_of("schema.ready()").evaluate({"schema": {}})


def test_signals_are_found_by_name() -> None:
    assert gate_of("!signals['a'] && signals.b == 'x'").signals == {"a", "b"}
    with pytest.raises(cel.MissingKey):
        gate_of("signals['a'] == true").evaluate({"signals": {}})


def moment(text: str) -> int:
    return instants.parse(f"2026-03-01T{text}Z")


@pytest.mark.parametrize(
    ("text", "now", "expected"),
    [
        ("schema.x", "09:00:00", None),
        ("now > timestamp('2026-03-01T10:00:00Z')", "09:00:00", "10:00:00"),
        ("timestamp('2026-03-01T10:00:00Z') <= now", "09:00:00", "10:00:00"),
        ("now > timestamp('2026-03-01T10:00:00Z')", "11:00:00", None),
        (
            "now > timestamp('2026-03-01T10:00:00Z') && now < timestamp('2026-03-01T12:00:00Z')",
            "10:30:00",
            "12:00:00",
        ),
        ("now.getHours() >= 9", "09:00:30", "09:01:00"),
        ("now - timestamp(schema.since) > duration('1h')", "09:00:30", "09:01:00"),
    ],
)
def test_a_gate_knows_when_time_alone_can_change_it(text: str, now: str, expected: str | None) -> None:
    assert gate_of(text).next_change(moment(now)) == (None if expected is None else moment(expected))


def test_a_comparison_is_looked_at_once_more_just_after_its_constant() -> None:
    asked = gate_of("now > timestamp('2026-03-01T10:00:00Z')")
    assert asked.next_change(moment("10:00:00")) == moment("10:00:00") + 1


def test_a_gate_that_is_looked_at_by_the_minute_sees_whole_minutes() -> None:
    assert gate_of("now.getSeconds() == 0").seen_moment(moment("09:00:30")) == NINE
    assert gate_of("now > timestamp('2026-03-01T10:00:00Z')").seen_moment(NINE + 1) == NINE + 1
