"""From the output document back to a result, for whoever got the document from elsewhere and wants to print it.

The document does not say everything: members of groups name versions by their tags, and budgets have no course over
time.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.fleet.model import records
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem
from headgate.simulate.model import group_steps
from headgate.simulate.model.result import RefusedStep, Result, WaitingAtEnd, Warned
from headgate.simulate.model.usage import Usage


def read(document: Mapping[str, Any]) -> Result:
    """The fleet's part of a run; `finish`, which a plan has, tells what waits and whether it was cut."""
    finish = document.get("finish", {})
    groups = [_group(item) for item in document["groups"]]
    return Result(
        scenario=document["scenario"],
        seed=document["seed"],
        start=instants.parse(document["start"]),
        end=instants.parse(document["end"]),
        converged=document["converged"],
        was_cut=finish.get("wasCut", False),
        jobs=[_job(item) for item in document["jobs"]],
        groups=groups,
        group_steps=list(group_steps.looking_back(groups)),
        usage=[_usage(item) for item in document["budgets"] if item["kind"] == "resourceConcurrency"],
        tags={},
        rejected=[_refused(item) for item in document["rejected"]],
        warnings=[
            Warned(instants.parse(item["at"]), item["target"], item["version"], item["message"])
            for item in document["warnings"]
        ],
        waiting=msgspec.convert(finish.get("waiting", []), list[WaitingAtEnd]),
    )


def _job(item: Mapping[str, Any]) -> records.Job:
    return records.Job(
        id=item["id"],
        deployment=item["deployment"],
        environment=item["environment"],
        resource=item["resource"],
        version=item["version"],
        tag=item["version"],
        variables=(),
        attempt=item["attempt"],
        kind=item["kind"],
        created_at=instants.parse(item["createdAt"]),
        status=item["status"],
        group=item["group"],
        started_at=_time(item["startedAt"]),
        completed_at=_time(item["completedAt"]),
    )


def _group(item: Mapping[str, Any]) -> records.Group:
    started = instants.parse(item["collectionStartedAt"])
    history = [records.Transition(instants.parse(step["at"]), step["status"]) for step in item["history"]]
    return records.Group(
        id=item["id"],
        policy=item["policy"],
        rule="",
        environment=item["environment"],
        resource=item["resource"],
        status=item["status"],
        collection_started_at=started,
        collection_ends_at=instants.parse(item["collectionEndsAt"]),
        created_at=history[0].at if history else started,
        locked_at=_time(item["lockedAt"]),
        started_at=_time(item["startedAt"]),
        completed_at=_time(item["completedAt"]),
        merged_into=item["mergedInto"],
        members=[
            records.Member(
                member["deployment"],
                member["role"],
                member["version"],
                _time(member["lockedAt"]),
                member["state"],
            )
            for member in item["members"]
        ],
        history=history,
    )


def _usage(item: Mapping[str, Any]) -> Usage:
    return Usage(
        policy=item["policy"],
        rule=item["rule"],
        kind=item["kind"],
        scope=item["scope"],
        limit=item["limit"],
        peak=item["peak"],
        peak_at=_time(item["peakAt"]),
    )


def _refused(item: Mapping[str, Any]) -> RefusedStep:
    problems = tuple(Problem(error["path"], error["message"]) for error in item["errors"])
    return RefusedStep(instants.parse(item["at"]), item["step"], problems)


def _time(text: str | None) -> Instant | None:
    return None if text is None else instants.parse(text)
