"""Admission of PodCliqueSets, by the rules that the command line and the simulator have."""

from __future__ import annotations

from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.operator.admission import requests
from headgate.operator.admission.requests import AdmissionRequest, Judgement, Surroundings
from headgate.workload import model
from headgate.workload.checks import validate
from headgate.workload.expand import manifests


def judge(request: AdmissionRequest, around: Surroundings) -> Judgement:
    if request.document is None or requests.is_settled(request):
        return requests.ACCEPTED
    try:
        given = manifests.read(requests.placed(request, request.document))
    except Rejected as rejected:
        return Judgement(rejected.problems)
    checked = validate.check(given, _before(request), around.objects.of_kind(model.GROUP, model.KIND))
    return Judgement(checked.problems, checked.warnings, {**request.document, "spec": checked.object.spec})


def _before(request: AdmissionRequest) -> Object | None:
    """Stored before there were rules, it may be unreadable; then it binds nothing."""
    if request.old is None:
        return None
    try:
        return manifests.read(requests.placed(request, request.old))
    except Rejected:
        return None
