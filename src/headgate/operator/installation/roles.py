"""What the operator may do, and no more. One line a kind; graphs bring their own by an aggregated ClusterRole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.graph.compile import definition
from headgate.operator import crds
from headgate.operator.crds import graphs, workloads
from headgate.operator.crds.kinds import CustomKind
from headgate.operator.installation import settings
from headgate.operator.installation.settings import Settings
from headgate.workload import model

Document = dict[str, Any]
_API = "rbac.authorization.k8s.io/v1"
SEEN = ("get", "list", "watch")
EDITED = ("update", "patch")
MADE = (*SEEN, "create", *EDITED, "delete")


class Permission(msgspec.Struct, frozen=True):
    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()

    def rule(self) -> Document:
        rule: Document = {
            "apiGroups": [self.group],
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        return {**rule, "resourceNames": list(self.names)} if self.names else rule


def _own(
    kind: CustomKind, verbs: tuple[str, ...], *, reports: bool = True, owns: bool = False
) -> tuple[Permission, ...]:
    """A kind of ours. `reports`: its status is written. `owns`: others name it as their owner, which has to be allowed
    where clusters are strict about that."""
    permissions = [Permission(kind.group, (kind.plural,), verbs)]
    if reports:
        permissions.append(Permission(kind.group, (f"{kind.plural}/status",), EDITED))
    if owns:
        permissions.append(Permission(kind.group, (f"{kind.plural}/finalizers",), ("update",)))
    return tuple(permissions)


WORKLOADS: tuple[Permission, ...] = (
    *_own(workloads.SET, (*SEEN, *EDITED), owns=True),
    *_own(workloads.SCALING_GROUP, MADE, owns=True),
    *_own(workloads.CLIQUE, MADE, owns=True),
    *_own(workloads.GANG, MADE, reports=False),
    Permission("", ("pods", "services"), MADE),
    Permission("apps", ("controllerrevisions",), MADE),
    Permission("autoscaling", ("horizontalpodautoscalers",), MADE),
    Permission(model.CLAIM_GROUP, ("resourceclaims",), MADE),
    Permission(model.CLAIM_GROUP, ("resourceclaimtemplates",), SEEN),
)
GRAPHS: tuple[Permission, ...] = (
    *_own(graphs.DEFINITION, (*SEEN, *EDITED), owns=True),
    *_own(graphs.REVISION, (*MADE, "deletecollection"), reports=False),
    *_own(graphs.GRAPH_REVISION, MADE, reports=False),
    Permission("apiextensions.k8s.io", ("customresourcedefinitions",), MADE),
    Permission(definition.DEFAULT_GROUP, ("*",), (*SEEN, *EDITED)),
)
"""The last one is for instances of definitions that name no group; the kinds of other groups need a role, as what
they consist of does."""
SHARED: tuple[Permission, ...] = (
    Permission("", ("events",), ("create", "patch")),
    Permission("events.k8s.io", ("events",), ("create", "patch")),
    Permission(
        "admissionregistration.k8s.io",
        ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
        ("get", *EDITED),
        (settings.WEBHOOKS,),
    ),
)
IN_NAMESPACE: tuple[Permission, ...] = (
    Permission("coordination.k8s.io", ("leases",), ("create",)),
    Permission("coordination.k8s.io", ("leases",), ("get", *EDITED), (settings.LEASE,)),
    Permission("", ("configmaps",), SEEN, (settings.SIGNALS,)),
    Permission("", ("secrets",), ("create",)),
    Permission("", ("secrets",), ("get", *EDITED), (settings.WEBHOOK_SECRET,)),
)


def documents(given: Settings) -> list[Document]:
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": _metadata(settings.NAME, given.namespace),
        },
        {
            "apiVersion": _API,
            "kind": "ClusterRole",
            "metadata": _metadata(settings.NAME),
            # Its rules are another controller's to write: naming them here would be a conflict at the next apply.
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {settings.AGGREGATE: "true"}}]},
        },
        _part("workloads", WORKLOADS),
        _part("graphs", GRAPHS),
        _part("shared", SHARED),
        _binding("ClusterRole", given),
        {
            "apiVersion": _API,
            "kind": "Role",
            "metadata": _metadata(settings.NAME, given.namespace),
            "rules": [permission.rule() for permission in IN_NAMESPACE],
        },
        _binding("Role", given),
        *_for_people(),
    ]


def _part(name: str, permissions: Sequence[Permission]) -> Document:
    metadata = _metadata(f"{settings.NAME}-{name}")
    metadata["labels"] = {**metadata["labels"], settings.AGGREGATE: "true"}
    rules = [permission.rule() for permission in permissions]
    return {"apiVersion": _API, "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _binding(kind: str, given: Settings) -> Document:
    is_local = kind == "Role"
    return {
        "apiVersion": _API,
        "kind": f"{kind}Binding",
        "metadata": _metadata(settings.NAME, given.namespace if is_local else None),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": settings.NAME},
        "subjects": [{"kind": "ServiceAccount", "name": settings.NAME, "namespace": given.namespace}],
    }


def _for_people() -> list[Document]:
    """Who may view or edit in a namespace may do so with our kinds; definitions are for those who run the cluster."""
    named = [kind for kind in crds.ALL if kind.is_namespaced]
    scaled = [f"{kind.plural}/scale" for kind in named if kind.selector is not None]
    roles = []
    for role, verbs in (("view", SEEN), ("edit", ("create", *EDITED, "delete"))):
        metadata = _metadata(f"headgate-{role}")
        wider = ("admin", "edit") if role == "edit" else ("view",)
        aggregated = {f"rbac.authorization.k8s.io/aggregate-to-{each}": "true" for each in wider}
        metadata["labels"] = {**metadata["labels"], **aggregated}
        editable = [workloads.SET] if role == "edit" else named
        rules = [Permission(kind.group, (kind.plural,), verbs).rule() for kind in editable]
        if role == "edit":
            rules.append(Permission(workloads.SET.group, tuple(scaled), ("get", *EDITED)).rule())
        roles.append({"apiVersion": _API, "kind": "ClusterRole", "metadata": metadata, "rules": rules})
    return roles


def _metadata(name: str, namespace: str | None = None) -> Document:
    place = {"namespace": namespace} if namespace is not None else {}
    return {"name": name, **place, "labels": dict(settings.LABELS)}
