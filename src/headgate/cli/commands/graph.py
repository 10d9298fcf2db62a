"""Resource graphs of a cluster, as whoever looks after them sees them and orders about them."""

from __future__ import annotations

import functools
from collections.abc import Callable

import click
import msgspec

from headgate.cli import cluster_trees, cluster_watching, clusters, failures, options, pairs
from headgate.cli.clusters import AskedCluster, ClusterLocation
from headgate.graph.reconcile import accepted_graphs, operate
from headgate.kernel.explanations import ExplanationTree, PartState
from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import ApiResource
from headgate.operator.crds import graphs as kinds
from headgate.operator.observation import graphs, listing, news, orders
from headgate.operator.observation.news import HeardOf


def _checked(context: click.Context, parameter: click.Parameter, target: str | None) -> str | None:
    kind, slash, name = (target or "").partition("/")
    if slash and (not kind or name in ("", ".", "..") or "/" in name):
        raise failures.misused(f'TARGET: is "{target}"; allowed is a definition, or an instance as KIND/NAME')
    return target


_TARGET = click.argument("target", callback=_checked)


@click.group("graph")
def command() -> None:
    """Shows resource graphs of a cluster, says why they wait, and pauses, resumes or aborts their propagation.

    A TARGET is the name of a ResourceGraphDefinition, or an instance as KIND/NAME.
    """


@command.command("status")
@click.argument("target", required=False, callback=_checked)
@options.output()
@clusters.with_place
def status(place: ClusterLocation, target: str | None, form: str) -> None:
    """Shows TARGET, a definition or an instance as KIND/NAME, down to its objects, or a line for each definition.

    Exit codes: 0 shown; 1 there is no such definition or instance, or the cluster refuses; 2 called wrongly; 4 the
    cluster cannot be reached; 5 not allowed.
    """
    if target is not None:
        cluster_trees.status(target, place.ask(lambda cluster: _explained(cluster, target))[1], form)
        return

    async def all_of(cluster: AskedCluster) -> list[tuple[str, ExplanationTree]]:
        known = await graphs.definitions(cluster.client, cluster.discovery)
        seen = await graphs.observe(cluster.client, cluster.discovery, known)
        trees = ((item.name, seen.explain(item.key, pairs.now())) for item in known)
        return [(name, tree) for name, tree in trees if tree is not None]

    cluster_trees.rows(place.ask(all_of), form, "no ResourceGraphDefinitions")


@command.command("explain")
@_TARGET
@options.output()
@clusters.with_place
def explain(place: ClusterLocation, target: str, form: str) -> None:
    """Says why TARGET, a definition or an instance as KIND/NAME, is where it is, and which of its parts are waited for.

    Exit codes: 0 said; 1 there is no such definition or instance, or the cluster refuses; 2 called wrongly; 4 the
    cluster cannot be reached; 5 not allowed.
    """
    _, tree = place.ask(lambda cluster: _explained(cluster, target))
    cluster_trees.explanation(target, tree, form)


@command.command("watch")
@_TARGET
@cluster_watching.options
@options.output()
@clusters.with_place
def watch(place: ClusterLocation, target: str, until: str | None, timeout: str | None, form: str) -> None:
    """Follows TARGET, a definition or an instance as KIND/NAME, as it changes: a tree on a terminal, in a pipe a line for
    each part that changed.

    Exit codes: 0 with --until it is propagated, or the time is over without --until; 1 there is no such definition or
    instance, the cluster refuses, or with --until it is not propagated; 2 called wrongly; 4 the cluster cannot be reached; 5
    not allowed; 130 ended with Ctrl-C.
    """

    async def look(cluster: AskedCluster) -> ExplanationTree:
        return (await _explained(cluster, target))[1]

    async def hear(cluster: AskedCluster) -> list[HeardOf]:
        return await news.of_graph(cluster.discovery, (await _find(cluster, target)).definition)

    cluster_watching.run(place, look, hear, cluster_watching.ending(until, timeout), form)


@command.command("pause")
@_TARGET
@options.output()
@clusters.with_place
def pause(place: ClusterLocation, target: str, form: str) -> None:
    """Propagates nothing more in TARGET: an instance as KIND/NAME, or a definition with all of its instances.

    Exit codes: 0 paused; 1 there is no such definition or instance, or it is refused; 2 called wrongly; 4 the cluster
    cannot be reached; 5 not allowed.
    """
    _order(
        place, target, form, operate.pause, "is paused: what is not yet propagated waits until it is resumed"
    )


