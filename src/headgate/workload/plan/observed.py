"""The objects of a set as the tree they form: replicas, in them groups and cliques, in those pods.

Everything is found by label. An object whose owner is another incarnation than the live one is on its way out, even
if nobody has deleted it yet: the garbage collector will.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headgate.kernel import conditions
from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.workload import labels, model, names
from headgate.workload.expand import revisions
from headgate.workload.expand.revisions import Revision
from headgate.workload.model import PodCliqueSet


class Pod(msgspec.Struct, gc=False):
    """One that has ended is on its way out as well: nothing of it runs, it only stands in its index's way."""

    object: Object
    index: int
    is_going: bool
    is_bound: bool
    is_available: bool
    template_hash: str
    is_dead: bool = False


class ObservedClique(msgspec.Struct):
    """A PodClique and its pods. `object` is None when only pods are left, or nothing is there yet."""

    name: str
    clique_name: str
    min_available: int = 0
    object: Object | None = None
    is_going: bool = False
    pods: list[Pod] = []
    available: int = 0
    bound: int = 0
    live: int = 0
    indices: set[int] = set()
    """Of its pods that are not on their way out."""
    hashes: set[str] = set()
    """The template hashes of its pods that are not on their way out."""

    @property
    def is_held(self) -> bool:
        return self.object is not None or bool(self.pods)

    @property
    def live_object(self) -> Object | None:
        return None if self.is_going else self.object

    @property
    def is_available(self) -> bool:
        return self.available >= self.min_available and self.object is not None and not self.is_going

    def is_settled(self, replicas: int) -> bool:
        """Exactly the pods that are wanted, all of them available; whether of old or new content is not asked."""
        return (
            self.live == self.available == replicas == len(self.indices)
            and not self.is_going
            and self.object is not None
            and (not replicas or max(self.indices) < replicas)
        )

    def has_only(self, template_hash: str) -> bool:
        """Whether the clique and all of its pods that are to stay were built from that content."""
        item = self.object
        if (
            item is not None
            and not self.is_going
            and item.labels.get(labels.POD_TEMPLATE_HASH) != template_hash
        ):
            return False
        return not self.hashes or (len(self.hashes) == 1 and template_hash in self.hashes)


class GroupReplica(msgspec.Struct):
    """One replica of a scaling group; `cliques` has an entry for every member clique."""

    index: int
    cliques: dict[str, ObservedClique]
    is_going: bool = False
    """Nothing of it is to stay: what is left are objects and pods that are on their way out."""
    is_available: bool = False
    _content: dict[str, bool] = {}

    def __post_init__(self) -> None:
        self.is_going = all(clique.live_object is None for clique in self.cliques.values())
        self.is_available = all(clique.is_available for clique in self.cliques.values())

    @property
    def is_unscheduled(self) -> bool:
        return not any(clique.bound for clique in self.cliques.values())

    def is_at(self, revision: Revision) -> bool:
        known = self._content.get(revision.hash)
        if known is None:
            known = self._content[revision.hash] = has_content_of(self.cliques, revision)
        return known

    def count_as_gone(self) -> None:
        """What was just deleted is gone for the rest of the pass too."""
        self._content = {}
        self.is_going, self.is_available = True, False
        for clique in self.cliques.values():
            clique.is_going = True
            clique.available = clique.bound = clique.live = 0
            clique.hashes, clique.indices = set(), set()
            for pod in clique.pods:
                pod.is_going = True
                pod.is_available = False


class ObservedGroup(msgspec.Struct):
    name: str
    min_available: int = 0
    object: Object | None = None
    is_going: bool = False
    replicas: dict[int, GroupReplica] = {}
    available: int = 0

    @property
    def live_object(self) -> Object | None:
        return None if self.is_going else self.object

    @property
    def is_available(self) -> bool:
        return self.live_object is not None and self.available >= self.min_available


class ObservedReplica(msgspec.Struct):
    """One replica of the set. `objects` are all of its objects that are not pods, known or not."""

    index: int
    objects: list[Object] = []
    service: Object | None = None
    cliques: dict[str, ObservedClique] = {}
    """The standalone cliques by their name in the template."""
    groups: dict[str, ObservedGroup] = {}
    gangs: dict[str, Object] = {}
    strays: list[ObservedClique] = []
    """Cliques that the template has no place for."""

    @property
    def is_held(self) -> bool:
        return bool(self.objects) or any(clique.pods for clique in self.all_cliques())

    def all_cliques(self) -> Iterator[ObservedClique]:
        yield from self.cliques.values()
        for group in self.groups.values():
            for replica in group.replicas.values():
                yield from replica.cliques.values()
        yield from self.strays

    @property
    def is_unscheduled(self) -> bool:
        return not any(clique.bound for clique in self.all_cliques())

    @property
    def is_available(self) -> bool:
        return all(clique.is_available for clique in self.cliques.values()) and all(
            group.is_available for group in self.groups.values()
        )

    def is_at(self, revision: Revision) -> bool:
        """Nothing that is to stay was built from other content; what is not there yet does not count."""
        return has_content_of(self.cliques, revision) and all(
            replica.is_at(revision) for group in self.groups.values() for replica in group.replicas.values()
        )

    def has_pods_only_of(self, revision: Revision) -> bool:
        """Whatever its cliques say they build from now."""
        cliques = [clique for clique in self.all_cliques() if clique.hashes]
        return bool(cliques) and all(
            clique.hashes == {revision.clique_hashes.get(clique.clique_name)} for clique in cliques
        )


