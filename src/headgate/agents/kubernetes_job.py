"""`kubernetes`: a Job in a cluster, made from a template.

Its name is made of the job's id, so that a Job whose creation was not answered is found again and not made twice. It is
kept in the cluster for a while after its end, longer than a server that was killed needs to come back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from headgate.agents import job_manifests, job_marks, job_pods, pod_logs
from headgate.agents.clusters import ClusterAgent, ReachedCluster, check_is_of
from headgate.agents.port import Assignment, JobProgress, TimeoutSeconds, TryLaterError, shortened
from headgate.kernel import conditions, instants
from headgate.kubernetes.errors import AlreadyExistsError, ConflictError, NotFoundError
from headgate.kubernetes.resources import ApiResource, Document

JOBS = ApiResource("batch", "v1", "Job", "jobs")
MANAGER = "headgate-job-agent"
DELETING_SECONDS = 1.0
_LONGEST_SLUG = 40


class KubernetesConfig(msgspec.Struct, frozen=True, rename="camel"):
    job_template: dict[str, Any]
    kube_context: str | None = None
    parameters: dict[str, object] = {}
    log_lines: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 20
    ttl_seconds_after_finished: Annotated[int, msgspec.Meta(ge=60)] = 3_600
    timeout_seconds: TimeoutSeconds | None = None


class KubernetesJobAgent(ClusterAgent):
    type = "kubernetes"

    async def _look(self, assignment: Assignment) -> JobProgress:
        config = assignment.config(KubernetesConfig)
        cluster = await self._cluster(config, assignment)
        place = _JobLocation.of(cluster, config, assignment)
        job = await place.job()
        if "uid" in assignment.state:
            return await self._judged(place, job, config, assignment)
        if job is None:
            job = await self._created(place, config, assignment)
            if job is None:
                message = (
                    f"the Job {place} may have run while nobody looked, and is not there any more; it is not begun "
                    "a second time"
                )
                return JobProgress("externalRunNotFound", message, str(place))
        if job_marks.job_of(job) != assignment.job.id:
            return JobProgress(
                "failure", f"there is a Job {place} that is not of this job; it is not touched", str(place)
            )
        await assignment.keep(uid=job["metadata"]["uid"])
        return await self._judged(place, job, config, assignment)

    async def _created(
        self, place: _JobLocation, config: KubernetesConfig, assignment: Assignment
    ) -> Document | None:
        """None if it may have been made before and have been cleaned up since."""
        began_at = assignment.state.get("creatingAt")
        if began_at is None:
            await assignment.keep(creatingAt=self._clock())
        elif self._clock() - began_at >= instants.seconds(config.ttl_seconds_after_finished):
            return None
        manifest = job_manifests.manifest(
            config.job_template,
            assignment,
            name=place.name,
            namespace=place.namespace,
            parameters=config.parameters,
            ttl_seconds=config.ttl_seconds_after_finished,
        )
        try:
            return await place.cluster.client.create(JOBS, manifest, manager=MANAGER)
        except AlreadyExistsError:
            raise TryLaterError(f"the Job {place} is there already; looking at it", 0.1) from None

    async def _judged(
        self, place: _JobLocation, job: Document | None, config: KubernetesConfig, assignment: Assignment
    ) -> JobProgress:
        uid = assignment.state["uid"]
        if job is None or job["metadata"]["uid"] != uid:
            message = f"the Job {place} was deleted before its end was seen"
            return JobProgress("externalRunNotFound", message, str(place))
        pods = await job_pods.of_job(place.cluster.client, place.namespace, uid)
        await pod_logs.print_new(place.cluster.client, pods, assignment)
        ended = _ended(job)
        if ended is None:
            message = shortened(_how_it_is(job, pods))
            wait = self._pace.seconds(assignment.job.id, message)
            self._has_seen(assignment, place.cluster, JOBS, job)
            return JobProgress("inProgress", message, str(place), requeue_seconds=wait)
        status, reason = ended
        message = f"the Job {place} " + ("is complete" if status == "successful" else f"failed: {reason}")
        telling_pod = job_pods.failed(pods) if status != "successful" else job_pods.newest(pods)
        if status != "successful" and telling_pod is not None:
            message += f"; {job_pods.end_of(telling_pod)}"
        lines = await job_pods.last_lines(place.cluster.client, telling_pod, config.log_lines)
        return JobProgress(status, shortened("\n".join([message, *lines])), str(place))

    async def _end(self, assignment: Assignment) -> str | None:
        """Its pods go before it does, so that nothing of it runs when it is gone."""
        config = assignment.config(KubernetesConfig)
        cluster = await self._cluster(config, assignment)
        place = _JobLocation.of(cluster, config, assignment)
        job = await place.job()
        if job is None or job_marks.job_of(job) != assignment.job.id:
            return None
        metadata = job["metadata"]
        if "deletionTimestamp" not in metadata:
            try:
                await cluster.client.delete(
                    JOBS, place.name, place.namespace, uid=metadata["uid"], propagation="Foreground"
                )
            except (NotFoundError, ConflictError):
                return None
        raise TryLaterError(f"the Job {place} is being deleted", DELETING_SECONDS)

    async def _cluster(self, config: KubernetesConfig, assignment: Assignment) -> ReachedCluster:
        cluster = await self._clusters.named(config.kube_context)
        await check_is_of(cluster, assignment.document.resource)
        return cluster


class _JobLocation(msgspec.Struct, frozen=True):
    """Where the Job of a job is, whether it is there or not."""

    cluster: ReachedCluster
    namespace: str
    name: str

    @classmethod
    def of(cls, cluster: ReachedCluster, config: KubernetesConfig, assignment: Assignment) -> _JobLocation:
        namespace = job_manifests.namespace_of(config.job_template) or cluster.namespace
        return cls(cluster, namespace, _name(assignment))

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    async def job(self) -> Document | None:
        try:
            return await self.cluster.client.get(JOBS, self.name, self.namespace)
        except NotFoundError:
            return None


def _name(assignment: Assignment) -> str:
    """A label has 63 characters at most, and pods carry the name as one."""
    slug = re.sub(r"[^a-z0-9]+", "-", assignment.job.deployment.lower())[:_LONGEST_SLUG].strip("-")
    digest = hashlib.sha256(f"{assignment.workspace}/{assignment.job.id}".encode()).hexdigest()[:16]
    return f"{slug}-{digest}" if slug else f"headgate-{digest}"


def _ended(job: Document) -> tuple[str, str] | None:
    status = job.get("status") or {}
    if conditions.is_true(status, "Complete"):
        return "successful", ""
    failed = conditions.find(status, "Failed")
    if failed is None or failed.get("status") != "True":
        return None
    words = [str(failed.get(key) or "") for key in ("reason", "message")]
    return "failure", ": ".join(part for part in words if part) or "it does not say why"


def _how_it_is(job: Document, pods: list[Document]) -> str:
    status: Mapping[str, Any] = job.get("status") or {}
    if "deletionTimestamp" in job["metadata"]:
        return "the Job is being deleted by somebody"
    if job["spec"].get("suspend"):
        return "the Job is suspended, which somebody must end"
    waits = job_pods.waiting(pods)
    if waits:
        return waits
    active, failed = int(status.get("active") or 0), int(status.get("failed") or 0)
    pods_running = (
        f"{active} of {job['spec'].get('completions') or 1} pods running" if active else "no pod yet"
    )
    return pods_running + (f", {failed} failed before" if failed else "")
