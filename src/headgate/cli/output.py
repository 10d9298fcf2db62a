"""The ways a result is printed. JSON is what the API gives; YAML of objects is what `apply -f` takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from headgate.cli import columns
from headgate.cli.columns import Row
from headgate.screens import tables

if TYPE_CHECKING:
    from headgate.cli.kinds import Collection


def rows(kind: Collection, items: Sequence[Row], form: str, *, header: bool = True) -> None:
    """A list of objects of one kind."""
    name, _, asked = form.partition("=")
    if name == "jsonpath":
        _echo_filled(asked, {"items": list(items)})
    elif name == "custom-columns":
        _echo_fields(asked, items, header)
    elif form == "csv":
        _echo_csv(kind, items, header)
    elif form == "json":
        echo_json({"items": list(items), "next": None})
    elif form == "yaml":
        echo_yaml(items if kind.kind is None else [manifest(kind.kind.name, item) for item in items])
    elif form == "name":
        echo_lines(kind.identity(item) for item in items)
    elif not items:
        click.echo(f"no {kind.collection}", err=True)
    else:
        click.echo("\n".join(columns.render(kind.columns, items, wide=form == "wide", header=header)))


def _echo_filled(text: str, document: Any) -> None:
    from headgate.cli import chosen_fields

    click.echo(chosen_fields.fill(chosen_fields.template(text), document))


def _echo_fields(text: str, items: Sequence[Row], header: bool) -> None:
    from headgate.cli import chosen_fields

    fields = chosen_fields.columns(text)
    titles = [[field.title for field in fields]] if header else []
    cells = [[tables.printable(cell) for cell in chosen_fields.cells(fields, item)] for item in items]
    for line in tables.aligned([*titles, *cells]):
        click.echo(line)


def _echo_csv(kind: Collection, items: Sequence[Row], header: bool) -> None:
    """The columns of a wide table; what has no value is empty, and what is missing in one row is so in its cell."""
    import csv
    import io

    from headgate.screens.words import NOTHING

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow([column.title for column in kind.columns])
    for item in items:
        cells = [(column.wide_text or column.text)(item) for column in kind.columns]
        writer.writerow(["" if cell == NOTHING else tables.printable(cell) for cell in cells])
    click.echo(text.getvalue(), nl=False)


def single_row(kind: Collection, item: Row, form: str, *, header: bool = True) -> None:
    if form.startswith("jsonpath="):
        _echo_filled(form.removeprefix("jsonpath="), item)
    elif form == "json":
        echo_json(item)
    elif form == "yaml":
        echo_yaml([item if kind.kind is None else manifest(kind.kind.name, item)])
    else:
        rows(kind, [item], form, header=header)


def manifest(kind: str, item: Row) -> Row:
    """Without what holds its default; with all of it if this version of the command does not know the object."""
    from headgate.fleet.engine import manifests
    from headgate.kernel import identifiers
    from headgate.kernel.problems import Rejected

    kept = {
        key: value
        for key, value in item.items()
        if key not in ("id", "name", "workspace", "publishedAt", "setAt", "rejection")
    }
    metadata = {key: item[key] for key in ("name", "id") if key in item}
    document = {
        "apiVersion": manifests.API_VERSION,
        "kind": kind,
        "metadata": metadata,
        "spec": kept,
    }
    try:
        return manifests.describe(manifests.parse(document, identifiers.NamedIds("get"), 0))
    except Rejected:
        return document


def result(document: Any, form: str, sentence: str | Callable[[], str], name: str) -> None:
    """What a command that changes something has to say."""
    if form == "json":
        echo_json(document)
    elif form == "yaml":
        echo_yaml([document])
    elif form == "name":
        echo_lines([name])
    else:
        click.echo(sentence if isinstance(sentence, str) else sentence())


def echo_json(document: Any) -> None:
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def echo_yaml(documents: Iterable[Any]) -> None:
    from headgate.kernel import yaml_text

    click.echo(yaml_text.write(documents), nl=False)


def echo_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(tables.printable(line))
