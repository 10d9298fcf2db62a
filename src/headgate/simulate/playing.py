"""Turns a step of the timeline into the change it asks for, judged as an API would judge it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from msgspec.structs import asdict

from headgate.fleet.engine import manifests
from headgate.fleet.model import changes, records
from headgate.kernel import instants
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected, renamed
from headgate.simulate.model import steps
from headgate.simulate.scenario import API_VERSION

_WITH_THE_SAME_FIELDS: dict[str, Callable[..., changes.Change]] = {
    **{step: partial(changes.Vote, status=status) for step, status in changes.VOTES.items()},
    "setVersion": changes.SetVersionStatus,
    "rejectVersion": changes.RejectVersion,
    "setVariable": changes.SetVariable,
    "group": changes.GroupAction,
    "target": changes.TargetAction,
    "targets": changes.TargetsAction,
}
"""The changes of steps that say nothing in other words than their change."""


class StepTranslator:
    """Where steps are handed in. `jobs` are all jobs so far, so that a report can name one by its target."""

    def __init__(self, ids: IdSource, start: Instant, jobs: Mapping[str, records.Job]) -> None:
        self._ids = ids
        self._start = start
        self._jobs = jobs

    def object_from(self, document: object, now: Instant) -> Any:
        return manifests.parse(document, self._ids, now)

    def change_for(self, step: steps.Step, now: Instant) -> changes.Change | None:
        """None for a step that is not a change of the fleet."""
        payload = step.payload
        match step.kind:
            case "publish":
                version = self._from_spec("Version", _version_name(payload), _version(payload), now)
                return changes.Put(version, create_only=True)
            case "freeze":
                return changes.Put(self._from_spec("Freeze", payload.name, self._spec_of(payload), now))
            case "signal":
                return changes.Put(self._from_spec("Signal", payload.name, self._spec_of(payload), now))
            case "delete":
                return changes.Delete(payload.kind, payload.name)
            case "unfreeze":
                return changes.Delete("Freeze", payload)
            case "unskip":
                return changes.DeleteSkip(payload)
            case "skip":
                return self._skip(payload)
            case "resume":
                return changes.ResumeBudget(**{**asdict(payload), "rule": str(payload.rule)})
            case "report":
                return self._report(payload)
            case _:
                change = _WITH_THE_SAME_FIELDS.get(step.kind)
                return None if change is None else change(**asdict(payload))

    def _from_spec(self, kind: str, name: object, spec: dict[str, object], now: Instant) -> Any:
        metadata: dict[str, object] = {"name": name}
        if "id" in spec:
            metadata["id"] = spec.pop("id")
        document = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
        with step_paths():
            return self.object_from(document, now)

    def _spec_of(self, payload: Any) -> dict[str, object]:
        spec: dict[str, object] = {}
        for field in payload.__struct_fields__:
            value = getattr(payload, field)
            if field == "expires_at" and value is not None:
                spec["expiresAt"] = instants.show(value.resolve(self._start))
            elif field not in ("name", "expires_at") and (value is not None or field == "value"):
                spec[field] = value
        return {key: value for key, value in spec.items() if not (key == "user" and value == "")}

    def _skip(self, payload: steps.SkipStep) -> changes.PutSkip:
        until = payload.expires_at.resolve(self._start) if payload.expires_at is not None else None
        given = asdict(payload)
        own = given.pop("name")
        return changes.PutSkip(
            **{**given, "rule": str(payload.rule), "id": payload.id or own, "expires_at": until}
        )

    def _report(self, payload: steps.ReportStep) -> changes.JobReported:
        reported_jobs = [
            job
            for job in self._jobs.values()
            if job.target == payload.target and payload.attempt in (None, job.attempt)
        ]
        if not reported_jobs:
            which = f" with attempt {payload.attempt}" if payload.attempt is not None else ""
            raise Rejected([Problem("target", f"{payload.target} has no job{which} to report on")])
        return changes.JobReported(reported_jobs[-1].id, payload.status, payload.message)


def _version_name(payload: steps.PublishStep) -> object:
    return payload.name if payload.name is not None else f"{payload.deployment}/{payload.tag}"


def _version(payload: steps.PublishStep) -> dict[str, object]:
    keys = {"job_agent_config": "jobAgentConfig", "target_selector": "targetSelector"}
    return {
        keys.get(field, field): value
        for field in payload.__struct_fields__
        if field != "name" and (value := getattr(payload, field)) is not None
    }


def step_paths() -> AbstractContextManager[None]:
    """Problems of an object that a step spelled out are named by the step's own keys."""
    return renamed(_without_wrapping)


def _without_wrapping(path: str) -> str:
    for wrapping in ("spec.", "metadata."):
        if path.startswith(wrapping):
            return path[len(wrapping) :]
    return path
