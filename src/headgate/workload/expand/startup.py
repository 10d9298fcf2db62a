"""Startup order: which PodCliques have to be up before the pods of another one start."""

from headgate.workload import model, names
from headgate.workload.model import Clique, PodCliqueSet, ScalingGroup

DEFAULT_SCHEDULER = "default-scheduler"


def is_gated(pcs: PodCliqueSet) -> bool:
    """Whether the gates of its pods can hold the order, on a cluster whose own scheduler binds pod by pod. Another one
    that a set names may bind gangs whole, and would never bind one of which a part waits for the other to be up."""
    named = {clique.pod_spec.get("schedulerName") or DEFAULT_SCHEDULER for clique in pcs.template.cliques}
    return pcs.template.startup_type != model.ANY_ORDER and named == {DEFAULT_SCHEDULER}


def parents(pcs: PodCliqueSet, clique: Clique) -> tuple[str, ...]:
    """Names of cliques in the template."""
    template = pcs.template
    if template.startup_type == model.EXPLICIT:
        return clique.starts_after
    if template.startup_type == model.IN_ORDER:
        position = [other.name for other in template.cliques].index(clique.name)
        return (template.cliques[position - 1].name,) if position else ()
    return ()


def of_standalone(pcs: PodCliqueSet, pcs_index: int, clique: Clique) -> tuple[str, ...]:
    return _in_base_gang(pcs, pcs_index, clique)


def of_member(
    pcs: PodCliqueSet, pcs_index: int, group: ScalingGroup, group_index: int, clique: Clique
) -> tuple[str, ...]:
    """A scaled gang starts long after its base gang, so it orders only what is inside it."""
    if group_index < group.min_available:
        return _in_base_gang(pcs, pcs_index, clique)
    return tuple(
        names.member_clique(pcs.name, pcs_index, group.name, group_index, parent)
        for parent in parents(pcs, clique)
        if parent in group.clique_names
    )


def _in_base_gang(pcs: PodCliqueSet, pcs_index: int, clique: Clique) -> tuple[str, ...]:
    cliques: list[str] = []
    for parent in parents(pcs, clique):
        group = pcs.template.group_of.get(parent)
        if group is None:
            cliques.append(names.standalone_clique(pcs.name, pcs_index, parent))
        else:
            cliques.extend(
                names.member_clique(pcs.name, pcs_index, group.name, group_index, parent)
                for group_index in range(group.min_available)
            )
    return tuple(cliques)
