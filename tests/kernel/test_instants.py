import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import instants

MOMENTS = st.integers(0, 7_000_000_000 * 1_000_000)


@given(MOMENTS)
def test_a_shown_instant_reads_back(instant: int) -> None:
    assert instants.parse(instants.show(instant)) == instant


@given(MOMENTS)
def test_a_datetime_and_its_instant_are_the_same_moment(instant: int) -> None:
    assert instants.from_datetime(instants.to_datetime(instant)) == instant


@given(st.integers(0, 10**15))
def test_a_shown_duration_reads_back(span: int) -> None:
    assert instants.parse_duration(instants.show_duration(span)) == span


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00Z"),
        ("2026-03-01T09:00:00.250Z", "2026-03-01T09:00:00.25Z"),
        ("2026-03-01T09:00:00+02:00", "2026-03-01T07:00:00Z"),
        ("2026-03-01t09:00:00z", "2026-03-01T09:00:00Z"),
        ("2026-03-01T09:00:00.123456999Z", "2026-03-01T09:00:00.123456Z"),
    ],
)
def test_times_are_shown_in_utc_with_a_fraction_only_if_there_is_one(text: str, shown: str) -> None:
    assert instants.show(instants.parse(text)) == shown


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-03-01", "2026-02-30T00:00:00Z", "2026-03-01T25:00:00Z", "2026-03-01T09:00:00"],
)
def test_what_is_not_a_time_is_refused_with_the_text_in_the_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time") as caught:
        instants.parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("8m", 480),
        ("1h30m", 5400),
        ("45s", 45),
        ("72h", 259_200),
        ("1d", 86_400),
        ("500ms", 0.5),
        ("1.5h", 5400),
    ],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert instants.parse_duration(text) == instants.seconds(seconds)


@pytest.mark.parametrize("text", ["", "8", "m", "-8m", "8 m", "8m!", "1y", "9" * 30 + "s", "9999999999h"])
def test_what_is_not_a_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|100 years"):
        instants.parse_duration(text)


def test_the_clock_shows_seconds_and_dates_only_when_they_matter() -> None:
    moment = instants.parse("2026-03-02T09:16:00Z")
    assert instants.show_clock(moment) == "09:16"
    assert instants.show_clock(moment + instants.seconds(30)) == "09:16:30"
    assert instants.show_clock(moment, near=moment + instants.hours(1)) == "09:16"
    assert instants.show_clock(moment, near=moment + instants.hours(24)) == "2026-03-02 09:16"
