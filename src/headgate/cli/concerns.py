"""Whom an act concerns, as a sentence below what it did."""

from typing import Any

import click

from headgate.screens import tables

FORCE = click.option(
    "--force", is_flag=True, help="Also with a selector that matches no target, or fails on all of them."
)


def message_of(sentence: str, answer: dict[str, Any]) -> str:
    """The sentence, and below it whom it concerns if the server says so."""
    return "\n".join([sentence, *lines(answer.get("concerns"))])


def lines(concerns: dict[str, Any] | None) -> list[str]:
    if concerns is None:
        return []
    count, sample, note = concerns["targets"], concerns["sample"], concerns["note"]
    names = ", ".join(sample)
    more = f" and {count - len(sample)} more" if count > len(sample) else ""
    sentences = [f"concerns {count} target{'' if count == 1 else 's'}: {names}{more}"] if count else []
    if not count and note is None:
        sentences.append("concerns no target")
    return [tables.printable(line) for line in [*sentences, *([note] if note else [])]]
