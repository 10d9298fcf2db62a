"""`-o` of the commands that play scenarios: the form, as everywhere, and still the file that it once was."""

import functools
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

import click

R = TypeVar("R")


class _FormOrFile(click.ParamType[str]):
    """A word that is neither may be a form misspelled: it is refused rather than made a file."""

    name = "form"

    def __init__(self, forms: Sequence[str]) -> None:
        self.forms = forms

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.forms)}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        path = PurePath(value)
        if value not in self.forms and not path.suffix and len(path.parts) == 1:
            allowed = ", ".join(self.forms)
            self.fail(f'is "{value}"; allowed are {allowed}; --output-file writes to a file', param, ctx)
        return value


def run_output(*forms: str, about: str) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """The command gets `output`, one of the forms (the first, if none is given), and `output_file`."""

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        @click.option("-o", "--output", "outputs", type=_FormOrFile(forms), multiple=True, help=about)
        @click.option("--output-file", metavar="PATH", help="Write there instead of to standard output.")
        @functools.wraps(function)
        def run(*, outputs: tuple[str, ...], output_file: str | None, **given: Any) -> R:
            chosen = [one for one in outputs if one in forms]
            files = [one for one in outputs if one not in forms]
            return function(
                **given,
                output=chosen[-1] if chosen else forms[0],
                output_file=output_file or (files[-1] if files else None),
            )

        return run

    return decorate
