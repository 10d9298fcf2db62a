import click

from headgate.cli import output


@click.group("operator")
def command() -> None:
    """Graphs and workloads on a cluster."""


@command.command("manifests")
@click.option(
    "--namespace", metavar="NAMESPACE", default="headgate", show_default=True, help="Where the operator runs."
)
@click.option("--image", metavar="IMAGE", help="Its image; headgate with the tag of this version if absent.")
@click.option(
    "--replicas",
    metavar="N",
    type=click.IntRange(1, 99),
    default=2,
    show_default=True,
    help="How many of it; one leads, all answer webhooks.",
)
def manifests(namespace: str, image: str | None, replicas: int) -> None:
    """Prints all that the operator needs on a cluster, for `kubectl apply -f -`.

    Exit codes: 0 printed; 2 called wrongly.
    """
    import importlib.metadata

    from headgate.operator import manifests as installation
    from headgate.operator.installation.settings import Settings

    given = Settings(image or f"headgate:{importlib.metadata.version('headgate')}", namespace, replicas)
    output.echo_yaml(installation.documents(given))
