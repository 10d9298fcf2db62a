"""Measurements and failed jobs in answers; what other servers said is for operators, others see a beginning of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headgate.api.documents import rollout_views
from headgate.api.http import permissions
from headgate.api.http.calls import Request
from headgate.fleet.engine import explain, explain_tree, remedies
from headgate.fleet.model import records
from headgate.kernel import rendering

WHOLE_ANSWERS = "target:act"
"""The permission of those who see answers as far as they are kept."""
LONGEST_BEGINNING_BYTES = 200


def sees_answers(call: Request) -> bool:
    return call.principal.allows(WHOLE_ANSWERS, call.workspace)


def of_job(job: records.Job, *, whole: bool) -> list[dict[str, Any]]:
    return render(
        [rendering.built(explain.MetricLine, metric) for metric in explain.metric_lines(job.metrics)],
        whole=whole,
    )


def render(metrics: list[dict[str, Any]], *, whole: bool) -> list[dict[str, Any]]:
    for metric in metrics if not whole else ():
        for measurement in metric["measurements"]:
            measurement["answer"] = _beginning(measurement["answer"])
    return metrics


def _beginning(answer: str) -> str:
    return answer.encode()[:LONGEST_BEGINNING_BYTES].decode(errors="ignore")


def explained(explanation: explain.Explanation, *, whole: bool) -> dict[str, Any]:
    """An explanation as it is answered: with each action the roles that may take it."""
    tree = explain_tree.of_target(explanation).document()
    answered = rendering.built(
        rollout_views.ExplanationView,
        explanation,
        actions=acting(explanation.actions),
        rules=[_rule(line) for line in explanation.rules],
        tree=tree,
    )
    if answered["job"] is not None:
        render(answered["job"]["metrics"], whole=whole)
    return answered


def _rule(line: explain.RuleLine) -> dict[str, Any]:
    refusal = remedies.why_not_skipped(line.type, has_version=line.version is not None)
    return rendering.built(rollout_views.RuleLineView, line, skip_refusal=refusal)


def acting(actions: Sequence[remedies.Action]) -> list[dict[str, Any]]:
    return [
        rendering.built(rollout_views.ActionView, action, roles=roles_with(action.permission))
        for action in actions
    ]


def roles_with(permission: str) -> list[str]:
    return [role for role in permissions.ROLES if permission in permissions.BY_ROLE[role]]
