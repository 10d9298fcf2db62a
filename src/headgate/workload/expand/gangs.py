"""Which pods are scheduled together: one base gang for a replica of the set, one scaled gang for each replica of a
scaling group beyond its minAvailable.

Membership follows from the index alone. A surge replica stands at or above `replicas`, which is never below
minAvailable, so it always has a gang of its own; and a surge replica that becomes a regular one when the group is
scaled out stays in the gang it is in.
"""

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
