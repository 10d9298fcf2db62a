"""What one replica of the set consists of: its service, cliques and groups, kept as its revision wants them."""

from headgate.kernel import budgets
from headgate.kernel.objects import Object
from headgate.workload import labels, model, names
from headgate.workload.expand import expansion as expand
from headgate.workload.expand.revisions import Revision
from headgate.workload.model import ComponentStrategy
from headgate.workload.plan import (
    belongings,
    child_status,
    children,
    claims,
    cliques,
    gang_upkeep,
    groups,
    observed,
    origins,
)
from headgate.workload.plan.cliques import Rules
from headgate.workload.plan.origins import Origins
from headgate.workload.plan.situation import Situation

_DEFAULT_STRATEGY = ComponentStrategy()


def plan(situation: Situation, index: int) -> None:
    replica = situation.tree.replicas.get(index) or _empty(situation, index)
    wanted = _wanted(situation, index, replica)
    children.keep_service(situation, replica)
    claims.of_replica(situation, index)
    for template in situation.pcs.template.standalone_cliques:
        _standalone(situation, index, replica.cliques[template.name], template, wanted)
    staying: dict[str, set[int]] = {}
    for group_template in situation.pcs.template.scaling_groups:
        group = replica.groups[group_template.name]
        staying[group_template.name] = _group(situation, index, group, group_template, wanted)
    for stray in replica.strays:
        situation.writes.delete_clique(stray, "not in the template")
    belongings.of_replica(situation, replica)
    gang_upkeep.plan(situation, replica, staying, wanted)


def _empty(situation: Situation, index: int) -> observed.ObservedReplica:
    pcs = situation.pcs
    return observed.ObservedReplica(
        index,
        cliques={
            clique.name: observed.ObservedClique(
                names.standalone_clique(pcs.name, index, clique.name), clique.name, clique.min_available
            )
            for clique in pcs.template.standalone_cliques
        },
        groups={
            group.name: observed.ObservedGroup(
                names.scaling_group(pcs.name, index, group.name), group.min_available
            )
            for group in pcs.template.scaling_groups
        },
    )


def _wanted(situation: Situation, index: int, replica: observed.ObservedReplica) -> Revision:
    """Where replicas are recreated whole, one that stands stays what its pods are: whatever is missing comes back so,
    even if a rolling update had begun to move the replica before the strategy was changed."""
    if situation.strategy == "ReplicaRecreate":
        own = next(
            (
                situation.revision(clique.live_object.labels.get(labels.REVISION))
                for clique in replica.all_cliques()
                if clique.live_object is not None
            ),
            None,
        )
        if own is not None and not replica.is_at(own):
            own = next(filter(replica.has_pods_only_of, _newest_first(situation)), own)
        if own is not None:
            return own
    return situation.revision(situation.record(index).revision)


def _newest_first(situation: Situation) -> list[Revision]:
    return sorted(situation.tree.revisions.values(), key=lambda revision: -revision.number)


def rules(
    situation: Situation,
    index: int,
    strategy: ComponentStrategy | None,
    replicas: int,
) -> Rules:
    """Components roll only under a rolling update, and only in the replica whose turn it is. Where replicas are
    recreated whole a component has no budget of its own; scaling it in must not cost the set a replica, so a hole is
    filled before the last of what is too many goes."""
    if situation.strategy == "ReplicaRecreate":
        return Rules(budgets.Limits(replicas, 0, 1))
    own = strategy or _DEFAULT_STRATEGY
    is_rolling = situation.strategy == "RollingUpdate"
    progress = situation.persisted.progress
    is_turn = is_rolling and situation.is_updating and progress is not None and index in progress.updating
    limits = budgets.limits(replicas, own.unavailable, own.surge)
    if situation.is_paused:
        limits = budgets.Limits(replicas, 0, limits.max_surge)
    return Rules(
        limits,
        may_update=is_turn and situation.may_update,
        keeps_surge=is_turn and not situation.is_aborted,
    )


def _live_replicas(
    situation: Situation, index: int, name: str, item: Object, in_template: int, is_autoscaled: bool
) -> int:
    """The count of an autoscaled object is remembered, so that it survives the object."""
    counts = situation.record(index).counts
    live = int(item.spec.get("replicas", in_template)) if is_autoscaled else in_template
    if live == in_template:
        counts.pop(name, None)
    else:
        counts[name] = live
    return live


def _first_replicas(
    situation: Situation, index: int, name: str, in_template: int, is_autoscaled: bool
) -> int:
    """A new surge replica stands in for any other, so it is as large as the largest of them."""
    if not is_autoscaled:
        return in_template
    records = situation.persisted.records
    if name in records[index].counts:
        return records[index].counts[name]
    if index < situation.pcs.replicas:
        return in_template
    return max(
        (record.counts.get(name, in_template) for other, record in records.items() if other != index),
        default=in_template,
    )


