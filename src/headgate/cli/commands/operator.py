import click

from headgate.cli import output


@click.group("operator")
def command() -> None:
    """Graphs and workloads on a cluster."""


@command.command("run")
@click.option("--kubeconfig", metavar="FILE", help="A kubeconfig; as kubectl finds it if absent.")
@click.option("--context", metavar="NAME", help="Of the kubeconfig; its current one if absent.")
@click.option("--namespace", "-n", metavar="NAMESPACE", default="", help="Looks after this namespace alone.")
@click.option(
    "--lease-namespace",
    metavar="NAMESPACE",
    envvar="POD_NAMESPACE",
    help="Where the lease is that one of several processes leads by; the context's if absent.",
)
@click.option(
    "--lease-seconds",
    metavar="SECONDS",
    type=click.IntRange(3, 3600),
    default=15,
    show_default=True,
    help="After how long of silence another process leads.",
)
@click.option(
    "--health-port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    default=8081,
    show_default=True,
    help="Answers /healthz, /readyz and /metrics; 0 takes a free one.",
)
@click.option(
    "--webhook-port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Serves the admission webhooks there; 0 takes a free one. They are not served if absent.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="How much it says.",
)
def run(
    kubeconfig: str | None,
    context: str | None,
    namespace: str,
    lease_namespace: str | None,
    lease_seconds: int,
    health_port: int,
    webhook_port: int | None,
    log_level: str,
) -> None:
    """Runs the controllers of graphs and workloads on a cluster, until it is ended with Ctrl-C or a TERM signal.

    Of several processes one leads and the others wait for their turn. One that is ended gives its lease back.

    Exit codes: 0 ended; 2 called wrongly, or with a kubeconfig that cannot be read.
    """
    from headgate.cli import operator_process

    operator_process.run(
        kubeconfig=kubeconfig,
        context=context,
        namespace=namespace,
        lease_namespace=lease_namespace,
        lease_seconds=lease_seconds,
        health_port=health_port,
        webhook_port=webhook_port,
        log_level=log_level,
    )


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
