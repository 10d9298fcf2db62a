"""How long a workspace keeps its history: shown, and set in parts; the rest stays as it is."""

from __future__ import annotations

from typing import Any

import click

from headgate.cli import asking, completions, failures, options, output, pairs
from headgate.cli.client import ApiClient, path
from headgate.screens import tables

HISTORIES = ("jobs", "groups", "audit", "events", "log")
_WHAT = "|".join(HISTORIES)

Retention = dict[str, Any]


@click.command("retention")
@click.argument("name", shell_complete=completions.names("workspaces"))
@click.option(
    "--days", "days", multiple=True, metavar="WHAT=N", help=f"Forget what is older; WHAT is {_WHAT}."
)
@click.option(
    "--count", "counts", multiple=True, metavar="WHAT=N", help="Forget what is more, the oldest first."
)
@click.option("--legal-hold/--no-legal-hold", default=None, help="Forget nothing until it is taken away.")
@click.option("--defaults", is_flag=True, help="First put everything back to its default.")
@asking.YES
@options.output()
@options.with_server
def command(
    client: ApiClient,
    name: str,
    days: tuple[str, ...],
    counts: tuple[str, ...],
    legal_hold: bool | None,
    defaults: bool,
    yes: bool,
    form: str,
) -> None:
    """Shows how long the workspace NAME keeps its history, or sets it.

    Exit codes: 0 shown or set; 1 there is none of that name, refused, or you did not confirm it; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    place = path("workspaces", name, "retention")
    changes = [("days", _limits("--days", days)), ("count", _limits("--count", counts))]
    before: Retention = client.get(place, scoped=False)
    if not (days or counts or defaults or legal_hold is not None):
        _print(before, form, name)
        return
    start: Retention = {"legalHold": before["legalHold"]} if defaults else before
    wanted = {**start, **({} if legal_hold is None else {"legalHold": legal_hold})}
    for field, limits in changes:
        for what, number in limits.items():
            wanted[what] = {**before[what], **wanted.get(what, {}), field: number}
    if _forgets_more(before, wanted):
        asking.be_sure(f"Workspace {name} forgets more than before, for good: is that meant?", yes=yes)
    _print(client.send("PUT", place, wanted, scoped=False), form, name)


def _limits(option: str, given: tuple[str, ...]) -> dict[str, object]:
    limits = pairs.values(option, given)
    for what, number in limits.items():
        if what not in HISTORIES:
            raise failures.misused(f'{option}: is for "{what}"; allowed are {", ".join(HISTORIES)}')
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise failures.misused(f'{option}: {what} is "{number}"; allowed is a number')
    return limits


def _forgets_more(before: Retention, wanted: Retention) -> bool:
    """Defaults, which only the server knows, may be less than what is kept now."""
    if before["legalHold"] and not wanted["legalHold"]:
        return True
    return any(
        what not in wanted or wanted[what][field] < before[what][field]
        for what in HISTORIES
        for field in ("days", "count")
    )


def _print(retention: Retention, form: str, name: str) -> None:
    output.result(retention, form, lambda: "\n".join(_lines(retention)), name)


def _lines(retention: Retention) -> list[str]:
    rows = [[what, f"{retention[what]['days']:g}", f"{retention[what]['count']:,}"] for what in HISTORIES]
    table = tables.aligned([["HISTORY", "DAYS", "COUNT"], *rows])
    return [*table, *(["legal hold: nothing is forgotten"] if retention["legalHold"] else [])]
