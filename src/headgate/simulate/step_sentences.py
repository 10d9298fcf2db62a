"""What a step of the timeline did, in a few words: subject and event of one line."""

import json
from typing import Any

from headgate.fleet.model.changes import VOTES
from headgate.kernel import documents
from headgate.simulate.model import steps

_SILENT = frozenset({"explain", "snapshot"})
_LONGEST_VALUE = 40


def describe(step: steps.Step) -> tuple[str, str] | None:
    """None for steps that only look."""
    if step.kind in _SILENT:
        return None
    payload = step.payload
    match step.kind:
        case "publish":
            scope = f" (scope: {payload.target_selector})" if payload.target_selector is not None else ""
            return f"{payload.deployment} {payload.tag}", f"published{scope}"
        case kind if kind in VOTES:
            verb = "vote withdrawn" if VOTES[kind] == "withdrawn" else VOTES[kind]
            return f"{payload.deployment} {payload.tag}", f"{verb} in {payload.environment} by {payload.user}"
        case "apply":
            return _name_of(payload), "applied"
        case "delete":
            return f"{payload.kind} {payload.name}", "deleted"
        case "patch":
            return f"{payload.kind} {payload.name}", "patched"
        case "setVersion":
            return f"{payload.deployment} {payload.tag}", f"set to {payload.status}"
        case "rejectVersion":
            back = ", goes back where it runs" if payload.rollback else ""
            return f"{payload.deployment} {payload.tag}", f"marked as bad: {payload.reason}{back}"
        case "skip":
            return f"rule {payload.rule}", f"skipped: {payload.reason}"
        case "freeze":
            return f"freeze {payload.name}", f"begins: {payload.reason}"
        case "unfreeze":
            return f"freeze {payload}", "ends"
        case "signal":
            return f"signal {payload.name}", f"is {_value(payload.value)}"
        case "setVariable":
            whose = payload.resource or payload.deployment or ""
            return f"variable {payload.key} of {whose}", f"is {_value(payload.value)}"
        case _:
            return _others(step)


def _others(step: steps.Step) -> tuple[str, str]:
    payload = step.payload
    match step.kind:
        case "unskip":
            return f"skip {payload}", "ends"
        case "group":
            member = f" {payload.member}" if payload.member else ""
            place = payload.group or f"{payload.environment}/{payload.resource}"
            return f"group {place}", f"operator: {payload.action}{member}"
        case "target":
            return payload.target, f"operator: {payload.action}{_to(payload.to)}"
        case "targets":
            where = f" where {payload.selector}" if payload.selector else ""
            what = f"{payload.deployment} in {payload.environment}{where}"
            return what, f"operator: {payload.action}{_to(payload.to)}"
        case "resume":
            return f"rule {payload.rule}", "line resumed"
        case "report":
            return payload.target, f"agent reports {payload.status}"
        case "workload":
            return f"PodCliqueSet {payload.name}", f"operator: {payload.action}"
        case "crash":
            return "engine", "crashed, came back from the store"
        case "killPod":
            how = "killed by force" if payload.force else "killed"
            return f"{payload.count} pods", f"{how} where {payload.match}"
        case "endPod":
            return f"{payload.count} pods", f"{payload.phase} ({payload.reason}) where {payload.match}"
        case _:
            amount = payload.nodes if isinstance(payload, steps.NodesStep) else ""
            return f"{amount} nodes", f"{step.kind}ed"


def _to(version: str | None) -> str:
    return f" {version}" if version else ""


def _name_of(manifest: Any) -> str:
    if not isinstance(manifest, dict):
        return documents.describe(manifest)
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else manifest.get("name")
    return f"{manifest.get('kind', 'Policy')} {name}"


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
