"""Why a set is where it is: sentences for the person who waits, and the tree of its units."""

from collections.abc import Iterable, Iterator, Sequence

from headgate.kernel import instants
from headgate.kernel.decisions import Outcome
from headgate.kernel.explanations import (
    ExplanationLine,
    ExplanationTree,
    PartFacts,
    PartKind,
    PartState,
    Role,
)
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.workload import labels
from headgate.workload.plan import observed, progress, set_states
from headgate.workload.plan import planner as plan
from headgate.workload.plan.situation import Situation

_HELD = frozenset({PartState.PAUSED, PartState.ABORTED, PartState.ON_DELETE})
"""Somebody has ordered it to stay as it is."""


def explain(
    pcs: Object, observed: Sequence[Object], now: Instant, *, is_bound_pod_by_pod: bool = False
) -> ExplanationTree:
    """On the same situation as the planner, and with what it would do next.

    Each sentence is a line: of the update as a whole, or of a part that is stuck. What somebody has ordered denies;
    everything else is waited for.
    """
    if pcs.deleted_at is not None:
        leaving = _of_the_whole(PartState.DELETING, "the set is being deleted")
        return ExplanationTree(
            _subject(pcs.name), "workload", PartState.DELETING, "on its way out", PartFacts("set"), (leaving,)
        )
    situation = plan.observe(pcs, observed, now, NamedIds())
    decided = plan.plan(pcs, observed, now, NamedIds(), is_bound_pod_by_pod=is_bound_pod_by_pod)
    state = _state(situation)
    at = decided.requeue_at
    lines = [_of_the_whole(state, sentence, at) for sentence in _sentences(situation, state)]
    lines += [
        ExplanationLine(item.reason.value, "", _verdict(state), item.reason, str(item), at)
        for item in decided.stuck
    ]
    return ExplanationTree(
        _subject(pcs.name),
        "workload",
        state,
        f"{situation.strategy}, revision {situation.target.number}",
        PartFacts("set", situation.target.number),
        tuple(lines),
        tuple(
            _replica(situation, replica) for replica in situation.tree.replicas.values() if replica.is_held
        ),
    )


def _of_the_whole(state: PartState, sentence: str, requeue_at: Instant | None = None) -> ExplanationLine:
    return ExplanationLine("update", "", _verdict(state), set_states.REASONS[state], sentence, requeue_at)


def _verdict(state: PartState) -> Outcome:
    return "allowed" if state is PartState.DONE else "denied" if state in _HELD else "pending"


def _subject(name: str) -> str:
    return f"PodCliqueSet {name}"


def _state(situation: Situation) -> PartState:
    if situation.is_aborted:
        return PartState.ABORTED
    if not situation.is_updating:
        if progress.is_everything_new_and_available(situation):
            return PartState.DONE
        return PartState.ON_DELETE if situation.strategy == "OnDelete" else PartState.STARTING
    if situation.is_paused:
        return PartState.PAUSED
    return PartState.OVERDUE if progress.is_overdue(situation) else PartState.UPDATING


def _sentences(situation: Situation, state: PartState) -> Iterator[str]:
    replicas = situation.pcs.replicas
    known = situation.persisted.progress
    available = sum(situation.is_available(index) for index in range(replicas))
    new = [index for index in range(replicas) if situation.is_new(index)]
    there = sum(_is_there(situation, index) for index in new)
    yield (
        f"{available} of {replicas} replicas are available, {there} of {replicas} have the content of revision"
        f" {situation.target.number}"
    )
    if state is PartState.ABORTED:
        yield (
            f"the update to revision {situation.newest.number} was aborted: what was not moved keeps its revision"
            " until the template changes"
        )
    elif state is PartState.PAUSED:
        yield "the update is paused: nothing more is taken down until it is resumed"
    elif state is PartState.ON_DELETE:
        yield "strategy OnDelete: pods are replaced when someone deletes them"
    if situation.persisted.rolled_back is not None:
        yield (
            f"rolled back from revision {situation.newest.number} to {situation.target.number} at"
            f" {instants.show(situation.persisted.rolled_back.at)}, until the template changes"
        )
    if known is not None and known.ended_at is None:
        yield from _under_way(situation, new)
    else:
        yield from _held_back(situation, new)


def _is_there(situation: Situation, index: int) -> bool:
    """Not only meant to be: something of it stands, beside what is on its way out."""
    record, replica = situation.persisted.records.get(index), situation.tree.replicas.get(index)
    if record is None or record.is_torn_down or replica is None:
        return False
    pods = [pod for clique in replica.all_cliques() for pod in clique.pods]
    return not pods or any(not pod.is_going for pod in pods)


