"""Gangs name the pods that are to be scheduled together; a pod's gate opens when its gang knows it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.objects import Create, Object, Update
from headgate.workload import labels, names
from headgate.workload.expand import expansion as expand
from headgate.workload.expand import gangs, revisions
from headgate.workload.expand.gangs import Gang, PodGroup
from headgate.workload.expand.revisions import Revision
from headgate.workload.model import ScalingGroup
from headgate.workload.plan import children, observed
from headgate.workload.plan.situation import SCHEDULED_AT, Situation

replace = msgspec.structs.replace


def plan(
    situation: Situation,
    replica: observed.ObservedReplica,
    group_indices: Mapping[str, set[int]],
    wanted: Revision,
) -> None:
    """`wanted` is the revision of the replica, whose priority its gangs have."""
    by_name = {clique.name: clique for clique in replica.all_cliques()}
    expected = _expected(situation, replica, group_indices)
    base_stood = False
    for gang in expected:
        item = replica.gangs.get(gang.name)
        if gang.is_base:
            base_stood = item is not None and SCHEDULED_AT in item.annotations
            if not base_stood and item is not None and _is_scheduled(gang, by_name):
                base_stood = True
                item = _marked(situation, item)
        _sync(situation, gang, item, replica.gangs.get(gang.name), by_name, wanted)
        if gang.is_base or base_stood:
            for group in gang.groups:
                clique = by_name.get(group.name)
                if clique is not None and not waited_for(situation, clique, by_name):
                    _open_gates(situation, clique, replica.gangs.get(gang.name), group.name)
    expected_names = {gang.name for gang in expected}
    for name, item in replica.gangs.items():
        if name not in expected_names:
            situation.writes.delete(item, "no replica for it")


def _expected(
    situation: Situation, replica: observed.ObservedReplica, group_indices: Mapping[str, set[int]]
) -> list[Gang]:
    """The base gang always has its groups; a scaled gang lives as long as its replica of the scaling group is wanted
    or there."""
    pcs = situation.pcs
    base = names.base_gang(pcs.name, replica.index)
    base_groups = [
        PodGroup(clique.name, name, clique.min_available) for name, clique in replica.cliques.items()
    ]
    scaled: list[Gang] = []
    for template in pcs.template.scaling_groups:
        group = replica.groups[template.name]
        regular = int(group.object.spec.get("replicas", 0)) if group.object is not None else template.replicas
        regular = max(regular, template.min_available)
        for index in sorted({*range(regular), *group_indices.get(template.name, ())}):
            pod_groups = _pod_groups(situation, replica, template, index)
            if index < template.min_available:
                base_groups.extend(pod_groups)
            else:
                membership = gangs.of_member(pcs, replica.index, template, index)
                scaled.append(Gang(membership.gang, replica.index, pod_groups, base))
    return [Gang(base, replica.index, tuple(base_groups)), *scaled]


def _pod_groups(
    situation: Situation, replica: observed.ObservedReplica, template: ScalingGroup, index: int
) -> tuple[PodGroup, ...]:
    known = replica.groups[template.name].replicas.get(index)
    if known is None:
        return gangs.of_group_replica(situation.pcs, replica.index, template, index)
    return tuple(PodGroup(clique.name, name, clique.min_available) for name, clique in known.cliques.items())


def _is_scheduled(gang: Gang, by_name: Mapping[str, observed.ObservedClique]) -> bool:
    return all(
        group.name in by_name and by_name[group.name].bound >= group.min_replicas for group in gang.groups
    )


def _marked(situation: Situation, item: Object) -> Object:
    return replace(item, annotations={**item.annotations, SCHEDULED_AT: instants.show(situation.now)})


def _sync(
    situation: Situation,
    gang: Gang,
    item: Object | None,
    seen: Object | None,
    by_name: Mapping[str, observed.ObservedClique],
    wanted: Revision,
) -> None:
    if item is not None and item.deleted_at is not None:
        return
    references = {group.name: _references(situation, by_name.get(group.name)) for group in gang.groups}
    if item is None:
        built = expand.pod_gang(situation.pcs, wanted, gang, references)
        situation.writes.gangs.append(Create(built))
        if any(by_name[group.name].bound for group in gang.groups if group.name in by_name):
            children.say(situation, built, "is made again")
        return
    priority = revisions.template_at(situation.pcs, wanted).priority_class_name
    if (
        _priority(item) == priority
        and _says(item, gang, references)
        and _has_its_marks(situation, item, gang)
    ):
        if item is not seen:
            situation.writes.gangs.append(Update(item))
        return
    built = expand.pod_gang(situation.pcs, wanted, gang, references)
    situation.writes.gangs.append(
        Update(replace(item, spec=built.spec, labels={**item.labels, **built.labels}, owners=built.owners))
    )
    strange = _edited(situation, item, gang, priority)
    if strange:
        children.say(situation, item, "is put back", strange)


def _edited(situation: Situation, item: Object, gang: Gang, priority: str) -> str:
    """What differs of that which no pass of the planner changes by itself: minima, marks, and a priority that no
    revision has."""
    least_replicas = {group.get("name"): group.get("minReplicas") for group in _groups_of(item)}
    if any(least_replicas.get(group.name, group.min_replicas) != group.min_replicas for group in gang.groups):
        return "spec.podgroups"
    if _priority(item) != priority and not _is_followed(situation, _priority(item)):
        return "spec.priorityClassName"
    return "" if _has_its_marks(situation, item, gang) else "labels"


def _has_its_marks(situation: Situation, item: Object, gang: Gang) -> bool:
    return labels.of_replica(situation.pcs.name, gang.pcs_index).items() <= item.labels.items()


def _priority(item: Object) -> Any:
    return item.spec.get("priorityClassName", "")


def _is_followed(situation: Situation, priority: Any) -> bool:
    """Whether a revision has it: a gang goes with its replica from one to the next."""
    return any(
        priority == revisions.template_at(situation.pcs, revision).priority_class_name
        for revision in situation.tree.revisions.values()
    )


def _groups_of(item: Object) -> list[dict[str, Any]]:
    """Whatever somebody else wrote there."""
    groups = item.spec.get("podgroups")
    return [group for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []


def _references_of(group: Mapping[str, Any]) -> list[str]:
    references = group.get("podReferences")
    listed = references if isinstance(references, list) else []
    return [str(reference.get("name")) for reference in listed if isinstance(reference, dict)]


def _references(situation: Situation, clique: observed.ObservedClique | None) -> list[str]:
    if clique is None:
        return []
    deleted = situation.writes.deleted_uids
    names = [pod.object.name for pod in clique.pods if not pod.is_going and pod.object.uid not in deleted]
    names += situation.writes.created_pods.get(clique.name, ())
    names.sort()
    return names


def _says(item: Object, gang: Gang, references: Mapping[str, list[str]]) -> bool:
    groups = _groups_of(item)
    return len(groups) == len(gang.groups) and all(
        group_document.get("name") == group.name
        and group_document.get("minReplicas") == group.min_replicas
        and _references_of(group_document) == references[group.name]
        for group_document, group in zip(groups, gang.groups, strict=True)
    )


def waited_for(
    situation: Situation, clique: observed.ObservedClique, by_name: Mapping[str, observed.ObservedClique]
) -> list[str]:
    """The cliques that are not up yet, and for which the gates of this one's pods stay closed."""
    return parents_not_up(clique, by_name) if situation.gates_startup else []


