"""What other parts of a real cluster do to the pods of a set: they end, are evicted, and are changed on their way in."""

from __future__ import annotations

from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import PODS, Document
from headgate.workload import labels
from kube import ControlPlane

from . import operating
from .operating import clique, pod_set
from .operating import operating as operator_of
from .support import is_ready, play, until


def test_pods_that_end_or_are_evicted_come_back_in_their_place(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    namespace = kube_namespace

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                await operating.apply(client, pod_set("web", namespace, 1, [clique("front", 3, "v1")]))
                await until(lambda: operating.is_updated(client, "web", namespace), 90)
                first = await _by_index(client, namespace)

                # As a kubelet does that runs out of disk: the object stays, and nothing of it runs.
                ended = {"status": {"phase": "Failed", "reason": "Evicted", "message": "no disk is left"}}
                name = first["0"]["metadata"]["name"]
                await client.patch(PODS, name, namespace, ended, subresource="status")
                # As a drain does: the pod is deleted by the API server itself.
                name = first["1"]["metadata"]["name"]
                evicted = control_plane.kubectl(
                    *("create", "--raw", f"/api/v1/namespaces/{namespace}/pods/{name}/eviction", "-f", "-"),
                    input=f'{{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{name}"}}}}',
                )
                assert evicted.returncode == 0, evicted.stderr
                # As somebody does who adds what no template says: it stays.
                name = first["2"]["metadata"]["name"]
                await client.patch(PODS, name, namespace, {"metadata": {"labels": {"mesh": "in"}}})

                async def are_back() -> bool:
                    found = await _by_index(client, namespace)
                    return (
                        len(found) == 3
                        and all(map(is_ready, found.values()))
                        and all(
                            found[index]["metadata"]["uid"] != first[index]["metadata"]["uid"]
                            for index in "01"
                        )
                    )

                await until(are_back, 90)
                await until(lambda: operating.is_updated(client, "web", namespace), 90)
                last = await _by_index(client, namespace)
                assert {pod["spec"]["hostname"] for pod in last.values()} == {
                    pod["spec"]["hostname"] for pod in first.values()
                }
                assert last["2"]["metadata"]["uid"] == first["2"]["metadata"]["uid"]
                assert last["2"]["metadata"]["labels"]["mesh"] == "in"

    play(story(), 250)


async def _by_index(client: Client, namespace: str) -> dict[str, Document]:
    """Those that have not ended."""
    pods = await operating.pods_of(client, "web", namespace)
    return {
        pod["metadata"]["labels"][labels.POD_INDEX]: pod
        for pod in pods
        if pod.get("status", {}).get("phase") != "Failed"
    }
