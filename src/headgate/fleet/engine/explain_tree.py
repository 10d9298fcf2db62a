"""An explanation of a target as the tree that all levels share: its rules, its group and its job."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.engine.explain import Explanation
from headgate.kernel.explanations import ExplanationLine, ExplanationTree, PartState


def of_target(explanation: Explanation) -> ExplanationTree:
    lines = tuple(
        ExplanationLine(
            rule.type,
            f"{rule.policy}, {rule.rule}" if rule.policy else "",
            rule.verdict,
            rule.reason,
            f"{rule.version}: {rule.message}" if rule.version else rule.message,
            rule.next_evaluation_time,
        )
        for rule in explanation.rules
    )
    return ExplanationTree(
        explanation.target,
        "fleet",
        PartState(explanation.state),
        explanation.message,
        lines=lines,
        children=tuple(_children(explanation)),
    )


def _children(explanation: Explanation) -> Iterator[ExplanationTree]:
    group, job = explanation.group, explanation.job
    if group is not None:
        yield ExplanationTree(f"group {group.id}", "fleet", PartState(group.status), group.message)
    if job is not None:
        outcome = job.message or job.reason
        version = f"{job.version}, attempt {job.attempt}"
        message = f"{version}: {outcome}" if outcome else version
        yield ExplanationTree(f"job {job.id}", "fleet", PartState(job.status), message)
