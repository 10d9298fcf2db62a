"""The five ways a result is printed. JSON is what the API gives; YAML of objects is what `apply -f` takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from headgate.cli import tables
from headgate.cli.tables import Row

if TYPE_CHECKING:
    from headgate.cli.kinds import Kind


def rows(kind: Kind, items: Sequence[Row], form: str) -> None:
    """A list of objects of one kind."""
    if form == "json":
        echo_json({"items": list(items), "next": None})
    elif form == "yaml":
        echo_yaml(items if kind.manifest is None else [manifest(kind, item) for item in items])
    elif form == "name":
        echo_lines(kind.identity(item) for item in items)
    elif not items:
        click.echo(f"no {kind.collection}", err=True)
    else:
        click.echo("\n".join(tables.render(kind.columns, items, wide=form == "wide")))


def one(kind: Kind, item: Row, form: str) -> None:
    if form == "json":
        echo_json(item)
    elif form == "yaml":
        echo_yaml([item if kind.manifest is None else manifest(kind, item)])
    else:
        rows(kind, [item], form)


def manifest(kind: Kind, item: Row) -> Row:
    """Without what holds its default; with all of it if this version of the command does not know the object."""
    from headgate.fleet import manifests
    from headgate.kernel import identifiers
    from headgate.kernel.problems import Rejected

    kept = {
        key: value
        for key, value in item.items()
        if key not in ("id", "name", "workspace", "publishedAt", "setAt")
    }
    metadata = {key: item[key] for key in ("name", "id") if key in item}
    document = {
        "apiVersion": manifests.API_VERSION,
        "kind": kind.manifest,
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
    from headgate.cli import yaml_text

    click.echo(yaml_text.write(documents), nl=False)


def echo_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(tables.printable(line))
