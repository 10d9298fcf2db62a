"""The ResourceClaims of a set: made before the pods that use them, and deleted when nothing is left that could.

What a claim asks for never changes once it is there, so only marks and owners are put back. A pod must never get hold of a
claim that is on its way out: it would keep that claim there, and the one that is to follow it could never be made. So a pod is
not made before all of its claims are there to stay.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Create, Object
from headgate.workload.expand import claims as expand
from headgate.workload.expand import pod_claims
from headgate.workload.expand.claims import WantedClaim
from headgate.workload.model import ScalingGroup
from headgate.workload.plan import children, observed
from headgate.workload.plan.situation import ClaimWait, Situation

replace = msgspec.structs.replace


def of_set(situation: Situation) -> None:
    _keep(situation, expand.shared_by_set(situation.pcs))


def of_replica(situation: Situation, pcs_index: int) -> None:
    _keep(situation, expand.of_replica(situation.pcs, pcs_index))


def of_group(
    situation: Situation, group: observed.ObservedGroup, template: ScalingGroup, item: Object, replicas: int
) -> None:
    """Also for replicas that are there beyond that count: surge, and what is on its way out."""
    if template.resource_sharing:
        indices = sorted({*range(replicas), *group.replicas})
        _keep(situation, expand.of_group(situation.pcs, item, template, indices))


def of_clique(situation: Situation, clique: observed.ObservedClique, item: Object, replicas: int) -> None:
    """Likewise for its pods."""
    template = situation.pcs.template.clique(clique.clique_name)
    if template.resource_sharing:
        present = {pod.index for pod in clique.pods if pod.index != observed.NO_INDEX}
        indices = sorted({*range(replicas), *present})
        _keep(situation, expand.of_clique(situation.pcs, item, template, indices))


def ready_indices(
    situation: Situation, clique: observed.ObservedClique, item: Object, indices: Sequence[int]
) -> Sequence[int]:
    """Those at which a pod can be made now; the others wait for a claim."""
    uses = pod_claims.of_clique(situation.pcs, item)
    if not uses:
        return indices
    template = situation.pcs.template.clique(clique.clique_name)
    _keep(situation, expand.of_clique(situation.pcs, item, template, indices))
    ready: list[int] = []
    for index in indices:
        wanted = (use.claim(index) for use in uses)
        lacking = next((name for name in wanted if name in situation.claims_waited_for), None)
        if lacking is None:
            ready.append(index)
        else:
            situation.pods_held_back[lacking] = situation.pods_held_back.get(lacking, 0) + 1
    return ready


def sweep(situation: Situation) -> None:
    """What nothing asked for in the whole pass."""
    for name, item in situation.tree.claims.items():
        if name not in situation.kept_claims:
            situation.writes.delete(item, "nothing uses it")


def _keep(situation: Situation, wanted: Iterable[WantedClaim]) -> None:
    for each in wanted:
        if each.name in situation.kept_claims:
            continue
        situation.kept_claims.add(each.name)
        live = situation.tree.claims.get(each.name)
        if live is None:
            _make(situation, each)
        elif observed.is_leaving(live, each.owner.uid):
            _see_off(situation, live)
        else:
            _put_back(situation, live, each)


def _make(situation: Situation, wanted: WantedClaim) -> None:
    template = _template(situation, wanted)
    if template is not None:
        situation.writes.claims.append(Create(expand.to_object(situation.pcs, wanted, template)))
        return
    reference = wanted.reference
    situation.claims_waited_for[wanted.name] = ClaimWait(
        Reason.AWAITING_DEPENDENCY,
        situation.source.created_at,
        f"there is no ResourceClaimTemplate {_namespace(situation, wanted)}/{reference.name}",
        "make one, of resource.k8s.io/v1; what uses it goes on then",
    )


def _template(situation: Situation, wanted: WantedClaim) -> Mapping[str, Any] | None:
    own = expand.template_of_set(situation.pcs, wanted.reference)
    if own is not None:
        return own
    template = situation.tree.claim_templates.get((_namespace(situation, wanted), wanted.reference.name))
    return template.spec if template is not None else None


def _namespace(situation: Situation, wanted: WantedClaim) -> str:
    return wanted.reference.namespace or situation.pcs.namespace


def _see_off(situation: Situation, live: Object) -> None:
    """Its owner is another one than before, or somebody has deleted it."""
    situation.writes.delete(live, "its owner is gone")
    since = live.deleted_at if live.deleted_at is not None else situation.now
    situation.claims_waited_for[live.name] = ClaimWait(
        Reason.TERMINATING,
        since,
        "on its way out",
        "it is made again when it is gone, which it is when no pod has it any more",
    )


def _put_back(situation: Situation, live: Object, wanted: WantedClaim) -> None:
    owners = (wanted.owner,)
    if wanted.labels.items() <= live.labels.items() and live.owners == owners:
        return
    different = [f"label {key}" for key, value in wanted.labels.items() if live.labels.get(key) != value]
    if live.owners != owners:
        different.append("ownerReferences")
    situation.writes.update(replace(live, labels={**live.labels, **wanted.labels}, owners=owners))
    children.say(situation, live, "is put back", ", ".join(different))


def waits(situation: Situation) -> Iterator[tuple[str, int, ClaimWait]]:
    """Each claim that no pod may use yet, and how many of them wait for it."""
    for name, wait in situation.claims_waited_for.items():
        yield name, situation.pods_held_back.get(name, 0), wait
