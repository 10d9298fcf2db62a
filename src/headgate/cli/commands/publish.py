import click

from headgate.cli import completions, concerns, options, output, pairs
from headgate.cli.client import ApiClient, path


@click.command("publish")
@click.argument("deployment", shell_complete=completions.names("deployments"))
@click.argument("tag")
@click.option("--target-selector", metavar="CEL", help="Only for the targets that it matches.")
@click.option(
    "--config", multiple=True, metavar="KEY=VALUE", help="The version's own settings; values may be JSON."
)
@click.option(
    "--job-agent-config",
    multiple=True,
    metavar="KEY=VALUE",
    help="Handed to the agent over the deployment's.",
)
@click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="For selectors.")
@click.option(
    "--status",
    type=click.Choice(["ready", "building", "paused"]),
    default="ready",
    show_default=True,
    help="Rollouts begin when it is ready.",
)
@click.option("--message", metavar="TEXT", help="Shown beside the status.")
@concerns.FORCE
@options.REASON
@options.output()
@options.with_server
def command(
    client: ApiClient,
    deployment: str,
    tag: str,
    target_selector: str | None,
    config: tuple[str, ...],
    job_agent_config: tuple[str, ...],
    metadata: tuple[str, ...],
    status: str,
    message: str | None,
    force: bool,
    reason: str | None,
    form: str,
) -> None:
    """Publishes version TAG of DEPLOYMENT; policies decide when each target gets it.

    Exit codes: 0 published; 1 refused, for example because the tag is there already; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    body: dict[str, object] = {"tag": tag, "status": status}
    optional: dict[str, object] = {
        "config": pairs.values("--config", config),
        "jobAgentConfig": pairs.values("--job-agent-config", job_agent_config),
        "metadata": pairs.split("--metadata", metadata),
        "targetSelector": target_selector,
        "message": message,
    }
    body.update({key: value for key, value in optional.items() if value})
    query = options.reason_query(reason, {"force": "true"} if force else None)
    version = client.send("POST", path("deployments", deployment, "versions"), body, query=query)
    _say(version, form, deployment, tag, target_selector)


def _say(version: dict[str, object], form: str, deployment: str, tag: str, selector: str | None) -> None:
    scope = f" for targets where {selector}" if selector else ""
    status = version.get("status", "ready")
    sentence = f"published {deployment} {tag}{scope}"
    if status != "ready":
        sentence = f"created {deployment} {tag}{scope}, {status}: it rolls out when it is ready"
    output.result(version, form, concerns.message_of(sentence, version), f"{deployment}/{tag}")
