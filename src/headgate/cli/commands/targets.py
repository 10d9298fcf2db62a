"""What an operator orders for release targets: one by its name, or many of a deployment in an environment."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any

import click
import msgspec

from headgate.cli import asking, completions, failures, options, output
from headgate.cli.client import ApiClient, path
from headgate.cli.offered_commands import offered
from headgate.screens import tables

MOST_SHOWN = 20
_ONE_OR_MANY = click.argument("target", metavar="TARGET", shell_complete=completions.names("release-targets"))


def _ordering(function: Callable[..., None]) -> Callable[..., None]:
    """The command gets an order to give as its first argument; what it is for is said once, for all of them."""

    @click.option(
        "-e",
        "--environment",
        metavar="NAME",
        help="All targets of DEPLOYMENT there.",
        shell_complete=completions.names("environments"),
    )
    @click.option("--selector", metavar="CEL", help="With -e, only the targets that it matches.")
    @options.REASON
    @asking.YES
    @click.option("--dry-run", is_flag=True, help="Only say what it concerns; with -e.")
    @options.output()
    @options.with_server
    @functools.wraps(function)
    def run(
        client: ApiClient,
        *,
        environment: str | None,
        selector: str | None,
        reason: str | None,
        yes: bool,
        dry_run: bool,
        form: str,
        **given: Any,
    ) -> None:
        function(TargetsOrderGiven(client, environment, selector, reason, yes, dry_run, form), **given)

    return run


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
@_ordering
def retry(order: TargetsOrderGiven, target: str | None, group: str | None, to: str | None) -> None:
    """Tries the failed TARGET again, which is named deployment/environment/resource, or a failed group; with -e whatever
    failed of DEPLOYMENT there.

    Exit codes: 0 ordered; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    if bool(target) == bool(group):
        raise failures.misused("give TARGET, or --group ID")
    if group:
        answer = order.client.send("POST", path("groups", group, "retry"), options.with_reason(order.reason))
        output.result(answer, order.form, f"group {group} is tried again", group)
        return
    order.give("retry", str(target), {"to": to}, "is tried again")


@click.command("rollback")
@_ONE_OR_MANY
@click.option("--to", metavar="TAG", help="A version that ran there; else the one before.")
@_ordering
def rollback(order: TargetsOrderGiven, target: str, to: str | None) -> None:
    """Takes TARGET, which is named deployment/environment/resource, back to the version that ran before, or that is
    given; with -e the targets of DEPLOYMENT there. After a failed job that is what ran before it.

    Exit codes: 0 ordered; 1 refused, for example because there is no version before; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    what = f"goes back to {to}" if to else "goes back to its version before"
    order.give("rollback", target, {"to": to}, what)


@click.command("redeploy")
@_ONE_OR_MANY
@click.option("--to", metavar="TAG", help="Another version that ran there.")
@_ordering
def redeploy(order: TargetsOrderGiven, target: str, to: str | None) -> None:
    """Runs the version that TARGET has, which is named deployment/environment/resource, once more; with -e on the targets
    of DEPLOYMENT there.

    Exit codes: 0 ordered; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    what = f"runs {to} once more" if to else "runs its version once more"
    order.give("redeploy", target, {"to": to}, what)


@click.command("adopt")
@_ONE_OR_MANY
@click.argument("tag")
@_ordering
def adopt(order: TargetsOrderGiven, target: str, tag: str) -> None:
    """Records that version TAG runs on TARGET already, which is named deployment/environment/resource, without a job; with
    -e on the targets of DEPLOYMENT there.

    Exit codes: 0 recorded; 1 refused, for example because a job runs there; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    order.give("adopt", target, {"version": tag}, f"runs {tag}, as it did before")


class TargetsOrderGiven(msgspec.Struct, frozen=True):
    """For one target, or with an environment for many of a deployment there."""

    client: ApiClient
    environment: str | None
    selector: str | None
    reason: str | None
    yes: bool
    dry_run: bool
    form: str

    def give(self, action: str, target: str, body: dict[str, str | None], what: str) -> None:
        given = {key: value for key, value in body.items() if value is not None}
        given |= options.with_reason(self.reason) or {}
        if self.environment is not None:
            self._give_to_many(action, target, {**given, "environment": self.environment})
            return
        if self.selector is not None or self.dry_run:
            raise failures.misused(
                "--selector and --dry-run are for many targets: give DEPLOYMENT and -e ENVIRONMENT"
            )
        check_name(target)
        if not _may_be_one(target):
            raise failures.misused(
                f'TARGET: is "{target}"; name one as deployment/environment/resource, or give -e ENVIRONMENT for those of '
                "a deployment there"
            )
        answer = self.client.send("POST", path("release-targets", target, action), given or None)
        output.result(answer, self.form, f"{target} {what}; see `{offered('explain', target)}`", target)

    def _give_to_many(self, action: str, deployment: str, body: dict[str, Any]) -> None:
        if "/" in deployment:
            raise failures.misused(f'DEPLOYMENT: is "{deployment}"; with -e, name the deployment alone')
        place = path("deployments", deployment, action)
        if self.selector is not None:
            body["selector"] = self.selector
        if self.dry_run or not self.yes:
            preview = self.client.send("POST", place, {**body, "dryRun": True})
            if self.dry_run:
                self._say(preview)
                return
            if preview["count"]:
                for line in _lines(preview):
                    click.echo(line, err=True)
                asking.be_sure(f"{_headline(preview)}?", yes=self.yes)
        self._say(self.client.send("POST", place, body))

    def _say(self, answer: Any) -> None:
        name = f"{answer['deployment']}/{answer['environment']}"
        note = " (dry run, nothing ordered)" if answer["dryRun"] else ""
        output.result(
            answer, self.form, lambda: "\n".join([*_lines(answer), f"{_headline(answer)}{note}"]), name
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
