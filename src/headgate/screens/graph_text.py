"""Graphs over time in a terminal: one row for each object, with the revision that it was at and whether it was ready."""

from collections.abc import Iterator
from itertools import groupby

from headgate.kernel.instants import Instant
from headgate.screens import charts
from headgate.simulate.model.result import Graph, GraphRow, Result

MOST_ROWS = 60
MOST_GRAPHS = 12
WIDEST_LABEL = 40
_LEGEND = ": written and not ready   1 2 3 ready, by revision   a space is no object"


def render(result: Result) -> Iterator[str]:
    for number, graph in enumerate(result.graphs[:MOST_GRAPHS]):
        if number:
            yield ""
        yield from _chart(result, graph)
    if len(result.graphs) > MOST_GRAPHS:
        yield ""
        yield f"and {len(result.graphs) - MOST_GRAPHS} more instances"


def _chart(result: Result, graph: Graph) -> Iterator[str]:
    rows = graph.rows[:MOST_ROWS]
    label = min(max((len(row.name) + 2 for row in rows), default=0), WIDEST_LABEL)
    label = max(label, *(len(_node(graph, row.node)) for row in rows)) if rows else label
    label = min(label, WIDEST_LABEL)
    columns = max(20, charts.WIDTH - label - 2)
    yield f"Graph {graph.instance}"
    yield f"{'':<{label}}  {charts.axis(result, columns)}"
    for node, members in groupby(rows, key=lambda row: row.node):
        yield _node(graph, node)
        for row in members:
            yield f"{'  ' + row.name:<{label}}  {_cells(result, row, columns)}".rstrip()
    if len(graph.rows) > MOST_ROWS:
        yield f"and {len(graph.rows) - MOST_ROWS} more objects"
    yield f"{'':<{label}}  {_LEGEND}"


def _node(graph: Graph, node: str) -> str:
    after = graph.edges.get(node, ())
    return f"{node} after {', '.join(after)}" if after else node


def _cells(result: Result, row: GraphRow, columns: int) -> str:
    return "".join(_cell(row, start, end) for start, end in charts.stretches(result, columns))


def _cell(row: GraphRow, start: Instant, end: Instant) -> str:
    """The last revision of the stretch; a moment in which it was not ready is never lost."""
    if row.writes[0][0] >= end or (row.deleted_at is not None and row.deleted_at <= start):
        return " "
    revision = max(number for at, number in row.writes if at < end)
    for since, until in unready(row):
        if since < end and (until is None or until > start):
            return ":"
    return charts.digit(revision)


def unready(row: GraphRow) -> Iterator[tuple[Instant, Instant | None]]:
    """Stretches in which the object was there and not ready."""
    since: Instant | None = row.writes[0][0]
    for at, is_ready in row.ready:
        if is_ready and since is not None:
            if at > since:
                yield since, at
            since = None
        elif not is_ready and since is None:
            since = at
    if since is not None:
        yield since, row.deleted_at
