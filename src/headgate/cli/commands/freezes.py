from typing import Any

import click

from headgate.cli import completions, concerns, options, output, pairs
from headgate.cli.client import ApiClient, path
from headgate.cli.offered_commands import offered
from headgate.kernel import instants


@click.command("freeze")
@click.argument("name", required=False)
@click.option("--reason", required=True, metavar="TEXT", help="Shown to everyone who waits.")
@click.option("--selector", metavar="CEL", help="Only the targets that it matches; everything if absent.")
@click.option("--for", "length", metavar="DURATION", help="It is over after so long, such as 2h.")
@click.option("--until", metavar="TIME", help="It is over then, such as 2026-03-01T09:00:00Z.")
@concerns.FORCE
@options.output()
@options.with_server
def freeze(
    client: ApiClient,
    name: str | None,
    reason: str,
    selector: str | None,
    length: str | None,
    until: str | None,
    force: bool,
    form: str,
) -> None:
    """Stops the line: no new job starts, what runs goes on. Without NAME the time names it.

    Exit codes: 0 frozen; 1 refused; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    body: dict[str, object] = {"name": name or _made_name(), "reason": reason}
    ends = pairs.expiry(length, until)
    if selector:
        body["selector"] = selector
    if ends:
        body["expiresAt"] = ends
    forced = {"force": "true"} if force else None
    _say(client.send("POST", path("freezes"), body, query=forced), form)


def _made_name() -> str:
    return instants.to_datetime(pairs.now()).strftime("freeze-%Y%m%d-%H%M%S")


def _say(freeze: dict[str, Any], form: str) -> None:
    what = f"targets where {freeze['selector']} are" if freeze.get("selector") else "everything is"
    ends = f" until {freeze['expiresAt']}" if freeze.get("expiresAt") else ""
    name = freeze["name"]
    sentence = f"{what} frozen{ends}; end it with `{offered('unfreeze', name)}`"
    output.result(freeze, form, concerns.message_of(sentence, freeze), name)


@click.command("unfreeze")
@click.argument("name", shell_complete=completions.names("freezes"))
@options.REASON
@options.output()
@options.with_server
def unfreeze(client: ApiClient, name: str, reason: str | None, form: str) -> None:
    """Ends the freeze NAME.

    Exit codes: 0 ended; 1 there is none of that name; 2 called wrongly; 4 the server cannot be reached; 5 not allowed.
    """
    answer = client.send("DELETE", path("freezes", name), query=options.reason_query(reason)) or {}
    document = {"kind": "freeze", "name": name, "action": "deleted", "concerns": answer.get("concerns")}
    output.result(document, form, concerns.message_of(f"freeze {name} is over", document), name)
