"""What the manifests allow is enough for the running operator: it works as its own service account, and is refused nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.kubernetes import kubeconfig
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.kubernetes.transport import Transport
from headgate.operator.installation import roles
from headgate.operator.installation.settings import NAME, Settings
from kube import ControlPlane

from . import operating
from .devices import asked_for, devices
from .operating import clique, pod_set
from .operating import operating as operator_of
from .support import play, until

GROUP = "rbac.authorization.k8s.io"
RESOURCES = {
    "ServiceAccount": ApiResource("", "v1", "ServiceAccount", "serviceaccounts"),
    "Role": ApiResource(GROUP, "v1", "Role", "roles"),
    "RoleBinding": ApiResource(GROUP, "v1", "RoleBinding", "rolebindings"),
    "ClusterRole": ApiResource(GROUP, "v1", "ClusterRole", "clusterroles", is_namespaced=False),
    "ClusterRoleBinding": ApiResource(
        GROUP, "v1", "ClusterRoleBinding", "clusterrolebindings", is_namespaced=False
    ),
}


ALLOWED = (
    ("create", "pods"),
    ("watch", "resourcegraphdefinitions.kro.run"),
    ("create", "events"),
    ("create", "leases.coordination.k8s.io"),
)
"""One of each role: API servers hear of a role a moment after it was made."""


def _may(plane: ControlPlane, account: str, namespace: str, verb: str, what: str) -> bool:
    return plane.kubectl("auth", "can-i", verb, what, "--as", account, "-n", namespace).returncode == 0


class AsAccount(ControlPlane):
    """The same control plane, for clients that act as the operator's service account."""

    account = ""

    def client(self, **options: Any) -> Client:
        access = kubeconfig.load(path=str(self.kubeconfig))
        acting = (*access.headers, ("Impersonate-User", self.account))
        return Client(Transport(msgspec.structs.replace(access, headers=acting), **options))


def _set(namespace: str, image: str) -> Document:
    """With every kind of object that a set can have."""
    scaled = {"autoScalingConfig": {"minReplicas": 1, "maxReplicas": 2}}
    group = {"name": "sg", "cliqueNames": ["worker"], "replicas": 2, "minAvailable": 1}
    cliques = [clique("front", 1, image, **scaled), clique("worker", 1, image)]
    cliques[1]["resourceSharing"] = [{"name": "gpu", "scope": "PerReplica"}]
    templates = [{"name": "gpu", "templateSpec": asked_for(namespace)}]
    return pod_set("web", namespace, 1, cliques, [group], resourceClaimTemplates=templates)


def test_the_roles_are_enough_for_a_set(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace
    account = f"system:serviceaccount:{namespace}:{NAME}"
    acting = AsAccount(control_plane.folder, control_plane.session, port=control_plane.port)
    acting.account = account

    async def story() -> None:
        async with control_plane.client() as client, devices(client, namespace, 4):
            await operating.install(client)
            documents = roles.documents(Settings("headgate:test", namespace))
            try:
                for document in documents:
                    resource = RESOURCES[document["kind"]]
                    await client.apply(resource, document, manager="test", force=True)
                for verb, what in ALLOWED:
                    await until(
                        lambda verb=verb, what=what: _may(control_plane, account, namespace, verb, what)
                    )
                async with operator_of(acting, namespace):
                    await operating.apply(client, _set(namespace, "v1"))
                    await until(lambda: operating.is_updated(client, "web", namespace), 90)
                    await operating.apply(client, _set(namespace, "v2"))
                    await until(lambda: _is_new(client, namespace), 90)
                    await client.delete(operating.SETS, "web", namespace)
                    await until(
                        lambda: operating.is_gone(client, operating.CLIQUES, "web-0-front", namespace)
                    )
            finally:
                await _remove(client, documents)

    play(story(), 300)
    acts = [
        event
        for event in control_plane.audit()
        if (event.get("impersonatedUser") or {}).get("username") == account
    ]
    assert len(acts) > 20
    refused = {
        (event["verb"], event["objectRef"]["resource"], event["objectRef"].get("subresource", ""))
        for event in acts
        if event["responseStatus"]["code"] == 403
    }
    assert not refused
    written = {event["objectRef"]["resource"] for event in acts if event["verb"] in ("create", "patch")}
    assert {"pods", "podcliques", "podgangs", "services", "horizontalpodautoscalers"} <= written
    assert "resourceclaims" in written


async def _is_new(client: Client, namespace: str) -> bool:
    pods = await operating.pods_of(client, "web", namespace)
    return operating.images(pods) == {"v2"} and await operating.is_updated(client, "web", namespace)


async def _remove(client: Client, documents: list[Document]) -> None:
    for document in documents:
        if not RESOURCES[document["kind"]].is_namespaced:
            try:
                await client.delete(RESOURCES[document["kind"]], document["metadata"]["name"])
            except NotFoundError:
                continue
