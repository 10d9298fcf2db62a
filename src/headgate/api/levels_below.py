"""What a job of the fleet began in a cluster, explained on the levels below: from a target down to a pod.

A cluster is asked within a few seconds, by the access of the job's agent. What it does not say is said in one line: an
explanation never fails because of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from headgate.agents import job_marks
from headgate.agents.cluster_rollouts import Explain, SeenRollout
from headgate.agents.clusters import Clusters, ReachedCluster
from headgate.api.http import replies
from headgate.api.http.calls import Answer, LevelsBelow, Refusal, Request
from headgate.fleet.engine.queries import lookup
from headgate.kernel.explanations import ExplanationTree, Level, PartState
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.kubernetes.errors import ApiError, ForbiddenError, NotFoundError, UnauthorizedError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.observation import one_object
from headgate.runtime.commands import EngineView
from headgate.workload import model as workload

LONGEST_SECONDS = 5.0
MOST_AT_ONCE = 8
EXPLAINING = "explainBegunObject"
_LEVELS: Mapping[str, Level] = {"graph": "graph", "workload": "workload"}
_log = logging.getLogger("headgate.clusters")


class BegunObject(msgspec.Struct, frozen=True):
    """What a job applied, by what its agent and its reports say."""

    level: Level
    context: str | None
    api_version: str
    kind: str
    place: str
    workspace: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind} {self.place.rpartition('/')[2]}"

    def silent(self, reason: str) -> ExplanationTree:
        return ExplanationTree(str(self), self.level, PartState.UNKNOWN, reason)


class ClusterLevels:
    def __init__(
        self, clusters: Clusters, explain: Explain, longest_seconds: float = LONGEST_SECONDS
    ) -> None:
        self._clusters = clusters
        self._explain = explain
        self._longest_seconds = longest_seconds
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def explain(self, begun: BegunObject) -> ExplanationTree:
        try:
            async with asyncio.timeout(self._longest_seconds), self._turns:
                return await self._asked(begun)
        except TimeoutError:
            return begun.silent(f"the cluster does not answer within {self._longest_seconds:g} seconds")
        except Rejected:
            return begun.silent("this server may not ask the cluster of the job's agent, or does not know it")
        except (ForbiddenError, UnauthorizedError) as error:
            _log.info("%s cannot be looked at: %s", begun, error.message)
            return begun.silent("the cluster does not let the job's agent look at all of it")
        except ApiError as error:
            _log.info("%s cannot be looked at: %s", begun, error.message)
            return begun.silent("the cluster cannot be asked now")

    async def close(self) -> None:
        await self._clusters.close()

    async def _asked(self, begun: BegunObject) -> ExplanationTree:
        """A place is what a report said: what does not carry the target's mark is nothing of it, and not shown."""
        cluster = await self._clusters.named(begun.context)
        resource = await cluster.discovery.find(begun.api_version, begun.kind)
        namespace, _, name = begun.place.rpartition("/")
        try:
            live_document = await cluster.client.get(resource, name, namespace)
        except (NotFoundError, ValueError):
            return begun.silent("it is not in the cluster any more")
        if not job_marks.is_of_target(live_document, begun.workspace, begun.target):
            return begun.silent("it is not in the cluster any more")
        seen = await self._explain(cluster, resource, live_document)
        return begun.silent("it is on its way out") if seen is None else seen.tree


async def add(call: Request, answer: Answer) -> Answer:
    """To an explanation of a target, what the levels below say of its job."""
    levels = call.service.levels
    if levels is None or answer.status != 200:
        return answer
    given = answer.document
    document: dict[str, Any] = msgspec.json.decode(given) if isinstance(given, bytes) else given
    job = document.get("job")
    if not job:
        return answer
    begun = await replies.ask(call, partial(_begun, call.workspace, str(job["id"])))
    if begun is None:
        return answer
    below = await _explained(call, levels, begun)
    for child in document["tree"]["children"]:
        if child["subject"] == f"job {job['id']}":
            child["children"] = [*child["children"], below]
    return Answer(answer.status, document, answer.headers, answer.media_type)


async def _explained(call: Request, levels: LevelsBelow, begun: BegunObject) -> dict[str, Any]:
    """Beside the server, where there is a process for that: a large set takes a while to be explained."""
    aside = call.service.aside
    if aside is None:
        return (await levels.explain(begun)).document()
    asked = msgspec.structs.replace(call, query=msgspec.to_builtins(begun), raw_body=b"")
    try:
        answer = await aside.answer("clusters", EXPLAINING, asked)
    except Refusal as refusal:
        return begun.silent(f"it is not looked at now: {refusal.detail}").document()
    if answer.status != 200:
        return begun.silent("it is not looked at now").document()
    answered_document: dict[str, Any] = msgspec.json.decode(answer.document)
    return answered_document


async def explain_begun(call: Request) -> Answer:
    """The part of it that is done aside."""
    assert call.service.levels is not None
    begun = msgspec.convert(call.query, BegunObject)
    return Answer(200, msgspec.json.encode((await call.service.levels.explain(begun)).document()))


def looking(clock: Callable[[], Instant]) -> Explain:
    """How agents and explanations see an object of a cluster."""

    async def explain(
        cluster: ReachedCluster, resource: ApiResource, document: Document
    ) -> SeenRollout | None:
        observed = await one_object.observe(cluster.client, cluster.discovery, resource, document, clock())
        return None if observed is None else SeenRollout(observed.tree, observed.pods)

    return explain


def _begun(workspace: str, job_id: str, view: EngineView) -> BegunObject | None:
    """Cluster and kind are as the agent's owner wrote them: a config of a deployment cannot change these."""
    job = view.engine.jobs.get(job_id)
    agent = lookup.job_agent(view.engine, job.agent) if job is not None else None
    if job is None or agent is None or agent.type not in _LEVELS or not job.external_id:
        return None
    template = agent.config.get("instanceTemplate")
    named: Mapping[str, Any] = template if isinstance(template, Mapping) else {}
    is_set = agent.type == "workload"
    context = agent.config.get("kubeContext")
    return BegunObject(
        level=_LEVELS[agent.type],
        context=context if isinstance(context, str) else None,
        api_version=workload.API_VERSION if is_set else str(named.get("apiVersion") or ""),
        kind=workload.KIND if is_set else str(named.get("kind") or ""),
        place=job.external_id,
        workspace=workspace,
        target=job.target,
    )
