"""Builds the objects that a set wants, each from the set, a revision and indices. Nothing here looks at what exists.

A revision gives labels, annotations and pod specs; everything else comes from the set as it stands now.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from headgate.kernel.identifiers import IdSource
from headgate.kernel.objects import Object, OwnerReference
from headgate.workload import labels, model, names
from headgate.workload.expand import gangs, pod_claims, revisions, startup
from headgate.workload.expand.gangs import Gang, Membership
from headgate.workload.expand.revisions import Revision
from headgate.workload.model import Clique, PodCliqueSet, ScalingGroup


def headless_service(pcs: PodCliqueSet, pcs_index: int) -> Object:
    name = names.headless_service(pcs.name, pcs_index)
    return Object(
        api_version="v1",
        kind="Service",
        namespace=pcs.namespace,
        name=name,
        labels={
            **labels.common(pcs.name, name, "pcs-headless-service"),
            labels.PCS_REPLICA_INDEX: str(pcs_index),
        },
        owners=(owned_by_set(pcs),),
        spec={
            "clusterIP": "None",
            "selector": labels.of_replica(pcs.name, pcs_index),
            "publishNotReadyAddresses": pcs.template.headless_service_config.publish_not_ready_addresses,
        },
    )


def scaling_group(
    pcs: PodCliqueSet,
    revision: Revision,
    pcs_index: int,
    group: ScalingGroup,
    *,
    replicas: int | None = None,
) -> Object:
    """`replicas` carries over the count of an autoscaled group; without it the template's is taken."""
    name = names.scaling_group(pcs.name, pcs_index, group.name)
    return Object(
        api_version=model.API_VERSION,
        kind=model.SCALING_GROUP_KIND,
        namespace=pcs.namespace,
        name=name,
        labels={
            **labels.common(pcs.name, name, "pcs-podcliquescalinggroup"),
            labels.PCS_REPLICA_INDEX: str(pcs_index),
            labels.REVISION: revision.hash,
        },
        annotations=dict(group.annotations),
        owners=(owned_by_set(pcs),),
        spec={
            "replicas": group.replicas if replicas is None else replicas,
            "minAvailable": group.min_available,
            "cliqueNames": list(group.clique_names),
        },
    )


def standalone_clique(
    pcs: PodCliqueSet, revision: Revision, pcs_index: int, clique: Clique, *, replicas: int | None = None
) -> Object:
    name = names.standalone_clique(pcs.name, pcs_index, clique.name)
    return _pod_clique(
        pcs,
        revision,
        pcs_index,
        clique,
        name=name,
        component="pcs-podclique",
        owner=owned_by_set(pcs),
        membership=gangs.of_standalone(pcs, pcs_index),
        starts_after=startup.of_standalone(pcs, pcs_index, clique),
        replicas=replicas,
    )


def member_clique(
    pcs: PodCliqueSet,
    revision: Revision,
    group_object: Object,
    group: ScalingGroup,
    group_index: int,
    clique: Clique,
    *,
    replicas: int | None = None,
) -> Object:
    """`group_object` is the live PodCliqueScalingGroup: it owns the clique and knows which replica it is in."""
    pcs_index = int(group_object.labels[labels.PCS_REPLICA_INDEX])
    result = _pod_clique(
        pcs,
        revision,
        pcs_index,
        clique,
        name=names.member_clique(pcs.name, pcs_index, group.name, group_index, clique.name),
        component="pcsg-podclique",
        owner=owned_by(group_object),
        membership=gangs.of_member(pcs, pcs_index, group, group_index),
        starts_after=startup.of_member(pcs, pcs_index, group, group_index, clique),
        replicas=replicas,
    )
    result.labels[labels.SCALING_GROUP] = group_object.name
    result.labels[labels.SCALING_GROUP_REPLICA_INDEX] = str(group_index)
    return result


