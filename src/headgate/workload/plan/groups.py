"""The replicas of one scaling group: each is a set of cliques that come and go together."""

from collections.abc import Iterable, Mapping

from headgate.kernel import budgets
from headgate.kernel.budgets import Limits
from headgate.kernel.conditions import since
from headgate.kernel.objects import Object
from headgate.kernel.units import Unit
from headgate.workload import labels, model
from headgate.workload.expand import expansion as expand
from headgate.workload.expand.revisions import Revision
from headgate.workload.model import ScalingGroup
from headgate.workload.plan import child_status, children, claims, cliques, conditions, observed, origins
from headgate.workload.plan.cliques import Rules
from headgate.workload.plan.origins import Origins
from headgate.workload.plan.situation import Situation


def plan(
    situation: Situation,
    group: observed.ObservedGroup,
    template: ScalingGroup,
    item: Object,
    wanted: Revision,
    rules: Rules,
    *,
    is_at_target: bool,
    is_moved_in_place: bool,
) -> set[int]:
    """Says which replicas there are to be after this pass. `is_moved_in_place`: member cliques take over the wanted
    revision and leave their pods to whoever deletes them."""
    claims.of_group(situation, group, template, item, rules.limits.replicas)
    units = [
        Unit(
            index=replica.index,
            is_available=replica.is_available,
            is_outdated=not replica.is_at(wanted),
            is_going=replica.is_going,
        )
        for replica in group.replicas.values()
    ]
    step = budgets.step(units, rules.limits, may_update=rules.may_update, keeps_surge=rules.keeps_surge)
    replaced = [unit.index for unit in step.replaced]
    leaving = {*replaced, *(unit.index for unit in step.removed)}
    for index in sorted(leaving):
        is_surge = rules.keeps_surge and index < rules.limits.ceiling
        reason = "update" if index in replaced else "surge is over" if is_surge else "scale-in"
        _delete(situation, group.replicas[index], wanted, reason)
    origin = origins.read(
        situation,
        item,
        rules.limits.replicas,
        *_revisions_of_replicas(situation, group, wanted),
        is_at_target=is_at_target,
    )
    for index in step.create:
        revision = situation.revision(origin.revision_hash(situation, index, wanted.hash))
        _create(situation, template, item, index, revision, template.clique_names)
    staying: set[int] = set(step.create)
    for replica in group.replicas.values():
        if replica.is_going:
            _delete(situation, replica, wanted, "its owner is gone")
        elif replica.index not in leaving:
            staying.add(replica.index)
            _upkeep(situation, template, item, replica, wanted, is_moved_in_place=is_moved_in_place)
    child_status.of_group(
        situation,
        group,
        item,
        rules.limits,
        origin,
        ",".join(wanted.clique_hashes.get(name, "") for name in template.clique_names),
        [unit.index for unit in units if not unit.is_outdated],
        replaced,
    )
    return staying


def _revisions_of_replicas(
    situation: Situation, group: observed.ObservedGroup, wanted: Revision
) -> tuple[dict[int, str], dict[int, str]]:
    if not situation.is_aborted:
        return {}, {}
    live = [replica for replica in group.replicas.values() if not replica.is_going]
    present = {replica.index: _own_revision(replica) for replica in live}
    return present, {replica.index: present[replica.index] for replica in live if not replica.is_at(wanted)}


def _own_revision(replica: observed.GroupReplica) -> str:
    return next(
        clique.live_object.labels.get(labels.REVISION, "")
        for clique in replica.cliques.values()
        if clique.live_object is not None
    )


def _delete(situation: Situation, replica: observed.GroupReplica, wanted: Revision, reason: str) -> None:
    """Cliques whose content did not change go first: whatever is left when the planner stops in between is then still
    outdated, and goes too."""
    ordered = sorted(
        replica.cliques.values(),
        key=lambda clique: not clique.has_only(wanted.clique_hashes.get(clique.clique_name, "")),
    )
    for clique in ordered:
        if clique.object is not None:
            situation.writes.delete(clique.object, reason)
    for clique in ordered:
        situation.writes.delete_clique(clique, reason)


