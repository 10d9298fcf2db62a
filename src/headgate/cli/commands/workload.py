"""PodCliqueSets of a cluster, as whoever looks after it sees them and orders about them."""

from __future__ import annotations

import click

from headgate.cli import cluster_trees, cluster_watching, clusters, failures, options, pairs
from headgate.cli.clusters import AskedCluster, ClusterLocation
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import ApiResource
from headgate.operator.crds import workloads as kinds
from headgate.operator.observation import listing, news, orders, sets
from headgate.operator.observation.news import HeardOf
from headgate.workload.plan import operate
from headgate.workload.plan.operate import SetOrder

_NAME = click.argument("name")


@click.group("workload")
def command() -> None:
    """Shows PodCliqueSets of a cluster, says why they wait, and pauses, resumes or aborts their updates."""


@command.command("status")
@click.argument("name", required=False)
@options.output()
@clusters.with_place
def status(place: ClusterLocation, name: str | None, form: str) -> None:
    """Shows the PodCliqueSet NAME down to its pods, or without NAME a line for each set of the namespace.

    Exit codes: 0 shown; 1 there is no such set, or the cluster refuses; 2 called wrongly; 4 the cluster cannot be
    reached; 5 not allowed.
    """
    if name is not None:
        cluster_trees.status(name, place.ask(lambda cluster: _seen(cluster, name))[1], form)
        return

    async def all_of(cluster: AskedCluster) -> list[tuple[str, ExplanationTree]]:
        seen = await sets.observe(cluster.client, cluster.discovery, cluster.namespace)
        return [(item.name, seen.explain(item, pairs.now())) for item in seen.all()]

    cluster_trees.rows(place.ask(all_of), form, "no PodCliqueSets in the namespace")


@command.command("explain")
@_NAME
@options.output()
@clusters.with_place
def explain(place: ClusterLocation, name: str, form: str) -> None:
    """Says why the PodCliqueSet NAME is where it is, and of its parts which ones are waited for.

    Exit codes: 0 said; 1 there is no such set, or the cluster refuses; 2 called wrongly; 4 the cluster cannot be
    reached; 5 not allowed.
    """
    _, tree = place.ask(lambda cluster: _seen(cluster, name))
    cluster_trees.explanation(name, tree, form)


@command.command("watch")
@_NAME
@cluster_watching.options
@options.output()
@clusters.with_place
def watch(place: ClusterLocation, name: str, until: str | None, timeout: str | None, form: str) -> None:
    """Follows the PodCliqueSet NAME as it changes: a tree on a terminal, in a pipe a line for each part that changed.

    Exit codes: 0 with --until it is done, or the time is over without --until; 1 there is no such set, the cluster refuses, or
    with --until it is not done; 2 called wrongly; 4 the cluster cannot be reached; 5 not allowed; 130 ended with Ctrl-C.
    """

    async def look(cluster: AskedCluster) -> ExplanationTree:
        return (await _seen(cluster, name))[1]

    async def hear(cluster: AskedCluster) -> list[HeardOf]:
        return await news.of_set(cluster.discovery, cluster.namespace, name)

    cluster_watching.run(place, look, hear, cluster_watching.ending(until, timeout), form)


@command.command("pause")
@_NAME
@options.output()
@clusters.with_place
def pause(place: ClusterLocation, name: str, form: str) -> None:
    """Takes nothing more down for the update of the PodCliqueSet NAME; what is down already is built up.

    Exit codes: 0 paused; 1 there is no such set, or it is refused; 2 called wrongly; 4 the cluster cannot be reached;
    5 not allowed.
    """
    _order(place, name, form, "pause", "is paused: nothing more is taken down until it is resumed")


@command.command("resume")
@_NAME
@options.output()
@clusters.with_place
def resume(place: ClusterLocation, name: str, form: str) -> None:
    """Goes on with the update of the PodCliqueSet NAME after a pause.

    Exit codes: 0 resumed; 1 there is no such set, or it is refused; 2 called wrongly; 4 the cluster cannot be reached;
    5 not allowed.
    """
    _order(place, name, form, "resume", "is not paused any more")


@command.command("abort")
@_NAME
@options.output()
@clusters.with_place
def abort(place: ClusterLocation, name: str, form: str) -> None:
    """Gives up the update of the PodCliqueSet NAME: what is not yet moved keeps its revision until the template changes.

    Exit codes: 0 aborted; 1 there is no such set, no update is under way, or it is refused; 2 called wrongly; 4 the
    cluster cannot be reached; 5 not allowed.
    """
    outcome = "is aborted: what is not yet moved keeps its revision until the template changes"
    _order(place, name, form, "abort", outcome)


def _order(place: ClusterLocation, name: str, form: str, order: SetOrder, outcome: str) -> None:
    """Says what it concerned: how far the set was when it was ordered."""

    async def ordered(cluster: AskedCluster) -> tuple[ExplanationTree, bool]:
        item, tree = await _seen(cluster, name)
        refusal = operate.refusal(order, tree.subject, tree.state)
        if refusal is not None:
            raise failures.CommandFailure(refusal)
        edit = operate.edit_for(order, tree.state)
        resource = await listing.own_kind(cluster.discovery, kinds.SET.api_version, kinds.SET.kind)
        return tree, await orders.order(cluster.client, resource, item, edit)

    tree, is_changed = place.ask(ordered)
    cluster_trees.ordered(name, tree, outcome, form, is_changed=is_changed)


async def _seen(cluster: AskedCluster, name: str) -> tuple[Object, ExplanationTree]:
    resource = await listing.own_kind(cluster.discovery, kinds.SET.api_version, kinds.SET.kind)
    try:
        item = objects.read(await cluster.client.get(resource, name, cluster.namespace), resource)
    except (NotFoundError, ValueError):
        raise await _missing(cluster, name, resource) from None
    seen = await sets.observe_one(cluster.client, cluster.discovery, item)
    return item, seen.explain(item, pairs.now())


async def _missing(cluster: AskedCluster, name: str, resource: ApiResource) -> failures.CommandFailure:
    known = await listing.all_of(cluster.client, resource, cluster.namespace)
    there_are = ", ".join(sorted(each.name for each in known)) or "none"
    return failures.CommandFailure(
        f'NAME: is "{name}"; PodCliqueSets of the namespace {cluster.namespace}: {there_are}'
    )
