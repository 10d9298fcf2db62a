from typing import Any

import click

from headgate.cli import (
    completions,
    concerns,
    exit_codes,
    failures,
    manifest_files,
    options,
    output,
    pairs,
    refusals,
)
from headgate.cli.client import ApiClient, path
from headgate.cli.progress import ProgressNote

CHANGES = 2
TIMEOUT_SECONDS = 600.0


class PlanCommand(click.Command):
    """2 means changes here, so that what ends other commands with 2 has to end this one with 1."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        try:
            return super().parse_args(context, arguments)
        except click.UsageError as error:
            error.show()
            raise SystemExit(exit_codes.FAILED) from None

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except failures.CommandFailure as failure:
            code = exit_codes.FAILED if failure.code == exit_codes.UNREADABLE else failure.code
            raise failures.CommandFailure(failure.sentences, code) from None


@click.command("plan", cls=PlanCommand)
@click.argument("deployment", required=False, shell_complete=completions.names("deployments"))
@click.argument("tag", required=False)
@options.files(required=False)
@click.option("--target-selector", metavar="CEL", help="The version is only for the targets that it matches.")
@click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="The version's, for selectors.")
@concerns.FORCE
@options.of_a_set
@options.deletions
@click.option(
    "--assume",
    type=click.Choice(["approvals"]),
    multiple=True,
    help="Play the future as if everybody who is asked had approved.",
)
@click.option("--until", metavar="DURATION", help="Look no further ahead, such as 72h; 90 days if absent.")
@options.output()
@options.with_server
def command(
    client: ApiClient,
    deployment: str | None,
    tag: str | None,
    paths: tuple[str, ...],
    target_selector: str | None,
    metadata: tuple[str, ...],
    force: bool,
    set_name: str | None,
    prune: bool,
    deleted: tuple[str, ...],
    assume: tuple[str, ...],
    until: str | None,
    form: str,
) -> None:
    """Shows what applying manifests, or publishing version TAG of DEPLOYMENT, would change, and how the rollout would go.

    Nothing is stored. The server plays the future from what is there now, with jobs that take as long as they usually
    do and succeed.

    Exit codes: 0 nothing to do; 2 changes; 1 refused, or an input cannot be read; 4 the server cannot be reached;
    5 not allowed.
    """
    _check(deployment, tag, (*paths, *deleted))
    body: dict[str, Any] = options.wish(set_name, prune)
    if deleted:
        body["deletions"] = options.deletion_inputs(deleted)
    if force:
        body["force"] = True
    if assume:
        body["assume"] = list(assume)
    if deployment:
        body["version"] = _version(deployment, tag, target_selector, metadata)
    if until:
        pairs.duration("--until", until)
        body["until"] = until
    answer = _ask(client, paths, body)
    _print(answer, form)
    if answer["rejected"]:
        raise SystemExit(exit_codes.FAILED)
    if any(one["action"] not in ("unchanged", "kept") for one in answer["differences"]):
        raise SystemExit(CHANGES)


def _check(deployment: str | None, tag: str | None, paths: tuple[str, ...]) -> None:
    if deployment and not tag:
        raise failures.misused(f"TAG: is missing; which version of {deployment} would be published?")
    if not deployment and not paths:
        raise failures.misused("give -f PATH, DEPLOYMENT and TAG, or --delete KIND/NAME")


def _version(
    deployment: str, tag: str | None, target_selector: str | None, metadata: tuple[str, ...]
) -> dict[str, Any]:
    given = {
        "deployment": deployment,
        "tag": tag,
        "targetSelector": target_selector,
        "metadata": pairs.split("--metadata", metadata),
    }
    return {key: value for key, value in given.items() if value}


def _ask(client: ApiClient, paths: tuple[str, ...], body: dict[str, Any]) -> Any:
    documents = manifest_files.read(paths) if paths else []
    body["manifests"] = [document.value for document in documents]
    try:
        with ProgressNote("playing the rollout ahead"):
            return client.send("POST", path("plan"), body, timeout_seconds=TIMEOUT_SECONDS)
    except refusals.RefusedRequest as refused:
        raise manifest_files.at_their_lines(refused, documents) from None


def _print(answer: Any, form: str) -> None:
    if form == "json":
        output.echo_json(answer)
    elif form == "yaml":
        output.echo_yaml([answer])
    elif form == "name":
        changed = (one for one in answer["differences"] if one["action"] not in ("unchanged", "kept"))
        output.echo_lines(f"{one['kind']}/{one['name']}" for one in changed)
    else:
        from headgate.screens import plan_text

        output.echo_lines(plan_text.render(answer).splitlines())
