"""Which pods are scheduled together: one base gang for a replica of the set, one scaled gang for each replica of a
scaling group beyond its minAvailable.

Membership follows from the index alone. A surge replica stands at or above `replicas`, which is never below
minAvailable, so it always has a gang of its own; and a surge replica that becomes a regular one when the group is
scaled out stays in the gang it is in.
"""

from collections.abc import Mapping

import msgspec

from headgate.workload import names
from headgate.workload.model import PodCliqueSet, ScalingGroup


class PodGroup(msgspec.Struct, frozen=True):
    """The pods of one PodClique; `name` is that object's name. Pods above `min_replicas` are best effort."""

    name: str
    clique: str
    min_replicas: int


class Gang(msgspec.Struct, frozen=True):
    name: str
    pcs_index: int
    groups: tuple[PodGroup, ...]
    base: str | None = None
    """For a scaled gang the base gang it waits for."""

    @property
    def is_base(self) -> bool:
        return self.base is None


class Membership(msgspec.Struct, frozen=True):
    gang: str
    base: str | None = None


def of_standalone(pcs: PodCliqueSet, pcs_index: int) -> Membership:
    return Membership(names.base_gang(pcs.name, pcs_index))


def of_member(pcs: PodCliqueSet, pcs_index: int, group: ScalingGroup, group_index: int) -> Membership:
    base = names.base_gang(pcs.name, pcs_index)
    if group_index < group.min_available:
        return Membership(base)
    return Membership(
        names.scaled_gang(pcs.name, pcs_index, group.name, group_index, group.min_available), base
    )


def expected(
    pcs: PodCliqueSet, pcs_index: int, group_replicas: Mapping[str, int] | None = None
) -> tuple[Gang, ...]:
    """The gangs of one replica of the set, the base gang first.

    `group_replicas` counts the live replicas of a group, surge included; the template's count stands in for a group
    that is not in it.
    """
    counts = group_replicas or {}
    base_name = names.base_gang(pcs.name, pcs_index)
    base_groups = [
        PodGroup(names.standalone_clique(pcs.name, pcs_index, clique.name), clique.name, clique.min_available)
        for clique in pcs.template.standalone_cliques
    ]
    scaled: list[Gang] = []
    for group in pcs.template.scaling_groups:
        for group_index in range(counts.get(group.name, group.replicas)):
            pod_groups = of_group_replica(pcs, pcs_index, group, group_index)
            membership = of_member(pcs, pcs_index, group, group_index)
            if membership.base is None:
                base_groups.extend(pod_groups)
            else:
                scaled.append(Gang(membership.gang, pcs_index, pod_groups, membership.base))
    return (Gang(base_name, pcs_index, tuple(base_groups)), *scaled)


def of_group_replica(
    pcs: PodCliqueSet, pcs_index: int, group: ScalingGroup, group_index: int
) -> tuple[PodGroup, ...]:
    return tuple(
        PodGroup(
            names.member_clique(pcs.name, pcs_index, group.name, group_index, clique.name),
            clique.name,
            clique.min_available,
        )
        for clique in pcs.template.members(group)
    )
