"""Texts in which a value may not be more than a value: what those for addresses, commands, folders and queries share.

Whoever may name a resource or tag a version has a say in what expressions give. In an address such a value becomes one
label of a domain, or a percent-encoded piece of the path; to a shell it comes as an environment variable; nowhere can it
become another host, another path or a command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headgate.cel import interpolation
from headgate.cel.interpolation import OPENING, InterpolatedPart, InterpolationError
from headgate.fleet.model import job_configs
from headgate.fleet.model.job_configs import ConfigBindings
from headgate.kernel.problems import Problem

MARK = "\0"
"""Stands for an expression in a template of which only the shape is looked at."""
_WORD_OF_A_QUERY = re.compile(r"[A-Za-z0-9_.:]+")

Problems = list[Problem]


def parts_of(text: str, path: str, problems: Problems) -> list[InterpolatedPart]:
    """Expressions that look at nothing, such as the `${'${HOME}'}` of a script, are the owner's own text."""
    try:
        parts = interpolation.parts_of(text)
    except InterpolationError as error:
        problems.append(Problem(path, str(error)))
        return []
    interpolated: list[InterpolatedPart] = []
    for part in parts:
        own = job_configs.constant_text(part.text) if part.is_expression else None
        interpolated.append(part if own is None else InterpolatedPart(own, False, part.position))
    return interpolated


def has_expression(value: object) -> bool:
    """Whether anything in it depends on what others wrote."""
    if isinstance(value, Mapping):
        return any(has_expression(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(has_expression(item) for item in value)
    return (
        isinstance(value, str)
        and OPENING in value
        and any(part.is_expression for part in parts_of(value, "", []))
    )


def template_of(parts: Sequence[InterpolatedPart]) -> str:
    return "".join(MARK if part.is_expression else part.text for part in parts)


def joined(parts: Sequence[InterpolatedPart], bindings: ConfigBindings, path: str, problems: Problems) -> str:
    return "".join(
        job_configs.text_of(part, bindings, path, problems) if part.is_expression else part.text
        for part in parts
    )


def render(value: str) -> str:
    return f'"{value[:60]}"'


def quote_after(text: str, quoted: str, quotes: str, escape: str) -> str:
    """In which quotes the text ends, if it begins in these; nothing is escaped in single ones."""
    place = 0
    while place < len(text):
        character = text[place]
        if character == escape and quoted != "'":
            place += 1
        elif not quoted and character in quotes:
            quoted = character
        elif character == quoted:
            quoted = ""
        place += 1
    return quoted


def folder(text: str, bindings: ConfigBindings, path: str, problems: Problems) -> str:
    """A value is one name, and never a way to another folder."""
    parts = parts_of(text, path, problems)
    for part in parts:
        value = job_configs.text_of(part, bindings, path, []) if part.is_expression else "literal"
        if "/" in value or "\0" in value or value in (".", ".."):
            problems.append(
                Problem(path, f"${{{part.text}}}: gives {render(value)}; allowed is a name without /")
            )
    return joined(parts, bindings, path, problems)


def query(text: str, bindings: ConfigBindings, path: str, problems: Problems) -> str:
    """A query of Prometheus: a value is text in a string of it, and elsewhere a number, a duration or a name."""
    result = quoted = ""
    for part in parts_of(text, path, problems):
        if not part.is_expression:
            result += part.text
            quoted = quote_after(part.text, quoted, "'\"`", "" if quoted == "`" else "\\")
            continue
        value = job_configs.text_of(part, bindings, path, problems)
        if quoted in ("'", '"'):
            value = value.replace("\\", "\\\\").replace(quoted, "\\" + quoted).replace("\n", "\\n")
        elif not _WORD_OF_A_QUERY.fullmatch(value) or quoted:
            problems.append(
                Problem(
                    path,
                    f"${{{part.text}}}: gives {render(value)}; outside of quotes a number or a name is allowed",
                )
            )
        result += value
    return result
