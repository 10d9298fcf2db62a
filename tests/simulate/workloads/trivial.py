"""A planner that builds what a set wants and replaces what is outdated all at once, heedless of every budget."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from headgate.kernel.decisions import Reason
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, DeleteObject, Object, Update, UpdateStatus
from headgate.workload import labels, model, names
from headgate.workload.expand import expansion as expand
from headgate.workload.expand import gangs, revisions
from headgate.workload.expand.gangs import Gang, PodGroup
from headgate.workload.model import PodCliqueSet
from headgate.workload.plan import children
from headgate.workload.plan.situation import Announcement


class Plan(msgspec.Struct, frozen=True):
    actions: tuple[Action, ...]
    requeue_at: Instant | None = None
    stuck: tuple[object, ...] = ()
    events: tuple[Announcement, ...] = ()

    def waiting(self) -> tuple[Reason, ...]:
        return ()


def plan(
    item: Object,
    observed: Sequence[Object],
    now: Instant,
    ids: IdSource,
    sets: Sequence[Object] = (),
    remembered: children.ChildrenCache | None = None,
) -> Plan:
    pcs = model.read(item)
    there = {part.key: part for part in observed}
    status = UpdateStatus(item.key, item.uid, {"observedGeneration": item.generation})
    return Plan((status, *_actions(pcs, there, now, ids)))


def _actions(pcs: PodCliqueSet, there: dict[Any, Object], now: Instant, ids: IdSource) -> Iterator[Action]:
    revision = revisions.of(pcs, ())
    wanted = list(_wanted(pcs, revision, there))
    for part in wanted:
        found = there.get(part.key)
        if found is None:
            yield Create(part)
        elif found.kind == model.CLIQUE_KIND and found.labels != part.labels:
            yield Update(msgspec.structs.replace(found, labels=part.labels, spec=part.spec))
        elif found.kind == model.SCALING_GROUP_KIND and found.spec != part.spec:
            yield Update(msgspec.structs.replace(found, spec=part.spec))
    keys = {part.key for part in wanted}
    for key, part in there.items():
        if part.kind == model.CLIQUE_KIND and key not in keys:
            yield DeleteObject(key, part.uid)
        elif part.kind == model.CLIQUE_KIND:
            yield from _pods(pcs, part, there, now, ids)


def _wanted(pcs: PodCliqueSet, revision: revisions.Revision, there: dict[Any, Object]) -> Iterator[Object]:
    for index in range(pcs.replicas):
        yield expand.headless_service(pcs, index)
        for gang in _gangs(pcs, index):
            yield expand.pod_gang(pcs, revision, gang)
        for clique in pcs.template.standalone_cliques:
            yield expand.standalone_clique(pcs, revision, index, clique)
        for group in pcs.template.scaling_groups:
            made = expand.scaling_group(pcs, revision, index, group)
            yield made
            found = there.get(made.key)
            for replica in range(group.replicas) if found is not None else ():
                for clique in pcs.template.members(group):
                    yield expand.member_clique(pcs, revision, found, group, replica, clique)


def _gangs(pcs: PodCliqueSet, index: int) -> Iterator[Gang]:
    base = names.base_gang(pcs.name, index)
    own = [
        PodGroup(names.standalone_clique(pcs.name, index, clique.name), clique.name, clique.min_available)
        for clique in pcs.template.standalone_cliques
    ]
    for group in pcs.template.scaling_groups:
        for replica in range(group.replicas):
            groups = gangs.of_group_replica(pcs, index, group, replica)
            membership = gangs.of_member(pcs, index, group, replica)
            if membership.base is None:
                own.extend(groups)
            else:
                yield Gang(membership.gang, index, groups, membership.base)
    yield Gang(base, index, tuple(own))


def _pods(
    pcs: PodCliqueSet, clique: Object, there: dict[Any, Object], now: Instant, ids: IdSource
) -> Iterator[Action]:
    own = [
        part
        for part in there.values()
        if part.kind == "Pod" and part.labels[labels.POD_CLIQUE] == clique.name and part.deleted_at is None
    ]
    for pod in own:
        if pod.labels[labels.POD_TEMPLATE_HASH] != clique.labels[labels.POD_TEMPLATE_HASH]:
            yield DeleteObject(pod.key, pod.uid)
        elif pod.spec["schedulingGates"]:
            yield Update(msgspec.structs.replace(pod, spec={**pod.spec, "schedulingGates": []}))
    used = {names.index_of_hostname(pod.spec["hostname"]) for pod in own}
    free = [index for index in range(clique.spec["replicas"]) if index not in used]
    for pod in expand.pods(pcs, clique, free, ids):
        yield Create(pod)
