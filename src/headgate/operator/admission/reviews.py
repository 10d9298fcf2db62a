"""AdmissionReview (admission.k8s.io/v1): a request in, a response out.

Both stages judge. Between them the API server checks the schema and stops at what that says, which is less than we
know; so the first stage refuses already, with every field, what the second would refuse. The second sees what other
webhooks made of the object.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from headgate.graph.compile import definition
from headgate.kernel.problems import Problem
from headgate.operator.admission import definitions, patches, sets
from headgate.operator.admission.requests import AdmissionRequest, Document, Judgement, Surroundings
from headgate.workload import model

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"
Stage = Literal["default", "validate"]
DEFAULTING: Final[Stage] = "default"
VALIDATING: Final[Stage] = "validate"
MOST_CAUSES = 100
_LONGEST_WARNING = 256

Judge = Callable[[AdmissionRequest, Surroundings], Judgement]
JUDGES: Mapping[tuple[str, str], Judge] = {
    (model.GROUP, model.KIND): sets.judge,
    (definition.DEFAULT_GROUP, definition.KIND): definitions.judge,
}
"""By group and kind."""


class Malformed(ValueError):  # noqa: N818 - it reads as what the body is
    """What came is no review; the sentence says what is missing."""


def answer(review: object, stage: Stage, around: Surroundings) -> dict[str, Any]:
    """The review that answers. Raises Malformed."""
    given = _request_of(review)
    kind = _map(given, "kind")
    group, name = str(kind.get("group", "")), str(kind.get("kind", ""))
    judge = JUDGES.get((group, name))
    if judge is None:
        raise Malformed(f'request.kind is {name or "nothing"} of "{group}", which is not judged here')
    request = _read(given)
    judged = judge(request, around)
    response: dict[str, Any] = {"uid": given["uid"], "allowed": not judged.problems}
    if judged.problems:
        response["status"] = _status(group, name, request.name, judged.problems)
    elif stage == DEFAULTING and judged.document is not None:
        response |= _patch(request.document, judged.document)
    if judged.warnings:
        response["warnings"] = [warning[:_LONGEST_WARNING] for warning in judged.warnings]
    return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _request_of(review: object) -> Mapping[str, Any]:
    if (
        not isinstance(review, Mapping)
        or review.get("kind") != KIND
        or review.get("apiVersion") != API_VERSION
    ):
        raise Malformed(f"the body must be an {KIND} of {API_VERSION}")
    request = _map(review, "request")
    if not isinstance(request.get("uid"), str):
        raise Malformed("request.uid is required")
    return request


def _map(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = owner.get(key)
    if not isinstance(value, Mapping):
        raise Malformed(f"{key} must be a map")
    return value


def _read(given: Mapping[str, Any]) -> AdmissionRequest:
    operation = given.get("operation")
    if operation not in ("CREATE", "UPDATE", "DELETE"):
        raise Malformed(f"request.operation is {operation!r}; allowed are CREATE, UPDATE and DELETE")
    document, old = _document(given, "object"), _document(given, "oldObject")
    if document is None and operation != "DELETE":
        raise Malformed("request.object is required")
    return AdmissionRequest(
        operation, str(given.get("namespace") or ""), str(given.get("name") or ""), document, old
    )


def _document(given: Mapping[str, Any], key: str) -> Document | None:
    value = given.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise Malformed(f"request.{key} must be a map")
    return value


def _status(group: str, kind: str, name: str, problems: Sequence[Problem]) -> dict[str, Any]:
    """With the causes from which kubectl prints one line for each field; the message is for those who print that."""
    problems_shown = list(problems[:MOST_CAUSES])
    if len(problems) > len(problems_shown):
        problems_shown.append(Problem("", f"and {len(problems) - len(problems_shown)} more"))
    return {
        "status": "Failure",
        "code": 422,
        "reason": "Invalid",
        "message": "; ".join(str(problem) for problem in problems_shown),
        "details": {
            "group": group,
            "kind": kind,
            "name": name,
            "causes": [
                {"reason": "FieldValueInvalid", "field": problem.path, "message": problem.message}
                for problem in problems_shown
            ],
        },
    }


def _patch(before: Document | None, after: Document) -> dict[str, Any]:
    operations = patches.difference(before, after)
    if not operations:
        return {}
    text = json.dumps(operations, separators=(",", ":"))
    return {"patchType": "JSONPatch", "patch": base64.b64encode(text.encode()).decode()}
