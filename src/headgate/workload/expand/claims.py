"""The ResourceClaims of a set: one that all replicas of the set, a scaling group or a clique share, or one for each.

Whose a claim is owns it, so that it goes with its owner.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headgate.kernel.objects import Object, OwnerReference
from headgate.workload import labels, model
from headgate.workload.expand import expansion as expand
from headgate.workload.expand import pod_claims
from headgate.workload.model import Clique, PodCliqueSet, ScalingGroup, SharingReference


class WantedClaim(msgspec.Struct, frozen=True):
    """Without what it asks for, which may have to be looked up."""

    name: str
    reference: SharingReference
    owner: OwnerReference
    labels: dict[str, str]


def shared_by_set(pcs: PodCliqueSet) -> Iterator[WantedClaim]:
    owner = expand.owned_by_set(pcs)
    return _shared(pcs, owner, pcs.template.resource_sharing, {})


def of_replica(pcs: PodCliqueSet, pcs_index: int) -> Iterator[WantedClaim]:
    owner = expand.owned_by_set(pcs)
    return _for_each(pcs, owner, pcs.template.resource_sharing, (pcs_index,), {}, labels.PCS_REPLICA_INDEX)


def of_group(
    pcs: PodCliqueSet, group_object: Object, group: ScalingGroup, indices: Iterable[int]
) -> Iterator[WantedClaim]:
    owner = expand.owned_by(group_object)
    marks = {
        labels.PCS_REPLICA_INDEX: group_object.labels[labels.PCS_REPLICA_INDEX],
        labels.SCALING_GROUP: group_object.name,
    }
    yield from _shared(pcs, owner, group.resource_sharing, marks)
    yield from _for_each(
        pcs, owner, group.resource_sharing, indices, marks, labels.SCALING_GROUP_REPLICA_INDEX
    )


def of_clique(
    pcs: PodCliqueSet, clique_object: Object, clique: Clique, indices: Iterable[int]
) -> Iterator[WantedClaim]:
    owner = expand.owned_by(clique_object)
    marks = {
        labels.PCS_REPLICA_INDEX: clique_object.labels[labels.PCS_REPLICA_INDEX],
        labels.POD_CLIQUE: clique_object.name,
    }
    yield from _shared(pcs, owner, clique.resource_sharing, marks)
    yield from _for_each(pcs, owner, clique.resource_sharing, indices, marks, labels.POD_INDEX)


def _shared(
    pcs: PodCliqueSet, owner: OwnerReference, references: Sequence[SharingReference], marks: Mapping[str, str]
) -> Iterator[WantedClaim]:
    for reference in references:
        if not reference.is_for_each:
            yield _wanted(pcs, owner, reference, 0, marks)


def _for_each(
    pcs: PodCliqueSet,
    owner: OwnerReference,
    references: Sequence[SharingReference],
    indices: Iterable[int],
    marks: Mapping[str, str],
    index_label: str,
) -> Iterator[WantedClaim]:
    chosen = [reference for reference in references if reference.is_for_each]
    if not chosen:
        return
    for index in indices:
        for reference in chosen:
            yield _wanted(pcs, owner, reference, index, {**marks, index_label: str(index)})


def _wanted(
    pcs: PodCliqueSet,
    owner: OwnerReference,
    reference: SharingReference,
    index: int,
    marks: Mapping[str, str],
) -> WantedClaim:
    """A claim may have a longer name than a label can hold; then it is without that label."""
    name = pod_claims.claim_name(owner.name, reference, index)
    claim_labels = {**labels.common(pcs.name, name, "resource-claim"), **marks}
    if len(name) > labels.LONGEST_VALUE:
        del claim_labels[labels.NAME]
    return WantedClaim(name, reference, owner, claim_labels)


def template_of_set(pcs: PodCliqueSet, reference: SharingReference) -> Mapping[str, Any] | None:
    """None if the set has none of that name: then the cluster is meant to have one."""
    template = pcs.template.claim_templates.get(reference.name)
    return template.template_spec if template is not None else None


def to_object(pcs: PodCliqueSet, wanted: WantedClaim, template: Mapping[str, Any]) -> Object:
    """`template` has the metadata and the spec of claims made from it, as a ResourceClaimTemplate has under `spec`."""
    metadata = _map(template.get("metadata"))
    return Object(
        api_version=model.CLAIM_API_VERSION,
        kind=model.CLAIM_KIND,
        namespace=pcs.namespace,
        name=wanted.name,
        labels={**_map(metadata.get("labels")), **wanted.labels},
        annotations=_map(metadata.get("annotations")),
        owners=(wanted.owner,),
        spec=_map(template.get("spec")),
    )


def _map(value: Any) -> dict[str, Any]:
    """Whatever somebody wrote there while no webhook looked at it."""
    return dict(value) if isinstance(value, Mapping) else {}
