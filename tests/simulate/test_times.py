import pytest

from headgate.kernel import instants
from headgate.kernel.spans import Span
from headgate.simulate.model.times import When


def test_a_span_is_written_as_it_is_read() -> None:
    assert Span.from_document("1h30m").to_document() == "1h30m"


def test_a_span_without_length_is_allowed() -> None:
    assert Span.from_document("0s").microseconds == 0


@pytest.mark.parametrize("value", [8, None, "8", "eight minutes", "-5m"])
def test_what_is_not_a_length_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        Span.from_document(value)


def test_a_moment_may_count_from_the_start() -> None:
    start = instants.parse("2026-03-01T09:00:00Z")
    assert instants.show(When.from_document("+20h").resolve(start)) == "2026-03-02T05:00:00Z"


def test_a_moment_that_is_neither_is_refused_with_both_forms() -> None:
    with pytest.raises(ValueError, match=r'"\+20h" from the start'):
        When.from_document("tomorrow")
