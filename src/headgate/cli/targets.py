"""What an operator orders for release targets: one by its name, or many of a deployment in an environment."""

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import click

from headgate.cli import asking, completions, failures, options, output, tables
from headgate.cli.client import Client, path

MOST_SHOWN = 20
_ONE_OR_MANY = click.argument("target", metavar="TARGET", shell_complete=completions.names("release-targets"))
Function = TypeVar("Function", bound=Callable[..., Any])


def _of_many(function: Function) -> Function:
    for option in (
        click.option("--dry-run", is_flag=True, help="Only say what it concerns; with -e."),
        asking.YES,
        click.option("--selector", metavar="CEL", help="With -e, only the targets that it matches."),
        click.option(
            "-e",
            "--environment",
            metavar="NAME",
            help="All targets of DEPLOYMENT there.",
            shell_complete=completions.names("environments"),
        ),
    ):
        function = option(function)
    return function


@click.command("retry")
@click.argument(
    "target",
    metavar="[TARGET]",
    required=False,
    shell_complete=completions.names("release-targets"),
)
@click.option(
    "--group", metavar="ID", help="A failed group instead.", shell_complete=completions.names("groups")
)
@click.option("--to", metavar="TAG", help="Only this version, of those that failed there.")
@_of_many
@options.output()
@options.with_server
def retry(
    client: Client,
    target: str | None,
    group: str | None,
    to: str | None,
    environment: str | None,
    selector: str | None,
    yes: bool,
    dry_run: bool,
    form: str,
) -> None:
    """Tries the failed TARGET again, which is named deployment/environment/resource, or a failed group; with -e whatever
    failed of DEPLOYMENT there.

    Exit codes: 0 ordered; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    if bool(target) == bool(group):
        raise failures.misused("give TARGET, or --group ID")
    if group:
        answer = client.send("POST", path("groups", group, "retry"))
        output.result(answer, form, f"group {group} is tried again", group)
        return
    order = Order(client, "retry", {"to": to}, form)
    order.give(str(target), environment, selector, "is tried again", yes=yes, dry_run=dry_run)


@click.command("rollback")
@_ONE_OR_MANY
@click.option("--to", metavar="TAG", help="A version that ran there; else the one before.")
@_of_many
@options.output()
@options.with_server
def rollback(
    client: Client,
    target: str,
    to: str | None,
    environment: str | None,
    selector: str | None,
    yes: bool,
    dry_run: bool,
    form: str,
) -> None:
    """Takes TARGET, which is named deployment/environment/resource, back to the version that ran before, or that is
    given; with -e the targets of DEPLOYMENT there. After a failed job that is what ran before it.

    Exit codes: 0 ordered; 1 refused, for example because there is no version before; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    what = f"goes back to {to}" if to else "goes back to its version before"
    order = Order(client, "rollback", {"to": to}, form)
    order.give(target, environment, selector, what, yes=yes, dry_run=dry_run)


@click.command("redeploy")
@_ONE_OR_MANY
@click.option("--to", metavar="TAG", help="Another version that ran there.")
@_of_many
@options.output()
@options.with_server
def redeploy(
    client: Client,
    target: str,
    to: str | None,
    environment: str | None,
    selector: str | None,
    yes: bool,
    dry_run: bool,
    form: str,
) -> None:
    """Runs the version that TARGET has, which is named deployment/environment/resource, once more; with -e on the targets
    of DEPLOYMENT there.

    Exit codes: 0 ordered; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    what = f"runs {to} once more" if to else "runs its version once more"
    order = Order(client, "redeploy", {"to": to}, form)
    order.give(target, environment, selector, what, yes=yes, dry_run=dry_run)


@click.command("adopt")
@_ONE_OR_MANY
@click.argument("tag")
@_of_many
@options.output()
@options.with_server
def adopt(
    client: Client,
    target: str,
    tag: str,
    environment: str | None,
    selector: str | None,
    yes: bool,
    dry_run: bool,
    form: str,
) -> None:
    """Records that version TAG runs on TARGET already, which is named deployment/environment/resource, without a job; with
    -e on the targets of DEPLOYMENT there.

    Exit codes: 0 recorded; 1 refused, for example because a job runs there; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    order = Order(client, "adopt", {"version": tag}, form)
    order.give(target, environment, selector, f"runs {tag}, as it did before", yes=yes, dry_run=dry_run)


