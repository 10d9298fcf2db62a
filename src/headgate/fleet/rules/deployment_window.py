"""Hours in which a change may start, or must not. An open window gates the start only: what runs, runs on."""

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec

from headgate.fleet.rules import recurrence
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Sentence, Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem

_MOST_STEPS = 1_000


class DeploymentWindow(RuleSpec, frozen=True, rename="camel"):
    """`allow_window` false turns it round: the spans are those in which nothing starts.

    A DTSTART with a zone of its own (TZID, or Z for UTC) wins over `timezone`.
    """

    traits = Traits(stage=GateStage.HOURS)

    rrule: str
    duration_minutes: Annotated[int, msgspec.Meta(ge=1, le=366 * 1440)]
    timezone: str = "UTC"
    allow_window: bool = True
    first_deployment: Literal["enforce", "bypass"] = "enforce"

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        zone_name = given.get("timezone")
        if isinstance(zone_name, str):
            try:
                recurrence.zone(zone_name)
            except ValueError as error:
                problems.append(Problem(f"{path}.timezone", str(error)))
                zone_name = "UTC"
        text = given.get("rrule")
        if isinstance(text, str):
            _check_rule(text, str(zone_name or "UTC"), path, problems)

    def in_words(self) -> str:
        length = instants.show_duration(instants.seconds(60 * self.duration_minutes))
        first = "; a first deployment may start at any time" if self.first_deployment == "bypass" else ""
        when = f"{length} from each `{' '.join(self.rrule.split())}` ({_windows(self).zone_name})"
        begin = "New work starts only within" if self.allow_window else "No new work starts within"
        return f"{begin} {when}{first}."


def _check_rule(text: str, zone_name: str, path: str, problems: list[Problem]) -> None:
    try:
        ever = recurrence.Recurrence(text, zone_name, 1).ever_starts()
    except ValueError as error:
        problems.append(Problem(f"{path}.rrule", str(error)))
        return
    if not ever:
        problems.append(Problem(f"{path}.rrule", f'"{text}" never happens within 100 years of its start'))


def judge(rule: DeploymentWindow, now: Instant) -> Verdict:
    windows = _windows(rule)
    span = windows.span_at(now)
    if rule.allow_window:
        return _judge_allowing(rule, windows, span, now)
    return _judge_denying(rule, windows, span, now)


def _judge_allowing(
    rule: DeploymentWindow,
    windows: recurrence.Recurrence,
    span: recurrence.JoinedSpan | None,
    now: Instant,
) -> Verdict:
    if span is not None:
        return decisions.allowed(Sentence(_open, (rule, span)), satisfied_at=span.start, requeue_at=span.end)
    opens_at = windows.next_start(now)
    if opens_at is None:
        return decisions.denied(
            Reason.WINDOW_CLOSED,
            "the window is over and does not open again; the owner of the policy can change it",
        )
    return decisions.pending(Reason.WINDOW_CLOSED, Sentence(_closed, (rule, opens_at)), requeue_at=opens_at)


def _judge_denying(
    rule: DeploymentWindow,
    windows: recurrence.Recurrence,
    span: recurrence.JoinedSpan | None,
    now: Instant,
) -> Verdict:
    if span is not None:
        return decisions.pending(
            Reason.WINDOW_CLOSED, Sentence(_in_the_way, (rule, span)), requeue_at=span.end
        )
    closes_at = windows.next_start(now)
    return decisions.allowed(Sentence(_not_in_the_way, (rule, closes_at)), requeue_at=closes_at)


def _open(rule: DeploymentWindow, span: recurrence.JoinedSpan) -> str:
    return f"the window is open{_from_to(rule, span)}"


def _from_to(rule: DeploymentWindow, span: recurrence.JoinedSpan) -> str:
    """What is not known of it is left out."""
    since = f" since {_moment(rule, span.start)}" if span.is_start_known else ""
    until = f", until {_moment(rule, span.end)}" if span.is_end_known else ""
    return since + until


def _closed(rule: DeploymentWindow, opens_at: Instant) -> str:
    return f"the window is closed, it opens at {_moment(rule, opens_at)}"


def _in_the_way(rule: DeploymentWindow, span: recurrence.JoinedSpan) -> str:
    return f"nothing starts in this window, which is open{_from_to(rule, span)}"


def _not_in_the_way(rule: DeploymentWindow, closes_at: Instant | None) -> str:
    until = f" until {_moment(rule, closes_at)}" if closes_at is not None else ""
    return f"outside of the window in which nothing starts{until}"


def shift(rule: DeploymentWindow, instant: Instant) -> Instant | None:
    """The first moment at or after `instant` at which the rule allows, or None if there is none."""
    windows = _windows(rule)
    if rule.allow_window:
        return instant if windows.open_at(instant) is not None else windows.next_start(instant)
    for _ in range(_MOST_STEPS):
        span = windows.open_at(instant)
        if span is None:
            return instant
        instant = span[1]
    return None


def _windows(rule: DeploymentWindow) -> recurrence.Recurrence:
    return recurrence.of(rule.rrule, rule.timezone, rule.duration_minutes)


def _moment(rule: DeploymentWindow, instant: Instant) -> str:
    """In UTC, and beside it on the clock of the zone that the windows go by."""
    utc = instants.show_to_the_second(instant)
    zone_name = _windows(rule).zone_name
    if zone_name in ("UTC", "Etc/UTC"):
        return utc
    there = instants.to_datetime(instant).astimezone(ZoneInfo(zone_name))
    return f"{utc} ({there.strftime('%H:%M')} {zone_name})"
