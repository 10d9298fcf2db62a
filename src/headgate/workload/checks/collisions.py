"""Two sets of one namespace whose children would have the same names: the one that came first keeps them.

Names follow from indices, and a set may be scaled at any time, so an index counts as every number.
"""

from collections.abc import Iterable, Iterator, Sequence

from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.workload import model
from headgate.workload.model import PodCliqueSet, SharingReference

_ANY_INDEX = "#"
Pattern = tuple[str, tuple[str, ...]]
"""A kind, and the parts of a name between its dashes."""


def first_taken(pcs: PodCliqueSet, others: Iterable[Object]) -> tuple[Object, str] | None:
    """The other set that has a name which this one wants, and what would be the same of both."""
    for other in others:
        if other.namespace != pcs.namespace or not _may_meet(pcs.name, other.name):
            continue
        shared = _shared_with(pcs, other)
        if shared is not None:
            return other, shared
    return None


def is_before(other: Object, pcs: Object) -> bool:
    return (other.created_at, other.name) < (pcs.created_at, pcs.name)


def sentence(other: Object, shared: str) -> str:
    return f"its {shared} would have the name of one of PodCliqueSet {other.name}"


def _may_meet(first: str, two: str) -> bool:
    """All names begin with that of the set, so one of them must be the beginning of the other."""
    return first != two and (first.startswith(f"{two}-") or two.startswith(f"{first}-"))


def _shared_with(pcs: PodCliqueSet, other: Object) -> str | None:
    """A set that cannot be read builds nothing, so it takes no names."""
    try:
        return _shared(pcs, model.read(other))
    except Rejected:
        return None


def _shared(first: PodCliqueSet, two: PodCliqueSet) -> str | None:
    theirs = list(_patterns(two))
    for kind, parts in _patterns(first):
        if any(kind == other and _can_be_equal(parts, its) for other, its in theirs):
            return f"{kind} {'-'.join('N' if part == _ANY_INDEX else part for part in parts)}"
    return None


def _patterns(pcs: PodCliqueSet) -> Iterator[Pattern]:
    own = (*pcs.name.split("-"), _ANY_INDEX)
    yield "Service", own
    yield model.GANG_KIND, own
    for clique in pcs.template.standalone_cliques:
        yield model.CLIQUE_KIND, (*own, *clique.name.split("-"))
    for group in pcs.template.scaling_groups:
        in_group = (*own, *group.name.split("-"))
        yield model.SCALING_GROUP_KIND, in_group
        yield model.GANG_KIND, (*in_group, _ANY_INDEX)
        for name in group.clique_names:
            yield model.CLIQUE_KIND, (*in_group, _ANY_INDEX, *name.split("-"))
    for _, parts in _claims(pcs):
        yield model.CLAIM_KIND, parts


def repeated_claim(pcs: PodCliqueSet) -> tuple[str, str] | None:
    """Two references of one set that would give a claim of the same name, by where they stand."""
    known = list(_claims(pcs))
    for index, (place, parts) in enumerate(known):
        for other, its in known[:index]:
            if _can_be_equal(parts, its):
                return place, other
    return None


def _claims(pcs: PodCliqueSet) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where the reference stands, and the parts of the name."""
    template, own = pcs.template, tuple(pcs.name.split("-"))
    owners: list[tuple[str, tuple[str, ...], Sequence[SharingReference]]] = [
        ("spec.template", own, template.resource_sharing)
    ]
    for position, group in enumerate(template.scaling_groups):
        in_group = (*own, _ANY_INDEX, *group.name.split("-"))
        owners.append((f"spec.template.podCliqueScalingGroups[{position}]", in_group, group.resource_sharing))
    for position, clique in enumerate(template.cliques):
        group_of = template.group_of.get(clique.name)
        above = (_ANY_INDEX, *group_of.name.split("-"), _ANY_INDEX) if group_of else (_ANY_INDEX,)
        in_clique = (*own, *above, *clique.name.split("-"))
        owners.append((f"spec.template.cliques[{position}]", in_clique, clique.resource_sharing))
    for place, parts, references in owners:
        for index, reference in enumerate(references):
            scope = _ANY_INDEX if reference.is_for_each else "all"
            yield f"{place}.resourceSharing[{index}]", (*parts, scope, *reference.name.split("-"))


def _can_be_equal(first: tuple[str, ...], two: tuple[str, ...]) -> bool:
    return len(first) == len(two) and all(
        a == b or (a == _ANY_INDEX and _is_index(b)) or (b == _ANY_INDEX and _is_index(a))
        for a, b in zip(first, two)
    )


def _is_index(part: str) -> bool:
    return part == "0" or (part.isascii() and part.isdigit() and not part.startswith("0"))
