"""`workload`: a PodCliqueSet is applied from a template; the job ends when every replica is updated and available.

Of a set that is held, the update is aborted: what is not yet moved keeps its revision, and what was taken down comes back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from headgate.agents import applied_objects
from headgate.agents.applied_objects import AppliedObject, SetTemplate
from headgate.agents.cluster_rollouts import PROGRESS_SECONDS, RolloutAgent, RolloutProgress
from headgate.agents.port import Assignment, TimeoutSeconds
from headgate.kernel.decisions import Reason
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes import objects
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import Document
from headgate.workload import model
from headgate.workload.plan import conditions, operate, set_states
from headgate.workload.plan.situation import ABORT

_PATH = "config.setTemplate"


class WorkloadConfig(msgspec.Struct, frozen=True, rename="camel"):
    set_template: dict[str, Any]
    kube_context: str | None = None
    progress_deadline_seconds: Annotated[int, msgspec.Meta(ge=1)] = PROGRESS_SECONDS
    timeout_seconds: TimeoutSeconds | None = None


class WorkloadAgent(RolloutAgent):
    type = "workload"

    async def _wanted(self, assignment: Assignment) -> AppliedObject:
        config = assignment.config(WorkloadConfig)
        template = applied_objects.set_template(config.set_template, _PATH)
        _check_kind(template)
        cluster = await self._cluster(config.kube_context, assignment)
        resource = await cluster.discovery.find(model.API_VERSION, model.KIND)
        return AppliedObject.of(cluster, resource, template, assignment, _PATH)

    async def _progress(self, wanted: AppliedObject, live: Document) -> RolloutProgress:
        known = progress_of(live)
        if known.state not in ("moving", "held"):
            return known
        seen = None
        with contextlib.suppress(ApiError):  # how it is does not depend on whether its parts may be read
            seen = await self._explain(wanted.cluster, wanted.resource, live)
        if seen is None:
            return known
        new, total = seen.pods
        message = f"{new} of {total} pods updated, {known.message}"
        reason = first_reason(seen.tree)
        if reason is not None:
            message += f", waiting for {reason}"
        return RolloutProgress(known.state, message, f"{known.message} {new} {total}")

    def _hold(self, wanted: AppliedObject, live: Document) -> tuple[Mapping[str, str], str] | None:
        progress = (live.get("status") or {}).get("rollingUpdateProgress") or {}
        if progress_of(live).state == "done" or "updateEndedAt" in progress or not progress:
            return None
        aborted = operate.abort(objects.read(live, wanted.resource))
        comment = "the update is aborted: what is not yet moved keeps its revision until the next job"
        return {ABORT: aborted.annotations[ABORT]}, comment

    def _progress_seconds(self, assignment: Assignment) -> int:
        return assignment.config(WorkloadConfig).progress_deadline_seconds


def _check_kind(template: SetTemplate) -> None:
    given = (template.api_version or model.API_VERSION, template.kind or model.KIND)
    if given != (model.API_VERSION, model.KIND):
        message = f'is "{given[1]}" of "{given[0]}"; allowed is {model.KIND} of {model.API_VERSION}'
        raise Rejected((Problem(f"{_PATH}.kind", message),))


def progress_of(pod_set: Document) -> RolloutProgress:
    """By its status alone. A set that was rolled back, or whose update was aborted, is not what was applied."""
    status: Mapping[str, Any] = pod_set.get("status") or {}
    if status.get("observedGeneration") != pod_set["metadata"]["generation"]:
        return RolloutProgress("moving", "waiting for the operator to take it up")
    by_type = {str(one.get("type")): one for one in status.get("conditions") or ()}
    progressing = by_type.get(conditions.PROGRESSING, {})
    available = str(by_type.get(conditions.AVAILABLE, {}).get("message") or "no replica is available yet")
    reason, message = progressing.get("reason"), str(progressing.get("message") or "")
    progress = status.get("rollingUpdateProgress") or {}
    is_over = not progress or "updateEndedAt" in progress
    if reason == Reason.ABORTED and ABORT not in (pod_set["metadata"].get("annotations") or {}):
        return RolloutProgress("moving", "waiting for the operator to see that it goes on")
    if reason == Reason.ROLLED_BACK or (status.get("rolledBack") and is_over):
        return RolloutProgress("failed", message)
    if progressing.get("status") == "False" and not status.get("rolledBack"):
        return RolloutProgress("failed", message)
    if reason in (Reason.PAUSED, Reason.ON_DELETE):
        is_new = status.get("updatedReplicas") == pod_set["spec"].get("replicas")
        if reason == Reason.PAUSED or not is_new:
            return RolloutProgress("held", f"{available}; {message}")
    if is_over and by_type.get(conditions.AVAILABLE, {}).get("status") == "True":
        return RolloutProgress("done", f"{available} at revision {status.get('updateRevision')}")
    return RolloutProgress("moving", f"{available}; {message}")


def first_reason(tree: ExplanationTree) -> str | None:
    """What stands in the way first, of what is stuck."""
    stuck = (line.message for line in tree.lines if line.reason not in set_states.OF_THE_WHOLE)
    return next(stuck, None)
