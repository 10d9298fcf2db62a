"""Sets over time in a terminal: one row for each place of a pod, one column for each stretch of time.

A column shows the worst that happened in its stretch, so that nothing short gets lost. Of a set with many places each
row is a clique, and a column says how many tenths of its pods were available at the worst moment.
"""

from collections.abc import Iterator, Sequence

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens import charts
from headgate.simulate.model.result import PodLife, PodRow, Result, Workload

MOST_ROWS = 40
MOST_CLIQUES = 60
MOST_BUDGETS = 20
WIDEST_LABEL = 44
_NOTHING, _READY, _STARTING, _WAITING, _GOING = range(5)
_LEGEND = ". waits for a node   : starts   1 2 3 ready, by revision   x terminates   + surge"
_LEGEND_OF_CLIQUES = "tenths of its pods that were available at the worst moment   # all of them"


def render(result: Result) -> Iterator[str]:
    for number, workload in enumerate(result.workloads):
        if number:
            yield ""
        yield from _chart(result, workload)


def _chart(result: Result, workload: Workload) -> Iterator[str]:
    is_small = len(workload.rows) <= MOST_ROWS
    rows = list(_pod_rows(workload) if is_small else _clique_rows(workload))
    label = min(max(len(text) for text, _ in rows), WIDEST_LABEL)
    columns = max(20, charts.WIDTH - label - 2)
    yield f"PodCliqueSet {workload.name}"
    yield f"{'':<{label}}  {charts.axis(result, columns)}"
    for text, places in rows if is_small else rows[:MOST_CLIQUES]:
        if not places:
            yield text
            continue
        pods = [pod for pod in workload.pods if pod.row in places]
        cells = _cells(result, pods, columns) if is_small else _shares(result, pods, columns)
        yield f"{_cut(text, label)}  {cells}".rstrip()
    if not is_small and len(rows) > MOST_CLIQUES:
        yield f"and {len(rows) - MOST_CLIQUES} more"
    yield f"{'':<{label}}  {_LEGEND if is_small else _LEGEND_OF_CLIQUES}"


def _cut(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else f"{text[: width - 3]}..."


def _pod_rows(workload: Workload) -> Iterator[tuple[str, frozenset[int]]]:
    """Headings have no places."""
    replica, group = -1, ""
    for number, row in enumerate(workload.rows):
        if row.replica != replica:
            replica, group = row.replica, ""
            yield f"replica {replica}", frozenset()
        if row.group != group:
            group = row.group
            yield f"  {group}", frozenset()
        indent = "    " if group else "  "
        yield f"{indent}{row.clique} {row.index}{' +' if row.is_surge else ''}", frozenset({number})


def _clique_rows(workload: Workload) -> Iterator[tuple[str, frozenset[int]]]:
    by_clique: dict[str, set[int]] = {}
    for number, row in enumerate(workload.rows):
        by_clique.setdefault(_clique_name(row), set()).add(number)
    for name, places in by_clique.items():
        yield f"{name} ({len(places)})", frozenset(places)


def _clique_name(row: PodRow) -> str:
    return " ".join(part for part in (f"replica {row.replica}", row.group, row.clique) if part)


def _cells(result: Result, pods: Sequence[PodLife], columns: int) -> str:
    return "".join(_cell(pods, start, end) for start, end in charts.stretches(result, columns))


def _cell(pods: Sequence[PodLife], start: Instant, end: Instant) -> str:
    worst, revision = _NOTHING, 0
    for pod in pods:
        for state, since, until in _states(pod):
            if since < end and (until is None or until > start) and state >= worst:
                worst, revision = state, pod.revision or 0
    if worst == _READY:
        return charts.digit(revision)
    return " 1:.x"[worst]


def _states(pod: PodLife) -> Iterator[tuple[int, Instant, Instant | None]]:
    end = pod.deleted_at if pod.deleted_at is not None else pod.gone_at
    yield _WAITING, pod.created_at, pod.scheduled_at if pod.scheduled_at is not None else end
    if pod.scheduled_at is not None:
        since: Instant | None = pod.scheduled_at
        for start, stop in pod.ready:
            if since is not None:
                yield _STARTING, since, start
            yield _READY, start, stop
            since = stop
        if since is not None and since != end:
            yield _STARTING, since, end
    if pod.deleted_at is not None:
        yield _GOING, pod.deleted_at, pod.gone_at


def _shares(result: Result, pods: Sequence[PodLife], columns: int) -> str:
    return "".join(_share(pods, start, end) for start, end in charts.stretches(result, columns))


def _share(pods: Sequence[PodLife], start: Instant, end: Instant) -> str:
    """Of the places that had a pod: those with a pod that was ready the whole stretch."""
    steady = sum(
        any(since <= start and (until is None or until >= end) for since, until in pod.ready) for pod in pods
    )
    present = {
        pod.row for pod in pods if pod.created_at < end and (pod.gone_at is None or pod.gone_at > start)
    }
    if not present:
        return " "
    return "#" if steady >= len(present) else str(10 * steady // max(len(present), 1))


def budgets(result: Result) -> Iterator[str]:
    used = [item for item in result.workload_budgets if item.peak]
    for item in used[:MOST_BUDGETS]:
        at = instants.show(item.peak_at or 0)[11:19]
        yield f"  {item.peak} of {item.limit}  {item.kind} of {item.scope}, peak at {at}"
    if len(used) > MOST_BUDGETS:
        yield f"  and {len(used) - MOST_BUDGETS} more that were used"
    unused = len(result.workload_budgets) - len(used)
    if unused:
        yield f"  {unused} of maxUnavailable and maxSurge never used"