def has_content_of(cliques: Mapping[str, ObservedClique], revision: Revision) -> bool:
    hashes = revision.clique_hashes
    return all(clique.has_only(hashes.get(name, "")) for name, clique in cliques.items())


class Tree(msgspec.Struct):
    replicas: dict[int, ObservedReplica]
    revisions: dict[str, Revision]
    revision_objects: dict[str, Object]
    claims: dict[str, Object]
    """By name; those of a replica are among its objects, too."""
    claim_templates: dict[tuple[str, str], Object]
    """Those of the cluster that the set refers to, by namespace and name. They are not the set's."""


def read(pcs: PodCliqueSet, items: Sequence[Object]) -> Tree:
    pods: dict[str, list[Object]] = {}
    by_replica: dict[int, list[Object]] = {}
    revision_objects: dict[str, Object] = {}
    known: dict[str, Revision] = {}
    items_of_cliques: list[Object] = []
    claims: dict[str, Object] = {}
    claim_templates: dict[tuple[str, str], Object] = {}
    prefix = f"{pcs.name}-"
    for item in items:
        kind = item.kind
        if kind == "Pod":
            name = item.labels.get(labels.POD_CLIQUE, "")
            pods_of_name = pods.get(name)
            if pods_of_name is None:
                pods[name] = [item]
            else:
                pods_of_name.append(item)
        elif kind == revisions.KIND:
            revision = _revision(item)
            if revision is not None:
                known[revision.hash] = revision
                revision_objects[revision.hash] = item
        elif kind == model.CLAIM_TEMPLATE_KIND:
            claim_templates[item.namespace, item.name] = item
        elif kind != model.KIND:
            if kind == model.CLIQUE_KIND:
                items_of_cliques.append(item)
            elif kind == model.CLAIM_KIND:
                claims[item.name] = item
            index = replica_index(item)
            if index is None or not f"{item.name}-".startswith(f"{prefix}{index}-"):
                by_name = names.index_of_replica(pcs.name, item.name)
                index = index if by_name is None else by_name
            if index is not None:
                by_replica.setdefault(index, []).append(item)
    for group in pods.values():
        index = replica_index(group[0])
        if index is not None:
            by_replica.setdefault(index, [])
    group_indices = _group_indices(pcs, items_of_cliques, pods)
    replicas = {
        index: _replica(pcs, index, objects, pods, group_indices)
        for index, objects in sorted(by_replica.items())
    }
    _place_strays(replicas, pods)
    return Tree(replicas, known, revision_objects, claims, claim_templates)


def _revision(item: Object) -> Revision | None:
    """What somebody else put there under our label is not ours to fail on."""
    if item.deleted_at is not None:
        return None
    try:
        return revisions.from_object(item)
    except Rejected:
        return None


def replica_index(item: Object) -> int | None:
    return _number(item.labels.get(labels.PCS_REPLICA_INDEX))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _replica(
    pcs: PodCliqueSet,
    index: int,
    objects: list[Object],
    pods: dict[str, list[Object]],
    group_indices: Mapping[str, set[int]],
) -> ObservedReplica:
    """Takes out of `pods` what belongs here."""
    replica = ObservedReplica(index, objects)
    clique_objects: dict[str, Object] = {}
    group_objects: dict[str, Object] = {}
    for item in objects:
        if item.kind == model.CLIQUE_KIND:
            clique_objects[item.name] = item
        elif item.kind == model.SCALING_GROUP_KIND:
            group_objects[item.name] = item
        elif item.kind == model.GANG_KIND:
            replica.gangs[item.name] = item
        elif item.kind == "Service":
            replica.service = item
    for clique in pcs.template.standalone_cliques:
        name = names.standalone_clique(pcs.name, index, clique.name)
        replica.cliques[clique.name] = _clique(
            name, clique.name, clique.min_available, clique_objects, pods, pcs.uid
        )
    for group in pcs.template.scaling_groups:
        name = names.scaling_group(pcs.name, index, group.name)
        group_object = group_objects.get(name)
        state = ObservedGroup(name, group.min_available, group_object)
        state.is_going = group_object is not None and is_leaving(group_object, pcs.uid)
        owner = group_object.uid if group_object is not None and not state.is_going else ""
        members = pcs.template.members(group)
        for group_index in sorted(group_indices.get(name, ())):
            state.replicas[group_index] = GroupReplica(
                group_index,
                {
                    member.name: _clique(
                        names.member_clique(pcs.name, index, group.name, group_index, member.name),
                        member.name,
                        member.min_available,
                        clique_objects,
                        pods,
                        owner,
                    )
                    for member in members
                },
            )
            state.available += state.replicas[group_index].is_available
        replica.groups[group.name] = state
    for name, item in tuple(clique_objects.items()):
        replica.strays.append(_clique(name, "", 0, {name: item}, pods, pcs.uid))
    return replica


