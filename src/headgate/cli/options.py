"""Options that many commands share, so that they are spelled and explained once."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from headgate.cli import server_options

if TYPE_CHECKING:
    from headgate.cli.client import ApiClient

P = ParamSpec("P")
R = TypeVar("R")
FORMATS = ("table", "wide", "json", "yaml", "name")
LIST_FORMATS = (*FORMATS, "csv", "jsonpath=EXPRESSION", "custom-columns=TITLE:PATH,...")


def with_server(function: Callable[..., R]) -> Callable[..., R]:
    """The command gets an open client as its first argument."""

    @click.option("--server", metavar="URL", help="The server; else HEADGATE_URL, or the context's.")
    @click.option("--token", metavar="TOKEN", help="Who you are; else HEADGATE_TOKEN, or the context's.")
    @click.option("--workspace", metavar="NAME", help="Else HEADGATE_WORKSPACE, or the context's.")
    @click.option(
        "--context",
        metavar="NAME",
        help="A stored server; else HEADGATE_CONTEXT, or the one in use.",
        shell_complete=_context_names,
    )
    @functools.wraps(function)
    def run(**given: Any) -> R:
        own = {name: value for name, value in given.items() if name not in server_options.NAMES}
        with connect(**server_options.given(click.get_current_context())) as client:
            return function(client, **own)

    return run


def connect(server: str | None, token: str | None, workspace: str | None, context: str | None) -> "ApiClient":
    from headgate.cli import client, contexts

    return client.ApiClient(contexts.resolve(server, token, workspace, context))


def _context_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from headgate.cli import completions

    return completions.contexts(context, parameter, incomplete)


REASON = click.option("--reason", metavar="TEXT", help="Kept in the audit log, for those who ask later.")


def with_reason(reason: str | None, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The body of an order, if it has one."""
    return body if reason is None else {**(body or {}), "reason": reason}


def reason_query(reason: str | None, query: dict[str, str] | None = None) -> dict[str, str] | None:
    """For what has no body that could say it, beside what else is asked for."""
    return query if reason is None else {**(query or {}), "reason": reason}


def output(default: str = "table") -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(FORMATS),
        default=default,
        show_default=True,
        help="How it is printed.",
    )


class _ListForm(click.ParamType[str]):
    """One of the forms, or one with what it is to print behind an equals sign."""

    name = "form"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "[" + "|".join((*FORMATS, "csv", "jsonpath=...", "custom-columns=...")) + "]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from headgate.cli import chosen_fields

        name, _, text = value.partition("=")
        try:
            if name == "jsonpath":
                chosen_fields.template(text)
            elif name == "custom-columns":
                chosen_fields.columns(text)
            elif value not in (*FORMATS, "csv"):
                self.fail(f'is "{value}"; allowed are {", ".join(LIST_FORMATS)}', param, ctx)
        except ValueError as error:
            self.fail(f"{name}: {error}", param, ctx)
        return value


def list_output(function: Callable[P, R]) -> Callable[P, R]:
    """For lists of objects, where single fields can be asked for too."""
    form = click.option(
        "-o",
        "--output",
        "form",
        type=_ListForm(),
        default="table",
        show_default=True,
        help="How it is printed.",
    )
    bare = click.option("--no-headers", is_flag=True, help="Without the line of titles.")
    return form(bare(function))


def of_a_set(function: Callable[P, R]) -> Callable[P, R]:
    """Manifests that are applied together under a name."""
    prune = click.option(
        "--prune", is_flag=True, help="Delete what the set had and no longer has; needs --set."
    )
    name = click.option("--set", "set_name", metavar="NAME", help="The set that these manifests are.")
    return name(prune(function))


def wish(set_name: str | None, prune: bool) -> dict[str, object]:
    from headgate.cli import failures

    if prune and set_name is None:
        raise failures.misused("--prune: needs --set NAME, the set that these manifests are")
    return {**({"set": set_name} if set_name else {}), **({"prune": True} if prune else {})}


def deletions(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--delete",
        "deleted",
        multiple=True,
        metavar="KIND/NAME",
        help="Also with this deleted; may be given several times.",
    )(function)


def deletion_inputs(deleted: tuple[str, ...]) -> list[dict[str, str]]:
    from headgate.cli import failures, kinds

    inputs = []
    for reference in deleted:
        word, slash, name = reference.partition("/")
        kind = kinds.find(word) if slash and name else None
        if kind is None or kind.kind is None:
            raise failures.misused(
                f'--delete: is "{reference}"; allowed is KIND/NAME, such as environment/prod'
            )
        inputs.append({"kind": kind.kind.name, "name": name})
    return inputs


def files(*, required: bool) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        "-f",
        "--file",
        "paths",
        multiple=True,
        required=required,
        metavar="PATH",
        help="A file, a folder, or - for standard input; may be given several times.",
    )