class Order:
    def __init__(self, client: Client, action: str, body: dict[str, str | None], form: str) -> None:
        self._client = client
        self._action = action
        self._body = {key: value for key, value in body.items() if value is not None}
        self._form = form

    def give(
        self,
        target: str,
        environment: str | None,
        selector: str | None,
        what: str,
        *,
        yes: bool,
        dry_run: bool,
    ) -> None:
        if environment is not None:
            self._give_to_many(target, environment, selector, yes=yes, dry_run=dry_run)
            return
        if selector is not None or dry_run:
            raise failures.misused(
                "--selector and --dry-run are for many targets: give DEPLOYMENT and -e ENVIRONMENT"
            )
        check_name(target)
        if not _may_be_one(target):
            raise failures.misused(
                f'TARGET: is "{target}"; name one as deployment/environment/resource, or give -e ENVIRONMENT for those of '
                "a deployment there"
            )
        answer = self._client.send("POST", path("release-targets", target, self._action), self._body or None)
        output.result(answer, self._form, f"{target} {what}; see `headgate explain {target}`", target)

    def _give_to_many(
        self, deployment: str, environment: str, selector: str | None, *, yes: bool, dry_run: bool
    ) -> None:
        if "/" in deployment:
            raise failures.misused(f'DEPLOYMENT: is "{deployment}"; with -e, name the deployment alone')
        place = path("deployments", deployment, self._action)
        body: dict[str, Any] = {**self._body, "environment": environment}
        if selector is not None:
            body["selector"] = selector
        if dry_run or not yes:
            preview = self._client.send("POST", place, {**body, "dryRun": True})
            if dry_run:
                self._say(preview)
                return
            for line in _lines(preview):
                click.echo(line, err=True)
            asking.be_sure(f"{_headline(preview)}?", yes=yes)
        self._say(self._client.send("POST", place, body))

    def _say(self, answer: Any) -> None:
        name = f"{answer['deployment']}/{answer['environment']}"
        note = " (dry run, nothing ordered)" if answer["dryRun"] else ""
        output.result(
            answer, self._form, lambda: "\n".join([*_lines(answer), f"{_headline(answer)}{note}"]), name
        )


def _headline(answer: Any) -> str:
    count = answer["count"]
    targets = f"{count} target{'' if count == 1 else 's'}"
    where = f"of {answer['deployment']} in {answer['environment']}"
    cannot = f"; {answer['refusedCount']} cannot" if answer["refusedCount"] else ""
    return tables.printable(f"{answer['action']} {targets} {where}{cannot}")


def _lines(answer: Any) -> list[str]:
    """From where to where, and who cannot and why; of very many the first."""
    moved = [
        [one["name"], f"{one['from'] or 'nothing'} -> {one['to'] or 'its newest version'}"]
        for one in answer["targets"]
    ]
    unable = [[one["name"], f"cannot: {one['reason']}"] for one in answer["refused"]]
    lines = []
    for rows, count in ((moved, answer["count"]), (unable, answer["refusedCount"])):
        lines += tables.aligned([[tables.printable(cell) for cell in row] for row in rows[:MOST_SHOWN]])
        if count > MOST_SHOWN:
            lines.append(f"and {count - MOST_SHOWN} more")
    return lines


def _may_be_one(target: str) -> bool:
    if "/" in target:
        return True
    try:
        uuid.UUID(target)
    except ValueError:
        return False
    return True


def check_name(target: str) -> None:
    """An id has no slash; a name has two."""
    if target.count("/") not in (0, 2):
        raise failures.misused(
            f'TARGET: is "{target}"; allowed are deployment/environment/resource, or an id'
        )