def _under_way(situation: Situation, new: Sequence[int]) -> Iterator[str]:
    known = situation.persisted.progress
    if known is None:
        return
    yield f"the update began at {instants.show(known.started_at)}"
    for index, since in sorted(known.updating.items()):
        yield f"replica {index} is being updated since {instants.show(since)}{_not_further(situation, index)}"
    yield from _held_back(situation, (*new, *known.updating))
    waiting = [
        index
        for index in range(situation.pcs.replicas)
        if index not in new and index not in known.updating and situation.may_move(index)
    ]
    if waiting and known.updating:
        verb, own = ("wait", "their") if len(waiting) > 1 else ("waits", "its")
        what = "the budget" if situation.strategy == "ReplicaRecreate" else f"{own} turn"
        yield f"{_named(waiting)} {verb} for {what}"
    deadline = progress.deadline(situation)
    if deadline is not None:
        word = "was due" if deadline <= situation.now else "is due"
        yield f"the next unit {word} by {instants.show(deadline)}, then {_then(situation)}"


def _then(situation: Situation) -> str:
    ordered = situation.pcs.update_strategy.on_deadline
    if ordered == "rollback" and progress.rollback_revision(situation) is None:
        return "hold: there is no earlier revision to go back to"
    return ordered


def _not_further(situation: Situation, index: int) -> str:
    own = situation.revision(situation.record(index).revision)
    if own.hash == situation.target.hash or situation.may_move(index):
        return ""
    return (
        f", to revision {own.number} and no further: partition is {situation.pcs.update_strategy.partition}"
    )


def _held_back(situation: Situation, moved: Sequence[int]) -> Iterator[str]:
    """Also when the update is done: it is, as far as the partition lets it."""
    indices = range(situation.pcs.replicas)
    kept = [index for index in indices if index not in moved and not situation.may_move(index)]
    if kept:
        verb = "keep their" if len(kept) > 1 else "keeps its"
        yield f"{_named(kept)} {verb} revision: partition is {situation.pcs.update_strategy.partition}"


def _named(indices: Sequence[int]) -> str:
    return f"replica{'s' if len(indices) > 1 else ''} {', '.join(str(index) for index in indices)}"


def _replica(situation: Situation, replica: observed.ObservedReplica) -> ExplanationTree:
    index = replica.index
    record = situation.record(index)
    number = situation.revision(record.revision).number
    words = [f"revision {number}"]
    if index >= situation.pcs.replicas:
        words.append("surge" if situation.is_updating else "to be removed")
    if record.is_torn_down:
        words.append("torn down")
    if not situation.is_new(index):
        words.append("outdated")
    state = _availability(situation.is_available(index) and not record.is_torn_down)
    part = _part("replica", index, situation.pcs.replicas, number)
    return _unit(part, f"replica {index}", state, ", ".join(words), _parts(situation, replica))


def _parts(situation: Situation, replica: observed.ObservedReplica) -> Iterator[ExplanationTree]:
    for name, clique in replica.cliques.items():
        yield _clique(situation, f"clique {name}", clique)
    for name, group in replica.groups.items():
        wanted = int(group.object.spec.get("replicas", 0)) if group.object is not None else 0
        members = [
            _unit(
                _part("groupReplica", member.index, wanted),
                f"{name} {member.index}",
                PartState.ON_ITS_WAY_OUT if member.is_going else _availability(member.is_available),
                "",
                (_clique(situation, f"clique {part}", clique) for part, clique in member.cliques.items()),
            )
            for member in group.replicas.values()
        ]
        state = _availability(group.available >= wanted)
        availability = f"{group.available} of {wanted} replicas available"
        yield _unit(PartFacts("group"), f"group {name}", state, availability, members)


def _availability(is_available: bool) -> PartState:
    return PartState.AVAILABLE if is_available else PartState.NOT_AVAILABLE


def _clique(situation: Situation, name: str, clique: observed.ObservedClique) -> ExplanationTree:
    item = clique.live_object
    wanted = int(item.spec.get("replicas", 0)) if item is not None else 0
    pods = (_pod(situation, pod, wanted) for pod in sorted(clique.pods, key=lambda pod: pod.index))
    state = _availability(clique.available >= wanted)
    return _unit(PartFacts("clique"), name, state, f"{clique.available} of {wanted} pods available", pods)


def _pod(situation: Situation, pod: observed.Pod, wanted: int) -> ExplanationTree:
    number = situation.revision(pod.object.labels.get(labels.REVISION)).number
    surge = ", surge" if pod.index >= wanted else ""
    if pod.is_going:
        state = PartState.TERMINATING
    elif pod.is_available:
        state = PartState.READY
    else:
        state = PartState.SCHEDULED if pod.is_bound else PartState.NOT_SCHEDULED
    part = _part("pod", pod.index, wanted, number)
    return _unit(part, f"pod {pod.object.name}", state, f"revision {number}{surge}")


def _part(kind: PartKind, index: int, wanted: int, revision: int | None = None) -> PartFacts:
    role: Role = "surge" if index >= wanted else "regular"
    return PartFacts(kind, revision, role)


def _unit(
    part: PartFacts, subject: str, state: PartState, message: str, children: Iterable[ExplanationTree] = ()
) -> ExplanationTree:
    return ExplanationTree(subject, "workload", state, message, part, children=tuple(children))
