"""Jobs as dispatches for agents: everything that an agent needs to know, in one document."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headgate.fleet.engine import views
from headgate.fleet.model import agent_configs, agent_fields, records, scrubbing
from headgate.fleet.model import objects as model
from headgate.fleet.state.state import State
from headgate.kernel import instants
from headgate.kernel.documents import describe
from headgate.kernel.problems import Problem, Rejected
from headgate.store.dispatches import Dispatch

DEFAULT_TIMEOUT_SECONDS = 3_600
LONGEST_TIMEOUT_SECONDS = 366 * 86_400
_encode = msgspec.json.Encoder().encode
_OF_A_JOB = (
    "id", "deployment", "environment", "resource", "version", "versionId", "attempt", "kind", "group", "createdAt"
)  # fmt: skip


class Undeliverable(Exception):  # noqa: N818 - it is what the dispatch is
    """No agent can be given the job: `status` and the sentence that says why."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


def dispatch_for(state: State, job: records.Job, trace_parent: str | None) -> Dispatch:
    agent = state.job_agents.get(job.agent or "")
    if agent is None:
        raise Undeliverable("invalidJobAgent", _missing_agent(job))
    bindings = bindings_of(state, job)
    if bindings is None:
        raise Undeliverable("skipped", f"{job.target} is no longer a release target")
    node = state.deployments[job.deployment]
    deployment = node.object
    bindings["deployment"] = {**node.view, "jobAgentConfig": deployment.job_agent_config}
    config, timeout_seconds = _config(agent, deployment, state.versions[job.version].object, bindings)
    document = {
        "job": bindings["job"],
        "agent": {"name": agent.name, "type": agent.type},
        "config": config,
        "variables": bindings["variables"],
        "version": bindings["version"],
        "resource": bindings["resource"],
        "environment": bindings["environment"],
        "deployment": bindings["deployment"],
        "traceParent": trace_parent,
    }
    return Dispatch(
        workspace=state.workspace,
        job=job.id,
        agent=agent.name,
        type=agent.type,
        document=_encode(document),
        created_at=job.created_at,
        not_before=job.created_at,
        deadline_at=job.created_at + instants.seconds(timeout_seconds),
    )


def bindings_of(state: State, job: records.Job) -> dict[str, object] | None:
    """What expressions in the metrics of a job's verification see; None if the target is gone.

    Those in the job's config see the same, and the secrets of the deployment, which are for its agent alone.
    """
    target = state.target_named(job.target)
    version = state.versions.get(job.version)
    if target is None or version is None:
        return None
    return {
        **target.bindings(),
        "version": version.view,
        "variables": dict(job.variables),
        "job": views.of_job(job, *_OF_A_JOB),
    }


def _missing_agent(job: records.Job) -> str:
    if job.agent is None:
        return f"deployment {job.deployment} names no job agent; set jobAgent or jobAgentSelector"
    return f"there is no job agent {job.agent}"


def _config(
    agent: model.JobAgent,
    deployment: model.Deployment,
    version: model.Version,
    bindings: Mapping[str, object],
) -> tuple[dict[str, object], float]:
    """What the agent is given, and how many seconds it has."""
    if deployment.job_agent_config:
        _refuse_closed(agent, f"deployment {deployment.name}", deployment.job_agent_config)
    if version.job_agent_config:
        _refuse_closed(agent, f"version {version.tag} of {deployment.name}", version.job_agent_config)
    merged = agent_configs.merge(agent.config, deployment.job_agent_config, version.job_agent_config)
    try:
        config = agent_configs.resolve(agent.type, merged, bindings)
        return config, _timeout_seconds(config)
    except Rejected as rejected:
        problems = _scrubber(agent, deployment, version).problems(rejected.problems)
        raise Undeliverable("invalidIntegration", str(Rejected(problems))) from None


def _scrubber(
    agent: model.JobAgent, deployment: model.Deployment, version: model.Version
) -> scrubbing.Scrubber:
    configs = (agent.config, deployment.job_agent_config, version.job_agent_config)
    return scrubbing.Scrubber(scrubbing.secrets_of_config(*configs))


def _refuse_closed(agent: model.JobAgent, whose: str, config: Mapping[str, object]) -> None:
    """What was stored before the agent closed it: nothing of it is used."""
    problems = agent_fields.closed_problems(config, agent.open_fields, "jobAgentConfig")
    if problems:
        reasons = "; ".join(str(problem) for problem in problems)
        raise Undeliverable(
            "invalidJobAgent", f"job agent {agent.name} does not take what {whose} sets: {reasons}"
        )


def _timeout_seconds(config: Mapping[str, object]) -> float:
    given = config.get("timeoutSeconds", DEFAULT_TIMEOUT_SECONDS)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if is_number and 0 < given <= LONGEST_TIMEOUT_SECONDS:  # type: ignore[operator]  # it is a number
        return float(given)  # type: ignore[arg-type]
    allowed = f"a number of seconds above 0 and up to {LONGEST_TIMEOUT_SECONDS}"
    raise Rejected((Problem("config.timeoutSeconds", f"is {describe(given)}; allowed is {allowed}"),))
