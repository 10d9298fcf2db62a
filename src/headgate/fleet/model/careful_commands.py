"""Commands with expressions in them: no value becomes code.

An item of a list is an argument as it is. To a script of a shell a value comes as an environment variable, with the
quotes that its place asks for: a shell reads variables, but never takes what is in them for code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from headgate.cel.interpolation import InterpolatedPart
from headgate.fleet.model import job_configs
from headgate.fleet.model.careful_texts import (
    MARK,
    Problems,
    has_expression,
    joined,
    parts_of,
    quote_after,
    render,
    template_of,
)
from headgate.fleet.model.job_configs import ConfigBindings
from headgate.kernel.documents import item_path
from headgate.kernel.problems import Problem

VALUE_NAME = "HEADGATE_VALUE_"
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "busybox"})
_INTERPRETERS = re.compile(r"(python|perl|ruby|node|nodejs|php|lua|awk|gawk|mawk|sed)[0-9.]*")
_SHELL_FLAG = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*")
_CODE_FLAG = re.compile(r"-[a-zA-Z]*[ceErR]|--(eval|execute|expression|run|print)|-p")
_READS_AGAIN = re.compile(
    r"(?<![\w.-])(ssh|rsh|eval|su|runuser|watch|xargs|parallel|sh|bash|dash|ash|zsh|ksh|mksh|fish|csh|tcsh|busybox"
    r"|python[0-9.]*|perl|ruby|node|nodejs|php|lua|awk|gawk|mawk|psql|mysql|sqlite3)(?![\w.=-])"
)
"""Programs that take what they are given for code, so that a value would be read a second time."""
_PLAIN = re.compile(r"[A-Za-z0-9._:/@+=,-]*")
_PLAIN_WORDS = "letters, digits and . _ : / @ + = , -"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")

UNKNOWN_PROGRAM = "python"
"""Stands for a program that is not known: nothing that could be code is given to it."""

Values = dict[str, str]


def resolve(value: object, bindings: ConfigBindings, path: str, problems: Problems) -> tuple[object, Values]:
    """The command, and the environment variables by which its script gets values."""
    values: Values = {}
    if isinstance(value, str):
        _refuse_computed_program(value, path, problems)
        return _script(value, bindings, path, problems, values), values
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return resolve_items(
            value, [item_path(path, index) for index in range(len(value))], bindings, problems
        )
    if has_expression(value):
        problems.append(Problem(path, "must be a command: a string, or a list of strings that is not empty"))
    return value, values


def resolve_items(
    items: Sequence[str], paths: Sequence[str], bindings: ConfigBindings, problems: Problems
) -> tuple[list[str], Values]:
    """A command in items, each with its own path."""
    values: Values = {}
    resolved = [
        _argument(items, index, bindings, paths[index], problems, values) for index in range(len(items))
    ]
    return resolved, values


def check(value: object, path: str, problems: Problems) -> None:
    if isinstance(value, str):
        _refuse_computed_program(value, path, problems)
    elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        check_items(value, [item_path(path, index) for index in range(len(value))], problems)


def check_items(items: Sequence[str], paths: Sequence[str], problems: Problems) -> None:
    if items:
        _refuse_computed_program(items[0], paths[0], problems)
        code = _place_of_code(items)
        if code is not None and not _is_shell(items[0]) and has_expression(items[code]):
            problems.append(_pasted(paths[code]))


def _refuse_computed_program(text: str, path: str, problems: Problems) -> None:
    """What others wrote may be among the arguments; `NAME=value` in front of the program is none of it."""
    words = template_of(parts_of(text, path, problems)).split()
    program = next((word for word in words if not _ASSIGNMENT.match(word)), "")
    if MARK in program:
        problems.append(Problem(path, "has an expression in what is run, which has to be written out"))


def _is_shell(program: str) -> bool:
    return program.rpartition("/")[2] in _SHELLS


def _place_of_code(items: Sequence[str]) -> int | None:
    """Which argument is a script, of a shell or of another interpreter, called by itself or by something like sudo."""
    is_shell = is_interpreter = False
    for index, item in enumerate(items[:-1]):
        if (is_shell and _SHELL_FLAG.fullmatch(item)) or (is_interpreter and _CODE_FLAG.fullmatch(item)):
            return index + 1
        is_shell = is_shell or _is_shell(item)
        is_interpreter = is_interpreter or bool(_INTERPRETERS.fullmatch(item.rpartition("/")[2]))
    return None


def places_of_code(items: Sequence[str]) -> list[int]:
    """What is run, the script that it is given, and whatever is given to a program that reads it as code."""
    code = _place_of_code(items)
    return [
        index
        for index in range(len(items))
        if index in (0, code) or any(_reads_again(item) for item in items[:index])
    ]


def _reads_again(item: str) -> bool:
    return bool(_READS_AGAIN.fullmatch(item.rpartition("/")[2]))


def _argument(
    items: Sequence[str], index: int, bindings: ConfigBindings, path: str, problems: Problems, values: Values
) -> str:
    text = items[index]
    if index == 0:
        _refuse_computed_program(text, path, problems)
    if index == _place_of_code(items):
        if _is_shell(items[0]):
            return _script(text, bindings, path, problems, values)
        if has_expression(text):
            problems.append(_pasted(path))
    parts = parts_of(text, path, problems)
    result = joined(parts, bindings, path, problems)
    if any(_reads_again(item) for item in items[:index]):
        _refuse_more_than_words(parts, bindings, path, problems)
    if parts and parts[0].is_expression and result.startswith("-") and "--" not in items[:index]:
        problem = (
            f"gives {render(result)}, which a program takes for an option; allowed is it behind an item --"
        )
        problems.append(Problem(path, problem))
    return result


def _refuse_more_than_words(
    parts: Sequence[InterpolatedPart], bindings: ConfigBindings, path: str, problems: Problems
) -> None:
    """What is read as code once more, on another machine or by another shell, cannot be quoted for all of them."""
    for part in parts:
        value = job_configs.text_of(part, bindings, path, []) if part.is_expression else ""
        if not _PLAIN.fullmatch(value):
            problem = f"gives {render(value)}; beside ssh, eval, other shells and interpreters allowed are {_PLAIN_WORDS}"
            problems.append(Problem(path, f"${{{part.text}}}: {problem}"))


def _pasted(path: str) -> Problem:
    return Problem(path, "has an expression in code; give the value as an argument of its own, or in env")


def _script(text: str, bindings: ConfigBindings, path: str, problems: Problems, values: Values) -> str:
    """With variables in the place of expressions, quoted as the place asks for."""
    result = quoted = ""
    parts = parts_of(text, path, problems)
    if any(_READS_AGAIN.search(part.text) for part in parts if not part.is_expression):
        _refuse_more_than_words(parts, bindings, path, problems)
    for part in parts:
        if not part.is_expression:
            result += part.text
            quoted = quote_after(part.text, quoted, "'\"", "\\")
            continue
        name = f"{VALUE_NAME}{len(values) + 1}"
        values[name] = job_configs.text_of(part, bindings, path, problems)
        variable = f"${{{name}}}"
        result += {"": f'"{variable}"', '"': variable, "'": f"'\"{variable}\"'"}[quoted]
    return result