def _standalone(
    situation: Situation,
    index: int,
    clique: observed.ObservedClique,
    template: model.Clique,
    wanted: Revision,
) -> None:
    is_autoscaled = template.auto_scaling is not None
    live = clique.live_object
    if live is None:
        if clique.is_held:
            if clique.object is None:
                children.note_lost(situation, model.CLIQUE_KIND, clique.name, iter(clique.pods))
            situation.writes.delete_clique(clique, "its owner is gone")
            return
        count = _first_replicas(situation, index, template.name, template.replicas, is_autoscaled)
        situation.writes.create(
            expand.standalone_clique(situation.pcs, wanted, index, template, replicas=count)
        )
        return
    count = _live_replicas(situation, index, template.name, live, template.replicas, is_autoscaled)
    live = _up_to_date(situation, index, live, template, wanted, count)
    content = live.labels.get(labels.POD_TEMPLATE_HASH, "")
    origin = origins.read(
        situation,
        live,
        count,
        *_revisions_of_pods(situation, clique, content),
        is_at_target=content == situation.target.clique_hashes.get(template.name),
    )
    own_rules = rules(situation, index, template.update_strategy, count)
    replaced = cliques.plan(
        situation, clique, live, own_rules, _sources(situation, index, live, template, count, origin)
    )
    child_status.of_clique(situation, clique, live, own_rules.limits, origin, replaced)


def _revisions_of_pods(
    situation: Situation, clique: observed.ObservedClique, content: str
) -> tuple[dict[int, str], dict[int, str]]:
    if not situation.is_aborted:
        return {}, {}
    pods = [pod for pod in clique.pods if not pod.is_going]
    present = {pod.index: pod.object.labels.get(labels.REVISION, "") for pod in pods}
    return present, {pod.index: present[pod.index] for pod in pods if pod.template_hash != content}


def _sources(
    situation: Situation, index: int, live: Object, template: model.Clique, count: int, origin: Origins
) -> cliques.Sources:
    own = live.labels.get(labels.REVISION, "")
    built: dict[str, Object] = {own: live}

    def source(pod_index: int) -> Object:
        wanted = origin.revision_hash(situation, pod_index, own)
        if wanted not in built:
            revision = situation.revision(wanted)
            built[wanted] = expand.standalone_clique(situation.pcs, revision, index, template, replicas=count)
            built[wanted].uid = live.uid
        return built[wanted]

    return source


def _up_to_date(
    situation: Situation, index: int, live: Object, template: model.Clique, wanted: Revision, count: int
) -> Object:
    if live.labels.get(labels.REVISION) == wanted.hash and live.spec.get("replicas") == count:
        return live
    built = expand.standalone_clique(situation.pcs, wanted, index, template, replicas=count)
    return cliques.moved(situation, live, built)


def _group(
    situation: Situation,
    index: int,
    group: observed.ObservedGroup,
    template: model.ScalingGroup,
    wanted: Revision,
) -> set[int]:
    is_autoscaled = template.scale_config is not None
    live = group.live_object
    if live is None:
        if group.object is None:
            pods = (
                pod for each in group.replicas.values() for part in each.cliques.values() for pod in part.pods
            )
            children.note_lost(situation, model.SCALING_GROUP_KIND, group.name, pods)
        for replica in group.replicas.values():
            for clique in replica.cliques.values():
                situation.writes.delete_clique(clique, "its owner is gone")
        if group.object is not None:
            situation.writes.delete(group.object, "its owner is gone")
        else:
            count = _first_replicas(situation, index, template.name, template.replicas, is_autoscaled)
            situation.writes.create(
                expand.scaling_group(situation.pcs, wanted, index, template, replicas=count)
            )
        return set()
    count = _live_replicas(situation, index, template.name, live, template.replicas, is_autoscaled)
    is_at_target = all(
        wanted.clique_hashes.get(name) == situation.target.clique_hashes.get(name)
        for name in template.clique_names
    )
    if live.labels.get(labels.REVISION) != wanted.hash or live.spec.get("replicas") != count:
        built = expand.scaling_group(situation.pcs, wanted, index, template, replicas=count)
        live = cliques.moved(situation, live, built)
    return groups.plan(
        situation,
        group,
        template,
        live,
        wanted,
        rules(situation, index, template.update_strategy, count),
        is_at_target=is_at_target,
        is_moved_in_place=situation.strategy == "OnDelete",
    )
