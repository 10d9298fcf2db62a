"""Admission of ResourceGraphDefinitions: they compile, break nothing, take nothing over, and come to an end."""

from __future__ import annotations

from headgate.graph.compile import loops, validate
from headgate.graph.compile.compiled import CompiledGraph
from headgate.graph.reconcile import labels, served_kinds
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.problems import Problem, Rejected
from headgate.operator.admission import requests
from headgate.operator.admission.requests import AdmissionRequest, Judgement, KnownObjects, Surroundings


def judge(request: AdmissionRequest, around: Surroundings) -> Judgement:
    known = around.objects
    if request.operation == "DELETE":
        return _judge_deletion(request, known)
    if request.document is None or requests.is_settled(request):
        return requests.ACCEPTED
    document = requests.placed(request, request.document)
    previous = _previous(request, around.kinds)
    others = [other.spec for other in served_kinds.others(document["metadata"].get("name", ""), known)]
    try:
        graph = validate.compile_document(document, previous=previous, others=others, source=around.kinds)
    except Rejected as rejected:
        return Judgement(rejected.problems)
    rival = next(served_kinds.rivals(graph, known), None)
    taken = served_kinds.rivalled(graph, rival) if rival is not None else None
    if taken is None and previous is None:
        taken = served_kinds.foreign(graph, known)
    if taken is not None:
        return Judgement((taken,))
    return Judgement(
        warnings=tuple(f"breaks instances that exist: {each}" for each in graph.breaking_changes)
    )


def _previous(request: AdmissionRequest, kinds: KindSource) -> CompiledGraph | None:
    """One that was never right served nobody, so nothing of it can break."""
    if request.old is None:
        return None
    try:
        return validate.compile_document(request.old, source=kinds)
    except Rejected:
        return None


def _judge_deletion(request: AdmissionRequest, known: KnownObjects) -> Judgement:
    """With its definition an instance loses who looks after it, and with its kind it would be gone."""
    old = request.old or {}
    annotations = requests.metadata_of(old).get("annotations") or {}
    spec = old.get("spec")
    is_cascade = annotations.get(labels.DELETION) in (labels.CASCADE, labels.CASCADE_WITH_KIND)
    if is_cascade or not isinstance(spec, dict):
        return requests.ACCEPTED
    kind = loops.defined_kind(spec)
    count = sum(1 for _ in known.of_kind(kind.group, kind.kind))
    if not count:
        return requests.ACCEPTED
    instances = "1 instance" if count == 1 else f"{count} instances"
    message = (
        f"has {instances} of {kind.kind}; delete them first, or ask for their deletion with the annotation "
        f"{labels.DELETION}: {labels.CASCADE}"
    )
    return Judgement((Problem("metadata.name", message),))