def _group_indices(
    pcs: PodCliqueSet, clique_objects: Sequence[Object], pods: Mapping[str, Sequence[Object]]
) -> dict[str, set[int]]:
    """By the name of the group's object, which has the index of the set's replica in it.

    A clique's own name decides, since somebody may have edited its labels; of pods alone only labels tell.
    """
    indices: dict[str, set[int]] = {}
    for item in clique_objects:
        labelled = item.labels.get(labels.SCALING_GROUP)
        index = item.labels.get(labels.SCALING_GROUP_REPLICA_INDEX)
        if labelled is not None and item.name.startswith(f"{labelled}-{index}-"):
            found_index = _number(index)
            if found_index is not None:
                indices.setdefault(labelled, set()).add(found_index)
            continue
        for group in pcs.template.scaling_groups:
            place = names.place_in_group(pcs.name, group.name, group.clique_names, item.name)
            if place is not None:
                indices.setdefault(place[0], set()).add(place[1])
    with_object = {item.name for item in clique_objects}
    for name, pods_of_name in pods.items():
        group_name = pods_of_name[0].labels.get(labels.SCALING_GROUP)
        number = _number(pods_of_name[0].labels.get(labels.SCALING_GROUP_REPLICA_INDEX))
        if name not in with_object and group_name is not None and number is not None:
            indices.setdefault(group_name, set()).add(number)
    return indices


def _clique(
    name: str,
    clique_name: str,
    min_available: int,
    objects: dict[str, Object],
    pods: dict[str, list[Object]],
    owner: str,
) -> ObservedClique:
    item = objects.pop(name, None)
    clique = ObservedClique(name, clique_name, min_available, item)
    clique.is_going = item is not None and is_leaving(item, owner)
    uid = item.uid if item is not None and not clique.is_going else ""
    _add_pods(clique, pods.pop(name, ()), uid)
    return clique


def _add_pods(clique: ObservedClique, items: Sequence[Object], owner: str) -> None:
    """The one loop that runs for every pod in every pass."""
    live = bound = available = 0
    add, add_index, add_hash = clique.pods.append, clique.indices.add, clique.hashes.add
    hash_label, index_label, numbers = labels.POD_TEMPLATE_HASH, labels.POD_INDEX, _SMALL_NUMBERS
    for item in items:
        owners, status, item_labels = item.owners, item.status, item.labels
        is_dead = status.get("phase") in ENDED
        is_going = (
            is_dead or item.deleted_at is not None or not owner or (owners != () and owners[0].uid != owner)
        )
        is_bound = "nodeName" in item.spec or status.get("scheduled") is True
        ready = status.get("ready")
        is_available = is_bound and not is_going and (ready is True or (ready is None and is_ready(status)))
        template_hash = item_labels.get(hash_label, "")
        index = numbers.get(item_labels.get(index_label, ""), -1)
        if index < 0:
            index = _index_of(item)
        add(Pod(item, index, is_going, is_bound, is_available, template_hash, is_dead))
        if not is_going:
            live += 1
            bound += is_bound
            available += is_available
            add_index(index)
            add_hash(template_hash)
    clique.live, clique.bound, clique.available = live, bound, available


def is_ready(status: Mapping[str, Any]) -> bool:
    """For a pod whose status is written as Kubernetes writes it."""
    return conditions.is_true(status, "Ready")


ENDED = ("Failed", "Succeeded")
"""The phases of a pod that never runs again: evicted, preempted, rejected by its node, or simply over."""

NO_INDEX = 1 << 30
"""A pod without a readable index is one too many."""


_SMALL_NUMBERS = {str(number): number for number in range(1_000)}


def _index_of(item: Object) -> int:
    index = _number(item.labels.get(labels.POD_INDEX))
    if index is None:
        index = names.index_of_hostname(str(item.spec.get("hostname", "")))
    return NO_INDEX if index is None else index


def is_leaving(item: Object, owner: str) -> bool:
    return item.deleted_at is not None or (bool(item.owners) and item.owners[0].uid != owner)


def _place_strays(replicas: dict[int, ObservedReplica], pods: Mapping[str, Sequence[Object]]) -> None:
    """Pods of cliques that neither exist nor have a place in the template."""
    for name, group in pods.items():
        index = replica_index(group[0])
        if index is not None:
            clique = ObservedClique(name, "")
            _add_pods(clique, group, "")
            replicas[index].strays.append(clique)