def _pod_clique(
    pcs: PodCliqueSet,
    revision: Revision,
    pcs_index: int,
    clique: Clique,
    *,
    name: str,
    component: labels.Component,
    owner: OwnerReference,
    membership: Membership,
    starts_after: Sequence[str],
    replicas: int | None,
) -> Object:
    template = revisions.template_at(pcs, revision)
    content = template.clique(clique.name)
    spec: dict[str, Any] = {
        "roleName": clique.role_name,
        "podSpec": _pod_spec(content, template.priority_class_name),
        "replicas": clique.replicas if replicas is None else replicas,
        "minAvailable": clique.min_available,
    }
    if starts_after:
        spec["startsAfter"] = list(starts_after)
    if clique.auto_scaling is not None:
        spec["autoScalingConfig"] = _auto_scaling(clique.auto_scaling)
    managed = {
        **labels.common(pcs.name, name, component),
        labels.PCS_REPLICA_INDEX: str(pcs_index),
        labels.POD_GANG: membership.gang,
        labels.POD_TEMPLATE_HASH: revision.clique_hashes[clique.name],
        labels.REVISION: revision.hash,
    }
    if membership.base is not None:
        managed[labels.BASE_POD_GANG] = membership.base
    return Object(
        api_version=model.API_VERSION,
        kind=model.CLIQUE_KIND,
        namespace=pcs.namespace,
        name=name,
        labels={**content.labels, **managed},
        annotations=dict(content.annotations),
        owners=(owner,),
        spec=spec,
    )


def _pod_spec(content: Clique, priority_class_name: str) -> dict[str, Any]:
    if not priority_class_name:
        return content.pod_spec
    return {**content.pod_spec, "priorityClassName": priority_class_name}


def _auto_scaling(scaling: model.AutoScaling) -> dict[str, Any]:
    return {
        "minReplicas": scaling.min_replicas,
        "maxReplicas": scaling.max_replicas,
        "metrics": scaling.metrics,
    }


def pods(
    pcs: PodCliqueSet,
    clique_object: Object,
    indices: Iterable[int],
    ids: IdSource,
    taken: Container[str] = frozenset(),
    first_hashes: Container[str] = frozenset(),
) -> tuple[Object, ...]:
    """Pods of a live PodClique at the given indices. They share one pod spec: a thousand pods are light. `first_hashes` are
    those of the set's first templates.

    `taken` holds the names that no new pod may have.
    """
    claims = pod_claims.of_clique(pcs, clique_object)
    shared = _shared_pod_spec(pcs, clique_object)
    if claims:
        shared = pod_claims.with_names(shared, claims)
    owner = (owned_by(clique_object),)
    inherited = {**clique_object.labels, labels.POD_CLIQUE: clique_object.name}
    origin = _origin(clique_object, first_hashes)
    new_names: set[str] = set()
    objects: list[Object] = []
    for index in indices:
        name = names.pod(clique_object.name, index, ids, origin, _Either(taken, new_names))
        new_names.add(name)
        spec = {**shared, "hostname": names.hostname(clique_object.name, index)}
        if claims:
            spec["resourceClaims"] = pod_claims.of_pod(shared, claims, index)
        objects.append(
            Object(
                api_version="v1",
                kind="Pod",
                namespace=pcs.namespace,
                name=name,
                labels={**inherited, labels.POD_INDEX: str(index)},
                annotations=clique_object.annotations,
                owners=owner,
                spec=spec,
            )
        )
    return tuple(objects)


def _origin(clique_object: Object, first_hashes: Container[str]) -> str:
    """Which clique, and which of its templates after the first."""
    template = clique_object.labels.get(labels.POD_TEMPLATE_HASH, "")
    later = f"/{template}" if template not in first_hashes else ""
    return f"{clique_object.created_at}{later}"


class _Either:
    def __init__(self, first: Container[str], second: Container[str]) -> None:
        self._first = first
        self._second = second

    def __contains__(self, name: object) -> bool:
        return name in self._first or name in self._second


def _shared_pod_spec(pcs: PodCliqueSet, clique_object: Object) -> dict[str, Any]:
    pod_spec = clique_object.spec["podSpec"]
    pcs_index = int(clique_object.labels[labels.PCS_REPLICA_INDEX])
    environment = _environment(pcs, clique_object, pcs_index)
    shared = {
        **pod_spec,
        "subdomain": names.headless_service(pcs.name, pcs_index),
        "restartPolicy": "Always",
        "schedulingGates": [*pod_spec.get("schedulingGates", ()), {"name": labels.SCHEDULING_GATE}],
    }
    for key in ("initContainers", "containers"):
        if isinstance(pod_spec.get(key), list):
            shared[key] = [_with_environment(container, environment) for container in pod_spec[key]]
    return shared