@command.command("resume")
@_TARGET
@options.output()
@clusters.with_place
def resume(place: ClusterLocation, target: str, form: str) -> None:
    """Goes on with TARGET, a definition or an instance as KIND/NAME, after a pause, or though it was aborted.

    Exit codes: 0 resumed; 1 there is no such definition or instance, or it is refused; 2 called wrongly; 4 the cluster
    cannot be reached; 5 not allowed.
    """
    _order(place, target, form, operate.resume, "is neither paused nor aborted any more")


@command.command("abort")
@_TARGET
@options.output()
@clusters.with_place
def abort(place: ClusterLocation, target: str, form: str) -> None:
    """Gives up the propagation in TARGET: what is not yet moved keeps its revision until the spec is edited.

    In an instance, as KIND/NAME, these are its objects; in a definition, its instances. Nothing goes back by itself: the
    spec as it was before, applied again, propagates back.

    Exit codes: 0 aborted; 1 there is no such definition or instance, no propagation is under way, or it is refused; 2 called
    wrongly; 4 the cluster cannot be reached; 5 not allowed.
    """

    async def ordered(cluster: AskedCluster) -> tuple[ExplanationTree, bool]:
        asked, tree = await _explained(cluster, target)
        number = tree.part.revision if tree.part is not None else None
        if number is None or tree.state is PartState.PROPAGATED:
            raise failures.CommandFailure(f"{tree.subject} is {tree.state}: there is no propagation to abort")
        edit = functools.partial(operate.abort, number=number)
        return tree, await orders.order(cluster.client, asked.resource, asked.item, edit)

    tree, is_changed = place.ask(ordered)
    outcome = "is aborted: what is not yet moved keeps its revision until the spec is edited"
    cluster_trees.ordered(target, tree, outcome, form, is_changed=is_changed)


class _Found(msgspec.Struct, frozen=True):
    """What was asked about, and the definition that it belongs to or is."""

    resource: ApiResource
    item: Object
    definition: Object


def _order(
    place: ClusterLocation, target: str, form: str, edit: Callable[[Object], Object], outcome: str
) -> None:
    async def ordered(cluster: AskedCluster) -> tuple[ExplanationTree, bool]:
        asked, tree = await _explained(cluster, target)
        return tree, await orders.order(cluster.client, asked.resource, asked.item, edit)

    tree, is_changed = place.ask(ordered)
    cluster_trees.ordered(target, tree, outcome, form, is_changed=is_changed)


async def _explained(cluster: AskedCluster, target: str) -> tuple[_Found, ExplanationTree]:
    asked = await _find(cluster, target)
    seen = await graphs.observe(cluster.client, cluster.discovery, [asked.definition])
    tree = seen.explain(asked.item.key, pairs.now())
    if tree is None:
        raise failures.CommandFailure(f"{asked.item.kind} {asked.item.name} is on its way out")
    return asked, tree


async def _find(cluster: AskedCluster, target: str) -> _Found:
    known = await graphs.definitions(cluster.client, cluster.discovery)
    kind, slash, name = target.partition("/")
    if slash:
        return await _instance(cluster, kind, name, known)
    resource = await listing.own_kind(cluster.discovery, kinds.DEFINITION.api_version, kinds.DEFINITION.kind)
    for item in known:
        if item.key == accepted_graphs.request_for(target):
            return _Found(resource, item, item)
    there_are = ", ".join(item.name for item in known) or "none"
    raise failures.CommandFailure(f'TARGET: is "{target}"; ResourceGraphDefinitions: {there_are}')


async def _instance(cluster: AskedCluster, kind: str, name: str, known: list[Object]) -> _Found:
    resource = await cluster.discovery.named(kind)
    definition = graphs.definition_of(resource.group, resource.kind, known)
    if definition is None:
        raise failures.CommandFailure(f"TARGET: {resource.kind} is no kind of a ResourceGraphDefinition")
    namespace = cluster.namespace if resource.is_namespaced else ""
    try:
        document = await cluster.client.get(resource, name, namespace)
    except NotFoundError:
        where = f" in the namespace {namespace}" if namespace else ""
        raise failures.CommandFailure(f"TARGET: there is no {resource.kind} {name}{where}") from None
    return _Found(resource, objects.read(document, resource), definition)
