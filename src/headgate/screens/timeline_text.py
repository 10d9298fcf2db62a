"""A run as a person reads it in a terminal: the timeline, the budgets, what still waits, and how it ended."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from headgate.kernel import instants
from headgate.screens import explanation_text, graph_text, timeline_digest, workload_text
from headgate.screens.timeline_lines import TimelineLine, clock, lines, offset
from headgate.simulate.model.result import Result

WIDTH = 100
MOST_LINES = 400
"""A longer timeline is told in stretches of time instead."""
MOST_WAITING = 20
WIDEST_NAME = 44
"""A longer one shifts its own line; the others stay where they are."""


def render(result: Result) -> str:
    head = [f"{result.scenario}, seed {result.seed}, from {_moment(result.start)}"]
    body, *more = story(result)
    return join([head, body or ["Nothing happened."], *more, list(_finish(result))])


def story(result: Result) -> list[list[str]]:
    """What happened, section by section, between the head and the finish; the timeline is the first."""
    timeline = lines(result)
    body = (
        timeline_digest.render(result, timeline)
        if len(timeline) > MOST_LINES
        else list(_timeline(result, timeline))
    )
    return [
        body,
        list(workload_text.render(result)),
        list(graph_text.render(result)),
        list(_explanations(result)),
        list(_budgets(result)),
        list(_waiting(result)),
        list(_expectations(result)),
    ]


def join(sections: Sequence[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _timeline(result: Result, timeline: Sequence[TimelineLine]) -> Iterator[str]:
    """Every line carries its time, so that a search for one resource still tells when."""
    clocks = max((len(clock(result, line.at)) for line in timeline), default=0)
    offsets = max((len(offset(result, line.at)) for line in timeline), default=0)
    who = min(max((len(line.who) for line in timeline), default=0), WIDEST_NAME)
    what = min(max((len(line.what) for line in timeline), default=0), 34)
    previous = None
    for line in timeline:
        is_new = line.at != previous
        if is_new and previous is not None and _is_another_day(previous, line.at):
            yield ""
        previous = line.at
        head = f"{clock(result, line.at):<{clocks}}  {offset(result, line.at):>{offsets}}  "
        text = f"{line.who:<{who}}  {line.what:<{what}}  {line.event}"
        yield from _wrapped(head + text, f"({line.note})" if line.note else "", len(head) + who + 4)


def _is_another_day(earlier: int, later: int) -> bool:
    return instants.to_datetime(earlier).date() != instants.to_datetime(later).date()


def _wrapped(text: str, note: str, indent: int) -> Iterator[str]:
    if not note:
        yield text.rstrip()
    elif len(text) + 2 + len(note) <= WIDTH:
        yield f"{text}  {note}"
    else:
        yield text.rstrip()
        yield from textwrap.wrap(
            note,
            width=max(WIDTH, indent + 40),
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + note.startswith("(")),
            break_on_hyphens=False,
        )


def _explanations(result: Result) -> Iterator[str]:
    for number, explained in enumerate(result.explanations):
        if number:
            yield ""
        yield from explanation_text.render(
            explained.full_document(), explained.at, clock(result, explained.at)
        )


def _budgets(result: Result) -> Iterator[str]:
    if result.usage or result.workload_budgets:
        yield "Budgets"
    for usage in result.ordered_usage():
        peak = "never used" if usage.peak_at is None else f"peak at {clock(result, usage.peak_at)}"
        yield f"  {usage.peak} of {usage.limit}  {usage.policy}, {usage.rule}  {peak}"
        yield f"          resources where {usage.scope}"
    yield from workload_text.budgets(result)


def _waiting(result: Result) -> Iterator[str]:
    """Equal reasons are said once, with those who share it."""
    if not result.waiting:
        return
    yield "Not converged"
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in result.waiting:
        alike[item.state, item.reason].append(item.target)
    for number, ((state, reason), targets) in enumerate(alike.items()):
        if number == MOST_WAITING:
            yield f"  and {len(alike) - MOST_WAITING} more reasons"
            return
        names = ", ".join(targets[:3]) + (f" and {len(targets) - 3} more" if len(targets) > 3 else "")
        yield from _wrapped(f"  {state:<8}  {names}", reason, 12)


def _expectations(result: Result) -> Iterator[str]:
    if result.expectations:
        yield "Expectations"
    for item in result.expectations:
        yield f"  {'ok  ' if item.passed else 'FAIL'}  {item.name}"
        for line in item.message.splitlines():
            yield f"          {line}"


def _finish(result: Result) -> Iterator[str]:
    counts = Counter(job.status for job in result.jobs)
    by_status = ", ".join(f"{count} {status}" for status, count in sorted(counts.items(), key=_by_weight))
    resources = len({job.resource for job in result.jobs})
    jobs = f"{counted(len(result.jobs), 'job')} on {counted(resources, 'resource')}: {by_status}"
    how = "converged" if result.converged else "not converged"
    cut = ", stopped there" if result.was_cut else ""
    when = f"{clock(result, result.end)} ({offset(result, result.end)}, {_moment(result.end)})"
    yield f"Finish  {when}: {how}{cut}"
    if result.jobs or not (result.workloads or result.graphs):
        yield f"        {jobs if result.jobs else 'no job was needed'}"
    if result.workloads:
        pods = counted(len(result.pods), "pod")
        yield f"        {pods} in {counted(sum(len(one.rows) for one in result.workloads), 'place')}"
    if result.graphs:
        rows = [row for graph in result.graphs for row in graph.rows]
        writes = counted(sum(len(row.writes) for row in rows), "write")
        instances = counted(len(result.graphs), "instance")
        yield f"        {writes} of {counted(len(rows), 'object')} of {instances}"
    trouble = [
        counted(len(items), noun)
        for items, noun in (
            (result.rejected, "step refused"),
            (result.warnings, "warning"),
            (result.violations, "PROMISE BROKEN"),
        )
        if items
    ]
    if trouble:
        yield f"        {', '.join(trouble)}"


def counted(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    special = {"step refused": "steps refused", "PROMISE BROKEN": "PROMISES BROKEN"}
    return f"{count} {special.get(noun, noun + 's')}"


def _by_weight(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _moment(instant: int) -> str:
    return instants.to_datetime(instant).strftime("%Y-%m-%d %H:%M UTC")
