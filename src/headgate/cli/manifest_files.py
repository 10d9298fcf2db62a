"""Manifests from files, folders and standard input, and problems of a server back at their file and line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headgate.cli import exit_codes, failures, refusals
from headgate.kernel import command_lines

if TYPE_CHECKING:
    from headgate.fleet.engine.manifest_text import TextDocument
    from headgate.kernel.problems import Problem

_PLACE = re.compile(r"(?:manifests)?\[(\d+)\]\.?(.*)", re.DOTALL)


def texts(paths: Iterable[str]) -> list[tuple[str, Path | None, str]]:
    """Source, folder and text of every file."""
    named_texts: list[tuple[str, Path | None, str]] = []
    for path in paths:
        try:
            if path == "-":
                named_texts.append(("-", None, sys.stdin.read()))
            else:
                named_texts.extend(
                    (str(file), file.parent, file.read_text("utf-8")) for file in _files(Path(path))
                )
        except OSError as error:
            raise failures.misused(f"{path}: cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise failures.misused(f"{path}: cannot be read: it is not UTF-8 text") from None
    return named_texts


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(item for item in path.rglob("*") if item.suffix in (".yaml", ".yml", ".json"))


def read(paths: Sequence[str]) -> list[TextDocument]:
    """Every document; what no server could take is refused here, with its line. Scenarios in folders are passed over."""
    from headgate.fleet.engine import manifests
    from headgate.kernel import documents
    from headgate.kernel.problems import Rejected

    text_documents: list[TextDocument] = []
    problems: list[Problem] = []
    for source, _, text in texts(paths):
        try:
            read_here = manifests.read_documents(text, source=source)
        except Rejected as rejected:
            problems.extend(rejected.problems)
            continue
        for document in read_here:
            if _is_scenario(document.value):
                _pass_over(source, source in paths)
                continue
            of_document = list(document.problems)
            documents.check_json(document.value, "", of_document)
            problems.extend(manifests.located(document, problem) for problem in of_document)
            text_documents.append(document)
    if problems:
        raise failures.CommandFailure(problems, exit_codes.UNREADABLE)
    if not text_documents:
        raise failures.misused(f"there is no manifest in {', '.join(paths)}")
    return text_documents


def _is_scenario(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "Scenario"


def _pass_over(source: str, was_named: bool) -> None:
    if was_named:
        command = command_lines.command_line("simulate", source)
        raise failures.misused(f"{source}: is a scenario; it is played with `{command}`")
    click.echo(f"{source}: is a scenario, passed over", err=True)


def at_their_lines(
    refused: refusals.RefusedRequest, documents: Sequence[TextDocument]
) -> failures.CommandFailure:
    """Paths such as `manifests[3].spec.tag` are said with the file and line they stand on."""
    from headgate.fleet.engine import manifests
    from headgate.kernel.problems import Problem

    located: list[object] = []
    for problem in refused.problems:
        match = _PLACE.fullmatch(problem.path)
        if match is None or int(match.group(1)) >= len(documents):
            located.append(problem)
            continue
        document = documents[int(match.group(1))]
        located.append(manifests.located(document, Problem(match.group(2), problem.message)))
    return failures.CommandFailure(located or refused.sentences, refused.code)
