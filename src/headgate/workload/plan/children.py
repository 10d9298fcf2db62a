"""The children of a set are its own: what somebody else edited is put back, and what they deleted is made again.

This comes before anything is decided. An edited label must neither count as another revision, so that a healthy
replica would be replaced for it, nor may a pod start from a template that no revision has. What is found intact is
not touched; labels and annotations that others added stay.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from headgate.kernel.objects import Key, Object
from headgate.workload import labels, model
from headgate.workload.expand import expansion as expand
from headgate.workload.expand.revisions import Revision
from headgate.workload.model import Clique, ScalingGroup
from headgate.workload.plan import observed
from headgate.workload.plan.situation import Announcement, Situation

Build = Callable[[Revision, int], Object]
"""The child at a revision, with so many replicas."""
Verb = Literal["is put back", "is made again"]

replace = msgspec.structs.replace


class ChildrenCache:
    """Children that were found intact, so that what nobody wrote since need not be built again to compare it. Nothing
    here decides: an empty cache gives the same plan."""

    def __init__(self) -> None:
        self._intact: dict[str, tuple[Object, object]] = {}

    def knows(self, live: Object, of: Object) -> bool:
        """The very object, as part of the very set: neither is ever changed in place."""
        known = self._intact.get(live.uid)
        return known is not None and known[0] is live and known[1] is of.spec

    def keep(self, live: Object, of: Object) -> None:
        if len(self._intact) > MOST_KEPT:
            self._intact.clear()
        self._intact[live.uid] = (live, of.spec)


MOST_KEPT = 100_000


def restore(situation: Situation, cache: ChildrenCache) -> None:
    """PodCliques and scaling groups; a replica that is torn down is left to go."""
    _Restoring(situation, cache).run()


class _Restoring:
    def __init__(self, situation: Situation, cache: ChildrenCache) -> None:
        self._situation = situation
        self._cache = cache

    def run(self) -> None:
        situation = self._situation
        template = situation.pcs.template
        for index, replica in situation.tree.replicas.items():
            record = situation.persisted.records.get(index)
            if record is None or record.is_torn_down:
                continue
            for clique in template.standalone_cliques:
                self._standalone(index, replica.cliques[clique.name], clique, record.revision)
            for group in template.scaling_groups:
                self._group(index, replica.groups[group.name], group, record.revision)

    def _standalone(self, index: int, clique: observed.ObservedClique, template: Clique, own: str) -> None:
        live = clique.live_object
        if live is None or self._cache.knows(live, self._situation.source):
            return
        pcs, is_autoscaled = self._situation.pcs, template.auto_scaling is not None

        def build(revision: Revision, replicas: int) -> Object:
            return expand.standalone_clique(pcs, revision, index, template, replicas=replicas)

        clique.object = self._restored(live, build, None if is_autoscaled else template.replicas, own)

    def _group(self, index: int, group: observed.ObservedGroup, template: ScalingGroup, own: str) -> None:
        live = group.live_object
        if live is None:
            return
        if not self._cache.knows(live, self._situation.source):
            pcs, is_autoscaled = self._situation.pcs, template.scale_config is not None

            def build(revision: Revision, replicas: int) -> Object:
                return expand.scaling_group(pcs, revision, index, template, replicas=replicas)

            live = self._restored(live, build, None if is_autoscaled else template.replicas, own)
            group.object = live
        for replica in group.replicas.values():
            for name, clique in replica.cliques.items():
                self._member(live, template, replica.index, name, clique, own)

    def _member(
        self,
        owner: Object,
        template: ScalingGroup,
        index: int,
        name: str,
        clique: observed.ObservedClique,
        own: str,
    ) -> None:
        live = clique.live_object
        if live is None or self._cache.knows(live, self._situation.source):
            return
        pcs = self._situation.pcs
        part = pcs.template.clique(name)

        def build(revision: Revision, replicas: int) -> Object:
            return expand.member_clique(pcs, revision, owner, template, index, part, replicas=replicas)

        clique.object = self._restored(live, build, part.replicas, own)

    def _restored(self, live: Object, build: Build, wanted_replicas: int | None, own: str) -> Object:
        """How many replicas there are to be is decided later; here only who else has a say in it. `wanted_replicas` is
        None where an autoscaler has."""
        situation = self._situation
        given = live.spec.get("replicas")
        replicas = given if isinstance(given, int) and not isinstance(given, bool) else wanted_replicas or 0
        if wanted_replicas not in (None, replicas):
            say(situation, live, "is put back", "spec.replicas")
        known = situation.tree.revisions.get(live.labels.get(labels.REVISION, ""))
        if known is not None and is_intact(live, build(known, replicas)):
            if wanted_replicas in (None, given):
                self._cache.keep(live, situation.source)
            return live
        revision = _revision_of(situation, live, own)
        if revision is None:
            return live
        wanted = build(revision, replicas)
        restored = put_back(live, wanted)
        say(situation, live, "is put back", ", ".join(_differences(live, wanted)))
        situation.writes.update(restored)
        return restored


def _revision_of(situation: Situation, live: Object, own: str) -> Revision | None:
    """By what the planner wrote into the status, which no edit of the object reaches; else by its replica."""
    noted = str(live.status.get("currentPodCliqueSetGenerationHash", ""))
    for known in (noted, live.labels.get(labels.REVISION, ""), own):
        if known in situation.tree.revisions:
            return situation.tree.revisions[known]
    return situation.newest if own == situation.newest.hash else None


def is_intact(live: Object, wanted: Object) -> bool:
    return (
        live.spec == wanted.spec
        and wanted.labels.items() <= live.labels.items()
        and wanted.annotations.items() <= live.annotations.items()
        and live.owners == wanted.owners
    )


def put_back(live: Object, wanted: Object) -> Object:
    return replace(
        live,
        labels={**live.labels, **wanted.labels},
        annotations={**live.annotations, **wanted.annotations},
        spec=wanted.spec,
        owners=wanted.owners,
    )


def _differences(live: Object, wanted: Object) -> Iterator[str]:
    for name, actual, expected in (
        ("label", live.labels, wanted.labels),
        ("annotation", live.annotations, wanted.annotations),
    ):
        yield from (f"{name} {key}" for key, value in expected.items() if actual.get(key) != value)
    fields = dict.fromkeys((*live.spec, *wanted.spec))
    yield from (f"spec.{key}" for key in fields if live.spec.get(key) != wanted.spec.get(key))
    if live.owners != wanted.owners:
        yield "ownerReferences"


def keep_service(situation: Situation, replica: observed.ObservedReplica) -> None:
    """The API server fills in fields of a Service that nobody wrote; only what the set says is compared."""
    wanted = expand.headless_service(situation.pcs, replica.index)
    live = replica.service
    if live is None:
        situation.writes.create(wanted)
        if any(clique.pods for clique in replica.all_cliques()):
            say(situation, wanted, "is made again")
        return
    if live.deleted_at is not None:
        return
    wanted = replace(wanted, spec={**live.spec, **wanted.spec})
    if not is_intact(live, wanted):
        situation.writes.update(put_back(live, wanted))
        say(situation, live, "is put back", ", ".join(_differences(live, wanted)))


def note_lost(situation: Situation, kind: str, name: str, pods: Iterator[observed.Pod]) -> None:
    """A parent that is gone while its pods run was deleted by somebody else; it comes back when they are gone. What a set
    finds that was never planned before is of one that had its name: that took its parents along."""
    is_known = "observedGeneration" in situation.source.status
    if is_known and any(pod.object.deleted_at is None for pod in pods):
        group = model.API_VERSION.partition("/")[0]
        key = Key(group, kind, situation.pcs.namespace, name)
        situation.events.append(
            Announcement(key, f"{kind} {name} was deleted by somebody else and is made again")
        )


def say(situation: Situation, item: Object, verb: Verb, what: str = "") -> None:
    """Nothing is said of what follows from an edit of the set itself, which its first pass still has to carry out."""
    if situation.source.status.get("observedGeneration") != situation.source.generation:
        return
    did = "changed" if verb == "is put back" else "deleted"
    where = f" ({what})" if what else ""
    message = f"{item.kind} {item.name} was {did} by somebody else{where} and {verb}"
    situation.events.append(Announcement(item.key, message))
