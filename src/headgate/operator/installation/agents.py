"""What the service may do on the cluster it runs in, where its owner lets its job agents reach it.

Jobs are made in its own namespace alone: whoever may make Jobs somewhere may do there what its service accounts may.
"""

from __future__ import annotations

from typing import Any

from headgate.operator.installation.roles import Permission

Document = dict[str, Any]
NAME = "headgate-agents"
_GROUP = "rbac.authorization.k8s.io"
CLUSTER = Permission("", ("namespaces",), ("get",), ("kube-system",))
"""By the uid of this namespace a cluster is known again."""
JOBS: tuple[Permission, ...] = (
    Permission("batch", ("jobs",), ("get", "watch", "create", "delete")),
    Permission("", ("pods", "pods/log"), ("get", "list")),
)
NODES: tuple[Permission, ...] = (
    Permission("", ("nodes",), ("get", "list", "watch", "patch")),
    Permission("", ("pods",), ("get", "list")),
    Permission("", ("pods/eviction",), ("create",)),
)


def documents(account: str, namespace: str, labels: dict[str, str]) -> list[Document]:
    def metadata(name: str, place: str | None) -> Document:
        return {"name": name, **({"namespace": place} if place else {}), "labels": dict(labels)}

    for_agents: list[Document] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(account, namespace)}
    ]
    for kind, permissions, place in (
        ("ClusterRole", (CLUSTER, *NODES), None),
        ("Role", JOBS, namespace),
    ):
        for_agents.append(
            {
                "apiVersion": f"{_GROUP}/v1",
                "kind": kind,
                "metadata": metadata(NAME, place),
                "rules": [permission.rule() for permission in permissions],
            }
        )
        for_agents.append(
            {
                "apiVersion": f"{_GROUP}/v1",
                "kind": f"{kind}Binding",
                "metadata": metadata(NAME, place),
                "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": NAME},
                "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
            }
        )
    return for_agents
