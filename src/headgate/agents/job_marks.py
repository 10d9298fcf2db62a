"""What an object of a cluster says of the job that it was made or changed for."""

from __future__ import annotations

from headgate.agents.port import Assignment
from headgate.kubernetes.resources import Document

JOB = "headgate.dev/job"
WORKSPACE = "headgate.dev/workspace"
TARGET = "headgate.dev/target"
VERSION = "headgate.dev/version"


def of(assignment: Assignment) -> dict[str, str]:
    """As annotations."""
    facts = assignment.job
    return {
        JOB: facts.id,
        WORKSPACE: assignment.workspace,
        TARGET: target_of(assignment),
        VERSION: facts.version,
    }


def target_of(assignment: Assignment) -> str:
    facts = assignment.job
    return f"{facts.deployment}/{facts.environment}/{facts.resource}"


def annotations_of(document: Document) -> dict[str, str]:
    return document["metadata"].get("annotations") or {}


def job_of(document: Document) -> str | None:
    return annotations_of(document).get(JOB)


def is_of_target(document: Document, workspace: str, target: str) -> bool:
    marks = annotations_of(document)
    return (marks.get(WORKSPACE), marks.get(TARGET)) == (workspace, target)