def _with_environment(container: Mapping[str, Any], environment: list[dict[str, Any]]) -> dict[str, Any]:
    """Ours come first, so that a container's own variables can refer to them."""
    return {**container, "env": [*environment, *(container.get("env") or ())]}


def _environment(pcs: PodCliqueSet, clique_object: Object, pcs_index: int) -> list[dict[str, Any]]:
    """The pod's index is taken from its label, so that all pods of a clique have equal containers."""
    variables: list[dict[str, Any]] = [
        {"name": labels.ENV_SET_NAME, "value": pcs.name},
        {"name": labels.ENV_SET_INDEX, "value": str(pcs_index)},
        {"name": labels.ENV_CLIQUE_NAME, "value": clique_object.name},
        {
            "name": labels.ENV_HEADLESS_SERVICE,
            "value": names.service_address(pcs.name, pcs_index, pcs.namespace),
        },
        {
            "name": labels.ENV_POD_INDEX,
            "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{labels.POD_INDEX}']"}},
        },
    ]
    group_name = clique_object.labels.get(labels.SCALING_GROUP)
    if group_name is not None:
        variables += [
            {"name": labels.ENV_SCALING_GROUP_NAME, "value": group_name},
            {
                "name": labels.ENV_SCALING_GROUP_INDEX,
                "value": clique_object.labels[labels.SCALING_GROUP_REPLICA_INDEX],
            },
            {
                "name": labels.ENV_SCALING_GROUP_POD_COUNT,
                "value": str(_pods_per_group_replica(pcs, pcs_index, group_name)),
            },
        ]
    return variables


def _pods_per_group_replica(pcs: PodCliqueSet, pcs_index: int, group_object_name: str) -> int:
    for group in pcs.template.scaling_groups:
        if names.scaling_group(pcs.name, pcs_index, group.name) == group_object_name:
            return sum(clique.replicas for clique in pcs.template.members(group))
    return 0


def pod_gang(
    pcs: PodCliqueSet, revision: Revision, gang: Gang, references: Mapping[str, Sequence[str]] | None = None
) -> Object:
    """`references` are the names of the live pods by PodClique; a gang is first created without any. Its priority is
    content, and so that of the revision its replica has."""
    spec: dict[str, Any] = {
        "podgroups": [
            {
                "name": group.name,
                "minReplicas": group.min_replicas,
                "podReferences": [
                    {"namespace": pcs.namespace, "name": name}
                    for name in sorted((references or {}).get(group.name, ()))
                ],
            }
            for group in gang.groups
        ]
    }
    priority_class_name = revisions.template_at(pcs, revision).priority_class_name
    if priority_class_name:
        spec["priorityClassName"] = priority_class_name
    managed = {
        **labels.common(pcs.name, gang.name, "podgang"),
        labels.PCS_REPLICA_INDEX: str(gang.pcs_index),
    }
    scheduler = scheduler_name(pcs)
    if scheduler:
        managed[labels.SCHEDULER_NAME] = scheduler
    return Object(
        api_version=model.GANG_API_VERSION,
        kind=model.GANG_KIND,
        namespace=pcs.namespace,
        name=gang.name,
        labels={**labels.mirrored(pcs.labels), **managed},
        annotations=labels.mirrored(pcs.annotations),
        owners=(owned_by_set(pcs),),
        spec=spec,
    )


def scheduler_name(pcs: PodCliqueSet) -> str:
    """One for the whole set: validation refuses cliques that name different ones."""
    named = (clique.pod_spec.get("schedulerName") for clique in pcs.template.cliques)
    return next((name for name in named if isinstance(name, str) and name), "")


def owned_by(owner: Object) -> OwnerReference:
    return OwnerReference(owner.kind, owner.name, owner.uid)


def owned_by_set(pcs: PodCliqueSet) -> OwnerReference:
    return OwnerReference(model.KIND, pcs.name, pcs.uid)
