"""Sets and graphs of connected clusters: who sees which, what is answered when a cluster does not, and what is ordered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web

from agents.support import play, serving
from api.routes.server import Client, Server, segment
from headgate.agents.clusters import Clusters
from headgate.api.clusters.connected_clusters import ConnectedClusters
from headgate.api.http.app import create_app
from headgate.api.routes import ALL
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.identities import ApiIdentity, FixedIdentity

Document = dict[str, Any]
SET_TEMPLATE = {"metadata": {"name": "web"}, "spec": {"template": {"cliques": []}}}
SETS = "/apis/grove.io/v1alpha1"


def resource(kind: str, plural: str, scope: str = "Namespaced") -> Document:
    return {"resource": plural, "responseKind": {"kind": kind}, "scope": scope}


KINDS = {
    "/api": [],
    "/apis": [
        ("grove.io", [resource("PodCliqueSet", "podcliquesets")]),
        ("kro.run", [
            resource("ResourceGraphDefinition", "resourcegraphdefinitions", "Cluster"), resource("Shop", "shops"),
        ]),
    ],
}  # fmt: skip


def pod_set(name: str, workspace: str | None = "default", **spec: Any) -> Document:
    marks = {"headgate.dev/workspace": workspace, "headgate.dev/target": f"api/prod/{name}"}
    condition = {"type": "Progressing", "status": "True", "reason": "Updating", "message": "under way"}
    return {
        "metadata": {
            "name": name,
            "namespace": "inference",
            "uid": f"uid-{name}",
            "resourceVersion": "7",
            "generation": 2,
            "creationTimestamp": "2026-03-01T08:00:00Z",
            "annotations": marks if workspace is not None else {},
        },
        "spec": {
            "replicas": 2,
            "template": {"cliques": [{"name": "decode", "spec": {"replicas": 1}}]},
            **spec,
        },
        "status": {"observedGeneration": 2, "updatedReplicas": 1, "conditions": [condition]},
    }


class Cluster:
    """One that has some sets, and does with a patch what an API server would."""

    def __init__(self, *sets: Document) -> None:
        self.sets = {document["metadata"]["name"]: document for document in sets}
        self.patches: list[Document] = []
        self.refusal: tuple[int, Document] | None = None
        self.hangs: asyncio.Event | None = None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path in KINDS:
            groups = [
                {"metadata": {"name": name}, "versions": [{"version": "v1alpha1", "resources": found}]}
                for name, found in KINDS[request.path]
            ]
            return web.json_response({"kind": "APIGroupDiscoveryList", "items": groups})
        if self.hangs is not None:
            await self.hangs.wait()
        if request.path == "/api/v1/namespaces/kube-system":
            return web.json_response({"metadata": {"uid": "one"}})
        if self.refusal is not None:
            status, document = self.refusal
            return web.json_response(document, status=status)
        if request.path == f"{SETS}/podcliquesets":
            return web.json_response({"metadata": {"resourceVersion": "9"}, "items": [*self.sets.values()]})
        found = self.sets.get(request.path.rpartition("/")[2])
        if found is None:
            return web.json_response({"message": "there is none"}, status=404)
        if request.method == "PATCH":
            self.patches.append(await request.json())
        return web.json_response(found)


@asynccontextmanager
async def connected(server: Server, cluster: Cluster, seconds: float = 5.0) -> AsyncIterator[Callable[[str], Client]]:  # fmt: skip
    """The service with a job agent for the cluster `east`, and callers by who they are."""
    async with serving(cluster.answer) as url:
        access = ClusterAccess(url, FixedIdentity(ApiIdentity("token")))
        clusters = ConnectedClusters(Clusters(["east"], lambda context: access), server.clock, seconds)
        service = msgspec.structs.replace(server.service, clusters=clusters)
        app = create_app(service, ALL, server.admit)
        admin = Client(app, "ana:admin@*")
        body = {"type": "workload", "config": {"kubeContext": "east", "setTemplate": SET_TEMPLATE}}
        created = await admin.sending("PUT", "/v1/job-agents/inference", body)
        assert created.status == 201, created.body
        yield lambda who: Client(app, who)
        await clusters.close()


def path(name: str, *more: str) -> str:
    return "/".join((f"/v1/workloads/{segment(f'east/inference/{name}')}", *more))


def test_without_a_connected_cluster_there_is_nothing(client: Client) -> None:
    for kind in ("clusters", "workloads", "graphs"):
        assert client.get(f"/v1/{kind}").json == {"items": [], "next": None}


def test_who_may_read_sees_what_jobs_applied_and_who_acts_sees_what_others_did(server: Server) -> None:
    cluster = Cluster(pod_set("ours"), pod_set("foreign", "other"), pod_set("unmarked", None))

    async def story() -> None:
        async with connected(server, cluster) as of:
            for who, names in (
                ("vera:viewer@default", ["ours"]),
                ("otto:operator@default", ["ours", "unmarked"]),
            ):
                caller = of(who)
                found = (await caller.sending("GET", "/v1/workloads")).json["items"]
                assert [each["name"] for each in found] == names
                for name in ("ours", "foreign", "unmarked"):
                    status = (await caller.sending("POST", path(name, "pause"))).status
                    assert (status == 200) == (name in names and who.startswith("otto"))
                    assert status in (200, 403 if who.startswith("vera") else 404)
            assert [list(patch["spec"]) for patch in cluster.patches] == [["updateStrategy"]] * 2

    play(story())


def test_a_line_says_how_far_a_set_is(server: Server) -> None:
    cluster = Cluster(pod_set("web", updateStrategy={"paused": True, "partition": 1}))

    async def story() -> None:
        async with connected(server, cluster) as of:
            caller = of("vera:viewer@default")
            [found] = (await caller.sending("GET", "/v1/workloads")).json["items"]
            assert found == {
                "id": "east/inference/web",
                "cluster": "east",
                "namespace": "inference",
                "name": "web",
                "target": "api/prod/web",
                "version": None,
                "state": "updating",
                "message": "under way",
                "replicas": 2,
                "updatedReplicas": 1,
                "availableReplicas": 0,
                "isPaused": True,
                "partition": 1,
                "createdAt": "2026-03-01T08:00:00Z",
            }
            nothing = await caller.sending("GET", "/v1/workloads", cel="workload.state == 'done'")
            assert nothing.json["items"] == []
            assert (await caller.sending("GET", "/v1/workloads", cluster="west")).json["items"] == []

    play(story())


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (
            (403, {"message": "secret things"}),
            "the cluster does not allow this to the access of its job agents",
        ),
        ((418, {"message": "secret things"}), "the cluster cannot be asked now"),
        (None, "the cluster does not answer within 0.2 seconds"),
    ],
)
def test_a_cluster_that_does_not_answer_is_said_and_takes_nothing_from_others(
    server: Server, refusal: tuple[int, Document] | None, said: str
) -> None:
    cluster = Cluster(pod_set("web"))
    cluster.refusal = refusal

    async def story() -> None:
        cluster.hangs = asyncio.Event() if refusal is None else None
        async with connected(server, cluster, 0.2) as of:
            viewer, operator = of("vera:viewer@default"), of("otto:operator@default")
            assert (await viewer.sending("GET", "/v1/workloads")).json["items"] == []
            answered = await viewer.sending("GET", path("web"))
            assert (answered.status, answered.json["detail"]) == (502, said)
            ordered = await operator.sending("POST", path("web", "pause"))
            assert ordered.status == 502
            assert ordered.json["detail"] == (said if refusal is None else f"{said}: secret things")
            if cluster.hangs is not None:
                [shown] = (await viewer.sending("GET", "/v1/clusters")).json["items"]
                assert shown == {
                    "name": "east",
                    "jobAgents": ["inference"],
                    "isAnswering": False,
                    "message": said,
                }
                cluster.hangs.set()

    play(story())


def test_orders_are_audited_with_their_reason_before_they_are_done(server: Server) -> None:
    cluster = Cluster(pod_set("web"), pod_set("paused", updateStrategy={"paused": True}))

    async def story() -> None:
        async with connected(server, cluster) as of:
            operator = of("otto:operator@default")
            key = {"Idempotency-Key": "k1"}
            done = await operator.sending("POST", path("web", "pause"), {"reason": "a look"}, key)
            assert done.json == {
                "id": "east/inference/web",
                "action": "pause",
                "isChanged": True,
                "state": "updating",
                "message": "PodCliqueSet web is paused: nothing more moves until it is resumed",
            }
            assert (
                await operator.sending("POST", path("web", "pause"), {"reason": "a look"}, key)
            ).json == done.json
            assert len(cluster.patches) == 1
            again = (await operator.sending("POST", path("paused", "pause"))).json
            assert (again["isChanged"], again["message"].endswith("; it was so before")) == (False, True)

            assert (await operator.sending("POST", path("web", "partition"), {"partition": 1})).status == 200
            assert cluster.patches[-1]["spec"] == {"updateStrategy": {"partition": 1}}
            assert cluster.patches[-1]["metadata"] == {"uid": "uid-web", "resourceVersion": "7"}
            assert (await operator.sending("POST", path("web", "partition"), {"partition": -1})).status == 422

            cluster.refusal = (500, {"message": "down"})
            assert (await operator.sending("POST", path("web", "abort"))).status == 502
            log = (await operator.sending("GET", "/v1/audit", kind="workload")).json["items"]
            assert [(entry["name"], entry["user"], entry["after"]) for entry in log][-1] == (
                "east/inference/web", "otto", {"action": "pause", "stateBefore": "updating", "reason": "a look"},
            )  # fmt: skip

    play(story())


@pytest.mark.parametrize(
    "name",
    [
        "nobody",
        "east",
        "east/inference",
        "west/inference/web",
        "east/inference/",
        "east//web",
        "east/../web",
    ],
)
def test_an_id_that_names_nothing_is_not_there(server: Server, name: str) -> None:
    async def story() -> None:
        async with connected(server, Cluster(pod_set("web"))) as of:
            caller = of("otto:operator@default")
            for kind in ("workloads", "graphs"):
                assert (await caller.sending("GET", f"/v1/{kind}/{segment(name)}")).status == 404

    play(story())


def test_what_is_done_cannot_be_aborted(server: Server) -> None:
    done = pod_set("web")
    done["status"]["conditions"] = [
        {"type": "Progressing", "reason": "UpdateComplete", "message": "all"},
        {"type": "Available", "reason": "AllReplicasAvailable", "message": "2 of 2"},
    ]

    async def story() -> None:
        async with connected(server, Cluster(done)) as of:
            answer = await of("otto:operator@default").sending("POST", path("web", "abort"))
            assert (answer.status, answer.json["detail"]) == (
                409, "PodCliqueSet web is done: there is no update to abort",
            )  # fmt: skip

    play(story())
