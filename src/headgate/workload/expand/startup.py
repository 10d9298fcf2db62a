"""Startup order: which PodCliques have to be up before the pods of another one start."""

from headgate.workload import model, names
from headgate.workload.model import Clique, PodCliqueSet, ScalingGroup


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
    found: list[str] = []
    for parent in parents(pcs, clique):
        group = pcs.template.group_of.get(parent)
        if group is None:
            found.append(names.standalone_clique(pcs.name, pcs_index, parent))
        else:
            found.extend(
                names.member_clique(pcs.name, pcs_index, group.name, group_index, parent)
                for group_index in range(group.min_available)
            )
    return tuple(found)
