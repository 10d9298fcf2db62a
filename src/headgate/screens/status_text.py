"""The matrix of deployments and environments, as wide as the terminal allows, and who waits for what."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens import tables
from headgate.screens.tables import printable
from headgate.screens.words import NOTHING

MOST_WAITING = 10
COUNTS = (
    ("upToDate", "up to date"),
    ("verifying", "verifying"),
    ("running", "running"),
    ("rollingBack", "rolling back"),
    ("waiting", "waiting"),
    ("frozen", "frozen"),
    ("rolledBack", "rolled back"),
    ("failed", "failed"),
    ("noVersion", "without version"),
)

Document = dict[str, Any]


def render(
    deployments: Sequence[Document],
    *,
    wide: bool,
    width: int,
    cut_to: int | None,
    offered: Callable[..., str],
) -> Iterator[str]:
    """`cut_to` is None where nothing is cut, because nobody reads it on a terminal; `offered` writes commands."""
    if not deployments:
        yield (
            "no deployment has a target yet: a resource becomes one where a deployment and an environment both select it; "
            f"`{offered('get', 'deployments')}` and `{offered('get', 'environments')}` show what they select"
        )
        return
    matrix = [] if wide else list(_matrix(deployments))
    fits = matrix and max(tables.width_of(line) for line in matrix) <= width
    yield from matrix if fits else _long(deployments)
    yield from _waiting(deployments, None if wide else MOST_WAITING, cut_to, offered)


def environments_of(deployments: Sequence[Document]) -> list[str]:
    """Each behind those that stand before it in any deployment, because that is how its versions go; else as they come.
    Where deployments contradict each other, the first of them is right."""
    orders = [[one["name"] for one in deployment["environments"]] for deployment in deployments]
    before: dict[str, set[str]] = {name: set() for names in orders for name in names}
    for names in orders:
        for name, after in itertools.pairwise(names):
            before[after].add(name)
    ordered: list[str] = []
    left = list(before)
    while left:
        free = next((name for name in left if before[name].isdisjoint(left)), left[0])
        left.remove(free)
        ordered.append(free)
    return ordered


def _matrix(deployments: Sequence[Document]) -> Iterator[str]:
    names = environments_of(deployments)
    lines = [["DEPLOYMENT", *(printable(name) for name in names)]]
    for deployment in deployments:
        cells = {one["name"]: list(_cell(one)) for one in deployment["environments"]}
        height = max((len(cell) for cell in cells.values()), default=1)
        for row in range(height):
            texts = [cells.get(name, []) for name in names]
            first = printable(deployment["name"]) if row == 0 else ""
            lines.append([first, *(text[row] if row < len(text) else "" for text in texts)])
    yield from tables.aligned(lines)


def _cell(environment: Document) -> Iterator[str]:
    yield versions(environment)
    counts = environment["counts"]
    total = sum(counts.values())
    if counts.get("noVersion", 0) == total and environment.get("newest") is None:
        yield f"{total} {'target' if total == 1 else 'targets'}"
        return
    yield f"{counts.get('upToDate', 0)}/{total} up to date"
    others = [f"{counts[key]} {word}" for key, word in COUNTS[1:] if counts.get(key)]
    if others:
        yield ", ".join(others)
    yield from _finish(environment)


def _finish(environment: Document) -> Iterator[str]:
    """With when it was foreseen, which is a while ago at times."""
    expected = environment.get("expectedFinish")
    if expected is not None and expected["at"] is not None:
        made_at = instants.parse(expected["madeAt"])
        at = instants.show_clock(_to_the_minute(instants.parse(expected["at"])), near=made_at)
        yield f"done about {at} (as of {instants.show_clock(_to_the_minute(made_at))} UTC)"


def _to_the_minute(instant: Instant) -> Instant:
    return instant - instant % instants.minutes(1)


def versions(environment: Document) -> str:
    """`v2`, or `v2 (v1 succeeded)` while the newest has not succeeded anywhere. What is paused or rejected may still run."""
    newest, successful = environment.get("newest"), environment.get("newestSuccessful")
    if newest is None:
        return printable(f"none ready ({successful} succeeded)") if successful else "no version"
    if newest == successful:
        return printable(newest)
    return printable(f"{newest} ({successful} succeeded)" if successful else f"{newest} (none succeeded)")


def _long(deployments: Sequence[Document]) -> Iterator[str]:
    titles = ["DEPLOYMENT", "ENVIRONMENT", "NEWEST", "SUCCESSFUL", *(word.upper() for _, word in COUNTS)]
    lines = [titles]
    for deployment in deployments:
        for environment in deployment["environments"]:
            counts = [str(environment["counts"].get(key, 0)) for key, _ in COUNTS]
            tags = [printable(environment.get(key) or NOTHING) for key in ("newest", "newestSuccessful")]
            lines.append([printable(deployment["name"]), printable(environment["name"]), *tags, *counts])
    yield from tables.aligned(lines)


def _waiting(
    deployments: Sequence[Document], most: int | None, cut_to: int | None, offered: Callable[..., str]
) -> Iterator[str]:
    waiting_targets = [
        (item["target"], item["message"])
        for deployment in deployments
        for environment in deployment["environments"]
        for item in environment.get("waiting") or []
    ]
    if not waiting_targets:
        return
    counted = ("waiting", "frozen")
    total = sum(
        environment["counts"].get(key, 0)
        for deployment in deployments
        for environment in deployment["environments"]
        for key in counted
    )
    targets_shown = waiting_targets[:most]
    yield ""
    yield "Waiting"
    lines = [[f"  {printable(target)}", printable(message)] for target, message in targets_shown]
    yield from tables.aligned(lines, cut_to=cut_to)
    if total > len(targets_shown):
        states = sorted(
            state
            for state in counted
            if any(e["counts"].get(state) for d in deployments for e in d["environments"])
        )
        commands = [offered("get", "targets", options=("--filter", f"state={state}")) for state in states]
        lists = " and ".join(f"`{command}`" for command in commands)
        yield f"  and {total - len(targets_shown)} more; {lists} {'lists' if len(states) == 1 else 'list'} them"