def parents_not_up(
    clique: observed.ObservedClique, by_name: Mapping[str, observed.ObservedClique]
) -> list[str]:
    """The cliques that are not up yet, and that this one starts after."""
    item = clique.live_object
    named = item.spec.get("startsAfter") if item is not None else None
    return [
        str(name)
        for name in (named if isinstance(named, list) else ())
        if name not in by_name or not by_name[name].is_available
    ]


def _open_gates(
    situation: Situation, clique: observed.ObservedClique, gang: Object | None, group_name: str
) -> None:
    """Only for pods that the gang was seen to refer to: the scheduler must be able to know what belongs together."""
    if gang is None or clique.bound == clique.live:
        return
    known: set[str] | None = None
    for pod in clique.pods:
        item = pod.object
        if pod.is_going or pod.is_bound or item.uid in situation.writes.deleted_uids:
            continue
        gates = item.spec.get("schedulingGates") or ()
        if not any(gate.get("name") == labels.SCHEDULING_GATE for gate in gates):
            continue
        if known is None:
            known = _known_names(gang, group_name)
        if item.name in known:
            left = [gate for gate in gates if gate.get("name") != labels.SCHEDULING_GATE]
            situation.writes.gates.append(Update(replace(item, spec={**item.spec, "schedulingGates": left})))


def _known_names(gang: Object, group_name: str) -> set[str]:
    for group in _groups_of(gang):
        if group.get("name") == group_name:
            return set(_references_of(group))
    return set()
