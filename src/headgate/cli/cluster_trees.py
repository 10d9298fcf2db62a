"""Explanations of what a cluster holds, as commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from headgate.cli import output, pairs, terminal
from headgate.kernel.explanations import ExplanationTree
from headgate.screens import explanation_text, tables, tree_text

NARROWEST = 40


def status(name: str, tree: ExplanationTree, form: str) -> None:
    document = _printable(tree)
    drawn = terminal.width() is not None

    def text() -> str:
        return "\n".join(tree_text.whole(document, is_drawn=drawn, paint=terminal.of_state))

    output.result(tree.document(), form, text, name)


def explanation(name: str, tree: ExplanationTree, form: str) -> None:
    width = max(min(terminal.width() or explanation_text.WIDTH, explanation_text.WIDTH), NARROWEST)
    output.result(
        tree.document(),
        form,
        lambda: "\n".join(tree_text.unsettled(_printable(tree), pairs.now(), width)),
        name,
    )


def ordered(name: str, tree: ExplanationTree, outcome: str, form: str, *, is_changed: bool) -> None:
    """`tree` says how far it was when it was ordered."""
    message = f"{tree.subject} {outcome}" if is_changed else f"{tree.subject} {outcome}; it was so before"
    far = _first(tree)
    document = {"subject": tree.subject, "changed": is_changed, "state": tree.state.value, "message": message}
    output.result(document, form, tables.printable(f"{message}; until now: {far}" if far else message), name)


def rows(named: Sequence[tuple[str, ExplanationTree]], form: str, nothing: str) -> None:
    """One line for each: its name, its state, and what is said of it first."""
    if form == "json":
        output.echo_json({"items": [tree.document() for _, tree in named]})
    elif form == "yaml":
        output.echo_yaml([tree.document() for _, tree in named])
    elif form == "name":
        output.echo_lines(name for name, _ in named)
    elif not named:
        click.echo(nothing, err=True)
    else:
        lines = [(name, tree.state.value, tables.printable(_first(tree))) for name, tree in named]
        for line in tables.aligned(
            [("NAME", "STATE", "MESSAGE"), *lines],
            cut_to=None if form == "wide" else terminal.width(),
            states={1},
            paint=terminal.of_state,
        ):
            click.echo(line)


def _first(tree: ExplanationTree) -> str:
    return tree.lines[0].message if tree.lines else tree.message


def _printable(tree: ExplanationTree) -> dict[str, Any]:
    document: dict[str, Any] = tables.printable_document(tree.document())
    return document
