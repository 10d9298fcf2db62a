"""The screen of `watch`, line by line, for any size of terminal: nothing here knows how it gets there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens import tables, watch_nodes, words
from headgate.screens.styled_text import Line, StyledText
from headgate.screens.tables import printable
from headgate.screens.watched_fleet import NOT_DONE, Document, Pair, WatchedFleet, WatchedForecast

MOST_BUDGETS = 5
NARROWEST_BAR, WIDEST_BAR = 6, 20
_BARS = (
    ("upToDate", "█", "green"),
    ("verifying", "▒", "cyan"),
    ("running", "▓", "cyan"),
    ("rollingBack", "◂", "red"),
    ("rolledBack", "<", "red"),
    ("failed", "x", "red"),
    ("frozen", "=", "blue"),
)
_WORDS = (
    ("verifying", "cyan", "verifying"),
    ("running", "cyan", "running"),
    ("rollingBack", "red", "rolling back"),
    ("waiting", "yellow", "waiting"),
    ("frozen", "blue", "frozen"),
    ("rolledBack", "red", "rolled back"),
    ("failed", "red", "failed"),
)
_STILL_MOVING = NOT_DONE


class Heading(msgspec.Struct, frozen=True):
    """`trouble` says why the screen is not live at the moment."""

    workspace: str
    server: str
    now: Instant
    trouble: str | None = None
    forecast: WatchedForecast = WatchedForecast()


class _Branch(msgspec.Struct):
    """One environment: its line, and what could be told below it as far as there is room."""

    head: Line
    details: list[Line]
    rail: str
    room: int = 0


def render(snapshot: WatchedFleet, heading: Heading, width: int, height: int) -> list[Line]:
    lines = [_heading(heading, width), []]
    budgets = list(_budgets(snapshot.budgets))
    room = max(height - len(lines) - (len(budgets) + 1 if budgets else 0), 3)
    nodes = watch_nodes.render(snapshot, heading.forecast, heading.now, room // 2)
    lines += _tree(snapshot, heading.now, width, room - (len(nodes) + 1 if nodes else 0))
    if nodes:
        lines += [[], *nodes]
    if budgets:
        lines += [[], *budgets]
    return [_cut(line, width) for line in lines[:height]]


def _heading(heading: Heading, width: int) -> Line:
    """Where there is no room for both, when it is over is told instead of what time it is."""
    where = f"{heading.workspace} at {heading.server}"
    clock = instants.to_datetime(heading.now).strftime("%H:%M:%S UTC")
    how = StyledText("● live", "green") if heading.trouble is None else StyledText("○ not live", "red")
    room = width - tables.width_of(where) - len(how.text) - 4
    if heading.forecast.finish_at is not None:
        done = f"done about {instants.show_clock(heading.forecast.finish_at, near=heading.now)}"
        clock = f"{done}  {clock}" if len(done) + 2 + len(clock) <= room else done
    gap = max(room + 2 - len(clock), 2)
    return [StyledText(where, "bold"), StyledText(" " * gap), StyledText(clock, "dim"), StyledText("  "), how]


def _tree(snapshot: WatchedFleet, now: Instant, width: int, room: int) -> list[Line]:
    if not snapshot.deployments:
        return [[StyledText("no deployment has a target yet: `headgate apply -f` brings them", "dim")]]
    deployments_shown = _fitting(snapshot.deployments, room)
    heads = [(one, _branches(one, snapshot, now, width)) for one in deployments_shown]
    used = sum(1 + (len(branches) if not is_settled(one) else 0) for one, branches in heads)
    hidden = len(snapshot.deployments) - len(deployments_shown)
    _share(
        [branch for one, branches in heads if not is_settled(one) for branch in branches],
        room - used - (hidden > 0),
    )
    lines: list[Line] = []
    for deployment, branches in heads:
        if is_settled(deployment):
            lines.append(_settled(deployment))
            continue
        lines.append([StyledText(printable(deployment["name"]), "bold")])
        for branch in branches:
            lines += [branch.head, *_lines_of_branch(branch)]
    if hidden:
        advice = "a higher window or `headgate watch DEPLOYMENT` shows them"
        lines.append([StyledText(f"and {hidden} more deployments; {advice}", "dim")])
    return lines


def is_settled(deployment: Document) -> bool:
    return not any(
        environment["counts"].get(state)
        for environment in deployment["environments"]
        for state in _STILL_MOVING
    )


def _settled(deployment: Document) -> Line:
    """One line is enough for what is done."""
    environments = deployment["environments"]
    where = (
        ", ".join(f"{printable(one['name'])} {_versions(one)}" for one in environments) or "in no environment"
    )
    mark = (
        StyledText("✓ ", "green")
        if any(one["counts"].get("upToDate") for one in environments)
        else StyledText("- ", "dim")
    )
    return [
        StyledText(printable(deployment["name"]), "bold"),
        StyledText("  "),
        mark,
        StyledText(where, "dim"),
    ]


def _fitting(deployments: Sequence[Document], room: int) -> list[Document]:
    """All of them if there is room, else those that move first; each stays in its place."""
    cost = {one["name"]: 1 if is_settled(one) else 1 + len(one["environments"]) for one in deployments}
    if sum(cost.values()) <= room:
        return list(deployments)
    left = room - 1
    kept: set[str] = set()
    for deployment in sorted(deployments, key=is_settled):
        if cost[deployment["name"]] <= left or not kept:
            kept.add(deployment["name"])
            left -= cost[deployment["name"]]
    return [one for one in deployments if one["name"] in kept]


def _branches(deployment: Document, snapshot: WatchedFleet, now: Instant, width: int) -> list[_Branch]:
    environments = deployment["environments"]
    names = _column([printable(one["name"]) for one in environments])
    tags = _column([_versions(one) for one in environments])
    ratios = _column([_ratio(one["counts"]) for one in environments])
    words = [list(_words(one["counts"])) for one in environments]
    widest = max((sum(len(span.text) for span in spans) for spans in words), default=0)
    left = (
        width - 3 - sum(tables.width_of(column[0]) + 2 for column in (names, tags, ratios) if column) - widest
    )
    bar_width = min(max(left, NARROWEST_BAR), WIDEST_BAR)
    branches = []
    for number, environment in enumerate(environments):
        is_last = number == len(environments) - 1
        head = [
            StyledText("└─ " if is_last else "├─ ", "dim"),
            StyledText(f"{names[number]}  {tags[number]}  "),
            *_bar(environment["counts"], bar_width),
            StyledText(f"  {ratios[number]}"),
            *words[number],
        ]
        pair = (deployment["name"], environment["name"])
        branches.append(
            _Branch(head, list(_details(environment, pair, snapshot, now)), "   " if is_last else "│  ")
        )
    return branches


def _column(texts: Sequence[str]) -> list[str]:
    width = max((tables.width_of(text) for text in texts), default=0)
    return [text + " " * (width - tables.width_of(text)) for text in texts]


def _versions(environment: Document) -> str:
    """The newest, and behind an arrow the one that it follows while it has succeeded nowhere. What is paused or rejected
    may still run."""
    newest, successful = environment.get("newest"), environment.get("newestSuccessful")
    if newest is None:
        return printable(f"none ready ({successful} runs)") if successful else "no version"
    return printable(newest if successful in (None, newest) else f"{successful} → {newest}")


def _ratio(counts: Document) -> str:
    total = sum(counts.values())
    return f"{counts.get('upToDate', 0):>{len(str(total))}}/{total}"


def _bar(counts: Document, width: int) -> Iterator[StyledText]:
    """What there is at all has at least one character."""
    total = sum(counts.values())
    left = width
    for key, character, style in _BARS:
        share = counts.get(key, 0) * width // total if total else 0
        share = min(max(share, 1), left) if counts.get(key) else 0
        left -= share
        yield StyledText(character * share, style)
    yield StyledText("░" * left, "dim")


def _words(counts: Document) -> Iterator[StyledText]:
    for key, style, word in _WORDS:
        if counts.get(key):
            yield StyledText(f"  {counts[key]} {word}", style)


def _details(environment: Document, pair: Pair, snapshot: WatchedFleet, now: Instant) -> Iterator[Line]:
    if pair in watch_nodes.covered(snapshot):
        return
    for job in snapshot.jobs.get(pair, []):
        since = instants.parse(job.get("startedAt") or job["createdAt"])
        for_long = words.length(max(now - since, 0) // instants.MICROSECONDS_PER_SECOND)
        comment = f"  {printable(job['message'])}" if job.get("message") else ""
        what = f"{printable(job['version'])} {job['status']} {for_long}{comment}"
        yield [
            StyledText("▶ ", "cyan"),
            StyledText(f"{printable(job['resource'])}  "),
            StyledText(what, "cyan"),
        ]
    for resource in snapshot.failed.get(pair, []):
        yield [
            StyledText("✗ ", "red"),
            StyledText(f"{printable(resource)}  "),
            StyledText("failed; `headgate explain` says why", "red"),
        ]
    for item in environment.get("waiting") or []:
        resource = printable(item["target"].rpartition("/")[2])
        yield [
            StyledText("· ", "yellow"),
            StyledText(f"{resource}  "),
            StyledText(printable(item["message"]), "dim"),
        ]
    counts = environment["counts"]
    hidden = counts.get("waiting", 0) + counts.get("frozen", 0) - len(environment.get("waiting") or [])
    if hidden > 0:
        yield [StyledText("· ", "yellow"), StyledText(f"{hidden} more wait", "dim")]


def _share(branches: Sequence[_Branch], room: int) -> None:
    """A line each in turn, so that no environment hides the others."""
    while room > 0:
        wanting = [branch for branch in branches if branch.room < len(branch.details)]
        if not wanting:
            return
        for branch in wanting[:room]:
            branch.room += 1
        room -= len(wanting)


def _lines_of_branch(branch: _Branch) -> Iterator[Line]:
    rail = StyledText(branch.rail, "dim")
    fitting = branch.details[: branch.room]
    hidden = len(branch.details) - len(fitting)
    if hidden and fitting:
        fitting = [*fitting[:-1], [StyledText(f"and {hidden + 1} more", "dim")]]
    for line in fitting:
        yield [rail, *line]


def _budgets(budgets: Sequence[Document]) -> Iterator[Line]:
    """The ones in use or stopped; fullest first when there are many."""
    used = [one for one in budgets if one["used"] or one.get("stoppedAt")]
    used.sort(key=lambda budget: (not budget.get("stoppedAt"), -budget["used"] / max(budget["limit"], 1)))
    if used:
        yield [StyledText("Budgets", "bold")]
    for budget in used[:MOST_BUDGETS]:
        yield _budget(budget)
    if len(used) > MOST_BUDGETS:
        yield [StyledText(f"  and {len(used) - MOST_BUDGETS} more", "dim")]


def _budget(budget: Document) -> Line:
    where = f" in {printable(budget['environment'])}" if budget.get("environment") else ""
    rule = f"{printable(budget['policy'])}, {printable(budget['rule'])}{where}"
    amount = f"  {budget['used']} of {budget['limit']}  "
    if budget.get("stoppedAt"):
        since = instants.show_to_the_second(instants.parse(budget["stoppedAt"]))
        advice = "  `headgate resume` goes on"
        return [
            StyledText(amount, "red"),
            StyledText(f"stopped since {since}  ", "red"),
            StyledText(rule),
            StyledText(advice, "dim"),
        ]
    holders = ", ".join(printable(holder["name"]) for holder in budget.get("holders") or [])
    full = budget["used"] >= budget["limit"]
    return [
        StyledText(amount, "yellow" if full else "green"),
        StyledText(rule + "  "),
        StyledText(holders, "dim"),
    ]


def _cut(line: Line, width: int) -> Line:
    kept: Line = []
    left = width
    for span in line:
        if tables.width_of(span.text) > left:
            return [*kept, StyledText(tables.cut(span.text, left), span.style)] if left else kept
        kept.append(span)
        left -= tables.width_of(span.text)
    return kept
