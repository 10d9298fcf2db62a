import click

from headgate.cli import options, output
from headgate.cli.client import ApiClient


@click.group("discover")
def command() -> None:
    """Hands in what a cluster has as resources."""


@command.command("kubernetes")
@click.option(
    "--kube-context", metavar="NAME", help="A context of the kubeconfig; the current one if absent."
)
@click.option("--kubeconfig", metavar="FILE", help="If absent, KUBECONFIG, ~/.kube/config, or the pod's own.")
@click.option("--nodes", is_flag=True, help="Its nodes; so it is if nothing is said.")
@click.option("--clusters", is_flag=True, help="The cluster itself.")
@click.option("--selector", default="", metavar="LABELS", help="Only nodes that have these labels.")
@click.option("--cluster", metavar="NAME", help="What the cluster is called; as its context if absent.")
@click.option("--prefix", default="", metavar="TEXT", help="Begins the names of its resources.")
@click.option("--provider", metavar="NAME", help="Whose set it is; kubernetes-CLUSTER if absent.")
@click.option("--watch", is_flag=True, help="Goes on, and hands in every change.")
@click.option("--allow-empty", is_flag=True, help="Hands in that there are no nodes at all, if it is so.")
@options.output()
@options.with_server
def kubernetes(
    client: ApiClient,
    kube_context: str | None,
    kubeconfig: str | None,
    nodes: bool,
    clusters: bool,
    selector: str,
    cluster: str | None,
    prefix: str,
    provider: str | None,
    watch: bool,
    allow_empty: bool,
    form: str,
) -> None:
    """Hands in the nodes of a Kubernetes cluster as resources, with their labels as metadata.

    It is the whole set of a provider: a node that is gone is gone from the fleet, and leaves its rollouts. With --watch it
    runs until Ctrl-C or a TERM signal.

    Exit codes: 0 handed in; 1 refused, by the server or the cluster; 2 called wrongly; 4 the server or the cluster cannot be
    reached; 5 not allowed.
    """
    from headgate.cli import discovering

    discovering.run(
        discovering.Wish(
            context=kube_context,
            kubeconfig=kubeconfig,
            has_nodes=nodes or not clusters,
            has_cluster=clusters,
            labels=selector,
            cluster=cluster,
            prefix=prefix,
            provider=provider,
            is_empty_allowed=allow_empty,
        ),
        client,
        lambda result: output.result(result, form, discovering.sentence(result), str(result["provider"])),
        watch=watch,
    )
