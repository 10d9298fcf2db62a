"""The status of PodCliques and scaling groups. Autoscalers read the counts, so surge is in none of them, and `replicas` does
not dip while an update has a pod on its way: what it took still counts, until its place is filled again."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.kernel import instants
from headgate.kernel.budgets import Limits
from headgate.kernel.conditions import Condition, documents, since
from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Object
from headgate.workload import labels
from headgate.workload.plan import conditions, observed, selection
from headgate.workload.plan.origins import Origins
from headgate.workload.plan.selection import UnitView
from headgate.workload.plan.situation import Situation


def of_clique(
    situation: Situation,
    clique: observed.ObservedClique,
    item: Object,
    limits: Limits,
    origin: Origins,
    replaced: Sequence[observed.Pod] = (),
    *,
    is_taken: bool = False,
) -> None:
    """`is_taken`: the update took the whole replica of the group that the clique is in."""
    before = item.status
    wanted = item.labels.get(labels.POD_TEMPLATE_HASH, "")
    is_at_rest = clique.is_settled(limits.replicas) and clique.has_only(wanted)
    if is_at_rest and not replaced and _says_so(item, limits.replicas, wanted, origin):
        return
    counts = _Counts(clique, limits.replicas, wanted, is_at_rest)
    unit_view = UnitView(
        content=wanted,
        replicas=limits.replicas,
        is_finished=counts.updated == limits.replicas and counts.live == clique.live,
        is_new_and_available=counts.new_and_available.__contains__,
        taken={pod.index: pod.object.name for pod in replaced},
    )
    progress = selection.advanced(
        selection.read(before, selection.PODS), before.get("currentPodTemplateHash"), unit_view, situation.now
    )
    taken_count = len(progress.current) if progress is not None else 0
    status: dict[str, Any] = {
        "observedGeneration": item.generation,
        "replicas": len(counts.indices.union(progress.current if progress is not None else ())),
        "readyReplicas": counts.available,
        "availableReplicas": counts.available,
        "updatedReplicas": counts.updated,
        "scheduledReplicas": counts.bound,
        "scheduleGatedReplicas": counts.gated,
        "hpaPodSelector": labels.selector(
            {labels.POD_CLIQUE: item.name},
            labels.POD_INDEX,
            {pod.index for pod in clique.pods if pod.index >= limits.replicas},
        ),
        "currentPodTemplateHash": wanted,
        "currentPodCliqueSetGenerationHash": item.labels.get(labels.REVISION, ""),
        "conditions": documents(
            [
                _breached(
                    clique.available, clique.min_available, taken_count, is_taken, clique.bound, "ready pods"
                ),
                _scheduled(clique),
            ],
            before,
            item.generation,
            situation.now,
        ),
    }
    if is_at_rest:
        status["isAtRest"] = True
    _note_first_available(status, before, clique.is_available, situation.now)
    _note_termination(situation, status)
    origin.to_status(status)
    if progress is not None:
        status["rollingUpdateProgress"] = selection.write(progress, selection.PODS)
    situation.writes.status(item, status)


def _says_so(item: Object, replicas: int, wanted: str, origin: Origins) -> bool:
    """Whether the status of a clique at rest, which most are in most passes, was written when it was so already."""
    status = item.status
    progress = status.get("rollingUpdateProgress")
    return (
        status.get("observedGeneration") == item.generation
        and status.get("isAtRest") is True
        and status.get("replicas") == replicas
        and "hpaPodSelector" in status
        and status.get("currentPodTemplateHash") == wanted
        and status.get("currentPodCliqueSetGenerationHash") == item.labels.get(labels.REVISION, "")
        and status.get("revisionReplicas") == origin.kept
        and not origin.left_behind
        and "leftBehind" not in status
        and (progress is None or (progress.get("content") == wanted and "updateEndedAt" in progress))
    )


class _Counts:
    """The regular pods of a clique; a clique at rest is counted without a look at each. Of pods that are there twice for
    a moment one index counts."""

    def __init__(self, clique: observed.ObservedClique, replicas: int, wanted: str, is_at_rest: bool) -> None:
        self.gated = 0
        self.indices = clique.indices
        if is_at_rest:
            self.live = self.bound = self.available = self.updated = replicas
            self.new_and_available = clique.indices
            return
        self.live = self.bound = self.available = 0
        self.new_and_available = set()
        self.indices = {index for index in clique.indices if index < replicas}
        for pod in clique.pods:
            if pod.is_going or pod.index >= replicas:
                continue
            self.live += 1
            self.bound += pod.is_bound
            self.available += pod.is_available
            if pod.is_available and pod.template_hash == wanted:
                self.new_and_available.add(pod.index)
            if not pod.is_bound and pod.object.spec.get("schedulingGates"):
                self.gated += 1
        self.updated = len(self.new_and_available)


def of_group(
    situation: Situation,
    group: observed.ObservedGroup,
    item: Object,
    limits: Limits,
    origin: Origins,
    content: str,
    new_indices: Sequence[int],
    replaced: Sequence[int] = (),
) -> None:
    """`new_indices` are the replicas, regular or not, whose content is what the group aims at."""
    before = item.status
    live = [replica for replica in group.replicas.values() if not replica.is_going]
    regular = [replica for replica in live if replica.index < limits.replicas]
    available = {replica.index for replica in regular if replica.is_available}
    updated = available & set(new_indices)
    unit_view = UnitView(
        content=content,
        replicas=limits.replicas,
        is_finished=len(updated) == limits.replicas and len(live) == len(regular),
        is_new_and_available=updated.__contains__,
        taken={index: index for index in replaced},
    )
    progress = selection.advanced(
        selection.read(before, selection.GROUP_REPLICAS),
        before.get("currentTemplateHashes"),
        unit_view,
        situation.now,
    )
    taken_count = len(progress.current) if progress is not None else 0
    status: dict[str, Any] = {
        "observedGeneration": item.generation,
        "replicas": limits.replicas,
        "scheduledReplicas": sum(not replica.is_unscheduled for replica in regular),
        "availableReplicas": len(available),
        "updatedReplicas": len(updated),
        "selector": labels.selector(
            {labels.SCALING_GROUP: item.name},
            labels.SCALING_GROUP_REPLICA_INDEX,
            {index for index in group.replicas if index >= limits.replicas},
        ),
        "currentTemplateHashes": content,
        "currentPodCliqueSetGenerationHash": item.labels.get(labels.REVISION, ""),
        "conditions": documents(
            [
                _breached(
                    group.available,
                    group.min_available,
                    taken_count,
                    False,
                    group.min_available,
                    "available replicas",
                )
            ],
            before,
            item.generation,
            situation.now,
        ),
    }
    _note_first_available(status, before, group.is_available, situation.now)
    _note_termination(situation, status)
    origin.to_status(status)
    if progress is not None:
        status["rollingUpdateProgress"] = selection.write(progress, selection.GROUP_REPLICAS)
    situation.writes.status(item, status)


def _note_first_available(
    status: dict[str, Any], before: Mapping[str, Any], is_available: bool, now: int
) -> None:
    if "firstAvailableAt" in before:
        status["firstAvailableAt"] = before["firstAvailableAt"]
    elif is_available:
        status["firstAvailableAt"] = instants.show(now)


def _note_termination(situation: Situation, status: Mapping[str, Any]) -> None:
    if "firstAvailableAt" not in status:
        return
    moment = since(status, conditions.BREACHED, "True")
    if moment is not None:
        situation.requeue_at(moment + situation.pcs.template.termination_delay.microseconds)


def _breached(
    available: int,
    min_available: int,
    taken: int,
    is_taken: bool,
    bound: int,
    what: str,
) -> Condition:
    message = f"{available} {what}, at least {min_available} are wanted"
    if available >= min_available:
        return Condition(conditions.BREACHED, "False", Reason.SUFFICIENT, message)
    if is_taken or available + taken >= min_available:
        return Condition(conditions.BREACHED, "Unknown", Reason.UPDATE_IN_PROGRESS, message)
    reason = (
        Reason.SCHEDULED_REPLICAS_BELOW_MIN_AVAILABLE
        if bound < min_available
        else Reason.INSUFFICIENT_READY_PODS
    )
    return Condition(conditions.BREACHED, "True", reason, message)


def _scheduled(clique: observed.ObservedClique) -> Condition:
    message = (
        f"{clique.bound} of {clique.live} pods are scheduled, at least {clique.min_available} are wanted"
    )
    if clique.bound >= clique.min_available:
        return Condition(conditions.SCHEDULED, "True", Reason.SUFFICIENT_SCHEDULED_PODS, message)
    return Condition(conditions.SCHEDULED, "False", Reason.INSUFFICIENT_SCHEDULED_PODS, message)
