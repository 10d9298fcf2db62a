"""The status of the set, with what the planner must find again. Surge is listed apart and in none of the counts."""

from typing import Any

from headgate.kernel import instants
from headgate.kernel.conditions import Condition, Truth, documents
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.workload import labels
from headgate.workload.plan import conditions, persisted_state, progress
from headgate.workload.plan.situation import Situation
from headgate.workload.plan.stuck import Stuck


def of(situation: Situation, stuck: tuple[Stuck, ...]) -> dict[str, Any]:
    known = situation.persisted
    before = situation.source.status
    replicas = situation.pcs.replicas
    available = [index for index in range(replicas) if situation.is_available(index)]
    updated = sum(situation.is_new(index) for index in available)
    status: dict[str, Any] = {
        "observedGeneration": situation.pcs.generation,
        "replicas": replicas,
        "availableReplicas": len(available),
        "updatedReplicas": updated,
        "hpaPodSelector": labels.selector(
            labels.of_set(situation.pcs.name),
            labels.PCS_REPLICA_INDEX,
            {index for index in situation.tree.replicas if index >= replicas},
        ),
        "updateRevision": situation.target.hash,
    }
    if known.done_revision is not None:
        status["currentRevision"] = known.done_revision
    if known.progress is not None:
        status["rollingUpdateProgress"] = persisted_state.write_progress(known.progress, updated)
    if known.rolled_back is not None:
        status["rolledBack"] = persisted_state.write_rolled_back(known.rolled_back)
    if known.was_paused:
        status["paused"] = True
    if known.spent_abort is not None:
        status["spentAbort"] = known.spent_abort
    own_conditions = [
        Condition(conditions.AVAILABLE, *_available(len(available), replicas)),
        Condition(conditions.PROGRESSING, *_progressing(situation, stuck)),
    ]
    if situation.pcs.template.needs_cluster_templates:
        own_conditions.append(Condition(conditions.TEMPLATES_FOUND, *_templates_found(situation)))
    status["conditions"] = documents(own_conditions, before, situation.pcs.generation, situation.now)
    status["replicaRevisions"] = persisted_state.write_records(known.records)
    return status


def refused(item: Object, why: Stuck, now: Instant) -> dict[str, Any]:
    """Of a set that cannot be built at all."""
    progressing = Condition(conditions.PROGRESSING, "False", why.reason, f"{why.message}; {why.help}")
    written = documents([progressing], item.status, item.generation, now)
    return {**item.status, "observedGeneration": item.generation, "conditions": written}


def _available(available: int, replicas: int) -> tuple[Truth, Reason, str]:
    message = f"{available} of {replicas} replicas are available"
    if available == replicas:
        return "True", Reason.ALL_REPLICAS_AVAILABLE, message
    return "False", Reason.REPLICAS_UNAVAILABLE, message


def _templates_found(situation: Situation) -> tuple[Truth, Reason, str]:
    waits = situation.claims_waited_for.values()
    missing = dict.fromkeys(
        f"{wait.message}; {wait.help}" for wait in waits if wait.reason is Reason.AWAITING_DEPENDENCY
    )
    if missing:
        return "False", Reason.AWAITING_DEPENDENCY, "; ".join(missing)
    return "True", Reason.RESOLVED, "every claim has been made, or can be"


def _progressing(situation: Situation, stuck: tuple[Stuck, ...]) -> tuple[Truth, Reason, str]:
    known = situation.persisted
    if situation.is_aborted:
        return "False", Reason.ABORTED, f"the update to {situation.newest.hash} was aborted"
    if known.progress is None:
        return "True", Reason.STARTED, "the first revision is built"
    if known.progress.ended_at is not None:
        if situation.strategy == "OnDelete":
            return "True", Reason.ON_DELETE, "what is deleted comes back at the newest revision"
        if known.rolled_back is not None:
            return "True", Reason.ROLLED_BACK, f"rolled back from {known.rolled_back.source}"
        message = f"every replica{_from_partition(situation)} is new and available at {situation.target.hash}"
        return "True", Reason.UPDATE_COMPLETE, message
    if situation.is_paused:
        return "Unknown", Reason.PAUSED, "the update is paused; what was taken down is rebuilt"
    if progress.is_overdue(situation):
        seconds = situation.pcs.update_strategy.progress_deadline_seconds
        return (
            "False",
            Reason.PROGRESS_DEADLINE_EXCEEDED,
            f"nothing became new and available for {seconds}s, last at"
            f" {instants.show(known.progress.last_progress_at)}{_first(stuck)}",
        )
    if known.rolled_back is not None:
        message = f"rolling back from {known.rolled_back.source} to {known.rolled_back.target}"
        return "False", Reason.PROGRESS_DEADLINE_EXCEEDED, message
    return "True", Reason.UPDATING, f"the update to {situation.target.hash} is under way"


def _from_partition(situation: Situation) -> str:
    first = situation.pcs.update_strategy.partition
    is_all = all(situation.is_new(index) for index in range(min(first, situation.pcs.replicas)))
    return "" if is_all else f" from {first} on"


def _first(stuck: tuple[Stuck, ...]) -> str:
    return f"; {stuck[0].reason}: {stuck[0]}" if stuck else ""
