"""Rewrites what the documentation repeats from the code: the computed columns of field tables, and printed output.

    PYTHONPATH=tests .venv/bin/python -m docs.refresh [PAGE...]

Meanings in tables, the order of their rows and everything else are left as they are; a field that is new stands after
the one before it in its Struct, and below a marker without a table there is a new one. Printed output that is shortened
with `...` is left too; when it no longer matches, the command is named so that a person can shorten it anew. Pages that
need a server or a cluster keep their output.
"""

import shlex
import sys
import tempfile
from pathlib import Path

from . import fields, pages


def main(arguments: list[str]) -> None:
    chosen = [Path(name).resolve() for name in arguments] or pages.all_pages()
    for page in chosen:
        text = page.read_text("utf-8")
        fresh = with_tables(text)
        if pages.name_of(page) not in pages.NEEDING_A_SERVER | pages.NEEDING_A_CLUSTER:
            fresh = _with_printed(page, fresh)
        if fresh != text:
            page.write_text(fresh, "utf-8")
            print(f"rewrote {pages.name_of(page)}")  # noqa: T201


def with_tables(text: str) -> str:
    return fields.MARKER.sub(lambda match: _table(match.group(1), match.group(2) or ""), text)


def _table(name: str, old: str) -> str:
    meanings = {row[0].strip("`"): row[-1] for row in map(fields.cells, old.splitlines()[2:])}
    computed = fields.rows(fields.registry()[name])
    lines = [f"| {' | '.join(fields.HEADER)} |", f"|{'---|' * len(fields.HEADER)}"]
    for field in _in_order(list(computed), [field for field in meanings if field in computed]):
        cells = [f"`{field}`", *computed[field], meanings.get(field, "TODO")]
        escaped = [cell.replace("|", "\\|") for cell in cells]
        lines.append(f"| {' | '.join(escaped)} |")
    return f"<!-- fields: {name} -->\n\n" + "\n".join(lines) + "\n"


def _in_order(declared: list[str], written: list[str]) -> list[str]:
    """As a page has them, which is the order that its readers need."""
    found = list(written)
    for number, field in enumerate(declared):
        if field not in found:
            found.insert(found.index(declared[number - 1]) + 1 if number else 0, field)
    return found


def _with_printed(page: Path, text: str) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages.furnish(folder)
        code = 0
        for block in pages.blocks_of(page):
            if block.file_name is not None:
                pages.write_file(block, folder)
            if block.language != "console":
                continue
            fresh = ""
            for command in pages.commands_of(block):
                printed = command.printed
                if command.line.startswith("headgate "):
                    code, actual = pages.run(shlex.split(command.line)[1:], folder)
                    printed = _printed(page, command, actual)
                elif command.line == "echo $?":
                    printed = f"{code}\n"
                fresh += f"$ {command.line}\n{printed}"
            text = text.replace(f"```console\n{block.text}```", f"```console\n{fresh}```")
    return text


def _printed(page: Path, command: pages.Command, actual: str) -> str:
    if pages.is_printed(command.printed, actual):
        return command.printed
    if "..." in command.printed.splitlines():
        print(f"{pages.name_of(page)}: shorten anew: {command.line}")  # noqa: T201
        return command.printed
    return actual.rstrip("\n") + "\n" if actual.strip() else ""


if __name__ == "__main__":
    main(sys.argv[1:])