def _create(
    situation: Situation,
    template: ScalingGroup,
    item: Object,
    index: int,
    revision: Revision,
    names: Iterable[str],
) -> None:
    for name in names:
        clique = situation.pcs.template.clique(name)
        situation.writes.create(expand.member_clique(situation.pcs, revision, item, template, index, clique))


def _upkeep(
    situation: Situation,
    template: ScalingGroup,
    item: Object,
    replica: observed.GroupReplica,
    wanted: Revision,
    *,
    is_moved_in_place: bool,
) -> None:
    """A clique that is missing comes back as its siblings are: a replica of the group is of one revision. A member has
    no budget of its own; scaling it in must not cost the group a replica."""
    taken = _taken_indices(item)
    for name, clique in replica.cliques.items():
        live = clique.live_object
        if live is None:
            if clique.is_held:
                if clique.object is None:
                    children.note_lost(situation, model.CLIQUE_KIND, clique.name, iter(clique.pods))
                situation.writes.delete_clique(clique, "its owner is gone")
            else:
                is_moved = _follows(situation, replica.cliques, wanted)
                revision = situation.revision(wanted.hash if is_moved else _own_revision(replica))
                _create(situation, template, item, replica.index, revision, (name,))
            continue
        live = _up_to_date(situation, template, item, replica, live, name, wanted, is_moved_in_place)
        limits = Limits(int(live.spec["replicas"]), 0, 1)
        cliques.plan(situation, clique, live, Rules(limits))
        child_status.of_clique(
            situation, clique, live, limits, Origins(limits.replicas), is_taken=replica.index in taken
        )


def _follows(situation: Situation, members: Mapping[str, observed.ObservedClique], wanted: Revision) -> bool:
    """Where replicas are recreated whole, what is wanted is what a replica's pods are: a clique that was moved ahead of
    its pods while somebody else was to delete them goes back to them."""
    return situation.strategy == "ReplicaRecreate" and all(
        clique.hashes <= {wanted.clique_hashes.get(name)} for name, clique in members.items()
    )


def _taken_indices(item: Object) -> frozenset[int]:
    progress = item.status.get("rollingUpdateProgress")
    if not progress:
        return frozenset()
    return frozenset((progress.get("readyReplicaIndicesSelectedToUpdate") or {}).get("current") or ())


def _up_to_date(
    situation: Situation,
    template: ScalingGroup,
    item: Object,
    replica: observed.GroupReplica,
    live: Object,
    name: str,
    wanted: Revision,
    is_moved_in_place: bool,
) -> Object:
    """Replicas follow the template; the revision only where its content is the same or somebody else deletes."""
    clique = situation.pcs.template.clique(name)
    own_hash = live.labels.get(labels.REVISION)
    takes_over = own_hash != wanted.hash and (
        is_moved_in_place
        or live.labels.get(labels.POD_TEMPLATE_HASH) == wanted.clique_hashes.get(name)
        or _follows(situation, {name: replica.cliques[name]}, wanted)
    )
    if not takes_over and live.spec.get("replicas") == clique.replicas:
        return live
    revision = wanted if takes_over else situation.revision(own_hash)
    built = expand.member_clique(situation.pcs, revision, item, template, replica.index, clique)
    return cliques.moved(situation, live, built)


def breached_since(replica: observed.GroupReplica) -> int | None:
    """Since when a member that was available once has had too few ready pods by no doing of an update."""
    moments = [
        moment
        for clique in replica.cliques.values()
        if clique.live_object is not None
        and not clique.is_available
        and "firstAvailableAt" in clique.live_object.status
        and (moment := since(clique.live_object.status, conditions.BREACHED, "True")) is not None
    ]
    return min(moments, default=None)
