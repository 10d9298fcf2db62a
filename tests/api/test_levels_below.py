"""What is said of a job's object when its cluster is asked: one line where it does not answer, and nothing of others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from agents.support import play, serving
from headgate.agents.cluster_rollouts import SeenRollout
from headgate.agents.clusters import Clusters, ReachedCluster
from headgate.api.levels_below import BegunObject, ClusterLevels
from headgate.kernel.explanations import ExplanationTree, PartState
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.identities import ApiIdentity, FixedIdentity
from headgate.kubernetes.resources import ApiResource, Document

BEGUN = BegunObject(
    "workload", None, "grove.io/v1alpha1", "PodCliqueSet", "shop/web", "home", "api/prod/east"
)
KINDS = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": "grove.io"},
            "versions": [
                {
                    "version": "v1alpha1",
                    "resources": [
                        {
                            "resource": "podcliquesets",
                            "responseKind": {"kind": "PodCliqueSet"},
                            "scope": "Namespaced",
                        }
                    ],
                }
            ],
        }
    ],
}
TREE = ExplanationTree("PodCliqueSet web", "workload", PartState.UPDATING)


async def explained(cluster: ReachedCluster, resource: ApiResource, found: Document) -> SeenRollout | None:
    return SeenRollout(TREE)


def answering(
    status: int, document: object, asked: Callable[[], Awaitable[None]] | None = None
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """The kinds, and one answer about the object."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path in ("/api", "/apis"):
            return web.json_response(
                KINDS if request.path == "/apis" else {"kind": KINDS["kind"], "items": []}
            )
        if asked is not None:
            await asked()
        return web.json_response(document, status=status)

    return handle


def marked(workspace: str, target: str) -> Document:
    marks = {"headgate.dev/workspace": workspace, "headgate.dev/target": target}
    return {"metadata": {"name": "web", "annotations": marks}}


@pytest.mark.parametrize(
    ("status", "document", "said"),
    [
        (200, marked("home", "api/prod/east"), None),
        (200, marked("home", "api/prod/west"), "it is not in the cluster any more"),
        (200, marked("other", "api/prod/east"), "it is not in the cluster any more"),
        (200, {"metadata": {"name": "web"}}, "it is not in the cluster any more"),
        (404, {}, "it is not in the cluster any more"),
        (
            403,
            {"message": "secret things"},
            "the cluster does not let the job's agent look at all of it",
        ),
        (418, {"message": "secret things"}, "the cluster cannot be asked now"),
    ],
)
def test_only_what_carries_the_targets_mark_is_shown(
    status: int, document: Document, said: str | None
) -> None:
    async def story() -> None:
        async with serving(answering(status, document)) as url:
            access = ClusterAccess(url, FixedIdentity(ApiIdentity("token")))
            levels = ClusterLevels(Clusters(None, lambda context: access), explained)
            found = await levels.explain(BEGUN)
            await levels.close()
        assert found == (TREE if said is None else BEGUN.silent(said))

    play(story())


def test_a_cluster_that_hangs_is_waited_for_a_few_seconds_only() -> None:
    async def story() -> None:
        release = asyncio.Event()

        async def wait() -> None:
            await release.wait()

        async with serving(answering(200, {}, wait)) as url:
            access = ClusterAccess(url, FixedIdentity(ApiIdentity("token")))
            levels = ClusterLevels(Clusters(None, lambda context: access), explained, 0.2)
            found = await levels.explain(BEGUN)
            release.set()
            await levels.close()
        assert found == BEGUN.silent("the cluster does not answer within 0.2 seconds")

    play(story())


def test_a_cluster_that_the_server_may_not_use_is_not_asked() -> None:
    async def story() -> None:
        found = await ClusterLevels(Clusters(()), explained).explain(BEGUN)
        assert found.state == "unknown"
        assert "may not ask the cluster" in found.message

    play(story())
