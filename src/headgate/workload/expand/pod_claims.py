"""Which ResourceClaims a pod uses, and by which names: those of the set, of its scaling group and of its clique."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headgate.kernel.objects import Object
from headgate.workload import labels, names
from headgate.workload.model import PodCliqueSet, SharingReference
from headgate.workload.names import Level


class ClaimUse(msgspec.Struct, frozen=True):
    """A claim as all pods of one PodClique use it; only that of a pod's own is another one for each of them."""

    level: Level
    owner: str
    reference: SharingReference
    index: int | None
    """The replica of its owner that the pods are in; None where each pod is one."""

    @property
    def name_in_pod(self) -> str:
        return names.claim_in_pod(self.level, self.reference.name)

    def claim(self, pod_index: int) -> str:
        return claim_name(self.owner, self.reference, pod_index if self.index is None else self.index)


def claim_name(owner: str, reference: SharingReference, index: int) -> str:
    if reference.is_for_each:
        return names.claim_of_replica(owner, index, reference.name)
    return names.shared_claim(owner, reference.name)


def of_clique(pcs: PodCliqueSet, clique_object: Object) -> tuple[ClaimUse, ...]:
    return tuple(_uses(pcs, clique_object)) if pcs.template.sharing else ()


def _uses(pcs: PodCliqueSet, clique_object: Object) -> Iterator[ClaimUse]:
    marks = clique_object.labels
    pcs_index = int(marks[labels.PCS_REPLICA_INDEX])
    group_object = marks.get(labels.SCALING_GROUP)
    group_index = int(marks.get(labels.SCALING_GROUP_REPLICA_INDEX, 0))
    above = f"{pcs.name}-{pcs_index}-" if group_object is None else f"{group_object}-{group_index}-"
    clique = pcs.template.cliques_by_name.get(clique_object.name.removeprefix(above))
    if clique is None:
        return
    group = pcs.template.group_of.get(clique.name)
    for reference in pcs.template.resource_sharing:
        if reference.concerns(clique.name, group.name if group is not None else None):
            yield ClaimUse("set", pcs.name, reference, pcs_index)
    if group is not None and group_object is not None:
        for reference in group.resource_sharing:
            if reference.concerns(clique.name, None):
                yield ClaimUse("group", group_object, reference, group_index)
    for reference in clique.resource_sharing:
        yield ClaimUse("clique", clique_object.name, reference, None)


def with_names(pod_spec: Mapping[str, Any], uses: Sequence[ClaimUse]) -> dict[str, Any]:
    """A pod spec whose containers have all of these claims. One that names a claim itself, maybe only one of its requests,
    is taken at its word."""
    named = {
        key: [_with_claims(container, uses) for container in pod_spec[key]]
        for key in ("initContainers", "containers")
        if isinstance(pod_spec.get(key), list)
    }
    return {**pod_spec, **named}


def _with_claims(container: Mapping[str, Any], uses: Sequence[ClaimUse]) -> dict[str, Any]:
    resources = container.get("resources") or {}
    own = resources.get("claims") or ()
    known = {claim.get("name") for claim in own}
    added = [{"name": use.name_in_pod} for use in uses if use.name_in_pod not in known]
    return {**container, "resources": {**resources, "claims": [*own, *added]}}


def of_pod(pod_spec: Mapping[str, Any], uses: Sequence[ClaimUse], pod_index: int) -> list[dict[str, Any]]:
    """All claims of the pod at an index, those that its template brings along first."""
    own = pod_spec.get("resourceClaims") or ()
    shared = [{"name": use.name_in_pod, "resourceClaimName": use.claim(pod_index)} for use in uses]
    return [*own, *shared]
