"""Cycles of brackets, a line a resource: what runs there now, what is done, and who is next and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens import words
from headgate.screens.styled_text import Line, StyledText
from headgate.screens.tables import printable
from headgate.screens.watched_fleet import Document, Pair, WatchedFleet, WatchedForecast

MOST_NEXT = 8
_MEMBERS = {
    "waiting": ("·", "dim"),
    "running": ("▶", "cyan"),
    "retrying": ("↻", "yellow"),
    "succeeded": ("✓", "green"),
    "failed": ("✗", "red"),
    "skipped": ("-", "dim"),
    "rollingBack": ("◀", "yellow"),
    "rolledBack": ("◁", "yellow"),
}
"""Those that run nothing in the cycle are left out."""
_ROLES = ("preHook", "member", "postHook")
_MARKS = {"executing": ("▶ ", "cyan"), "failed": ("✗ ", "red")}


def covered(snapshot: WatchedFleet) -> set[Pair]:
    """Deployments in environments whose jobs are told by resource."""
    return {
        (member["deployment"], group["environment"])
        for group in snapshot.groups
        for member in group["members"]
    }


def render(snapshot: WatchedFleet, forecast: WatchedForecast, now: Instant, room: int) -> list[Line]:
    """At most `room` lines: what is in work first, then who is next."""
    lines: list[Line] = []
    for policy, environment in dict.fromkeys((one["policy"], one["environment"]) for one in snapshot.groups):
        groups = [
            one for one in snapshot.groups if (one["policy"], one["environment"]) == (policy, environment)
        ]
        lines += _cycle(policy, environment, groups, forecast, now)
    if len(lines) > room > 0:
        hidden = len(lines) - room + 1
        lines = [
            *lines[: room - 1],
            [StyledText(f"  and {hidden} more lines; a higher window shows them", "dim")],
        ]
    return lines[: max(room, 0)]


def _cycle(
    policy: str, environment: str, groups: Sequence[Document], forecast: WatchedForecast, now: Instant
) -> Iterator[Line]:
    working = [one for one in groups if one["status"] in _MARKS]
    ahead = [one for one in groups if one["status"] not in _MARKS]
    counted = f"{len(working)} in work, {len(ahead)} to come"
    yield [
        StyledText(f"{printable(policy)} in {printable(environment)}", "bold"),
        StyledText(f"  {counted}", "dim"),
    ]
    width = max((len(printable(one["resource"])) for one in working), default=0)
    for group in sorted(
        working,
        key=lambda group_document: (group_document["status"] != "failed", group_document["startedAt"] or ""),
    ):
        yield _group(group, width, now)
    if ahead:
        yield _next(ahead, forecast, now)


def _group(group: Document, width: int, now: Instant) -> Line:
    mark, style = _MARKS[group["status"]]
    since = instants.parse(group["startedAt"] or group["createdAt"])
    for_long = words.length(max(now - since, 0) // instants.MICROSECONDS_PER_SECOND)
    line = [
        StyledText("  "),
        StyledText(mark, style),
        StyledText(f"{printable(group['resource']):<{width}}  "),
        StyledText(f"{for_long:>6}  ", "dim"),
    ]
    for member in sorted(group["members"], key=lambda member_document: _ROLES.index(member_document["role"])):
        if member["state"] in _MEMBERS:
            sign, colour = _MEMBERS[member["state"]]
            line += [StyledText(f"{sign} {printable(member['deployment'])}", colour), StyledText("  ")]
    if group["status"] == "failed":
        line.append(StyledText(printable(group["reason"] or "failed"), "red"))
    return line


def _next(groups: Sequence[Document], forecast: WatchedForecast, now: Instant) -> Line:
    """Those whose turn comes first are named first."""
    known = {one["resource"]: forecast.starts.get((one["environment"], one["resource"])) for one in groups}
    ordered = sorted(known, key=lambda name: (known[name] is None, known[name] or 0, name))
    turns = ", ".join(_turn(name, known[name], now) for name in ordered[:MOST_NEXT])
    more = f" and {len(ordered) - MOST_NEXT} more" if len(ordered) > MOST_NEXT else ""
    return [StyledText("  · ", "yellow"), StyledText("next: "), StyledText(f"{turns}{more}", "dim")]


def _turn(name: str, at: Instant | None, now: Instant) -> str:
    if at is None:
        return printable(name)
    return f"{printable(name)} {instants.show_clock(at, near=now)}"
