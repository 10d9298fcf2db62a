"""What deployments and versions may say to the agents that run their jobs."""

from __future__ import annotations

from headgate.fleet.model import agent_fields
from headgate.fleet.model import objects as model
from headgate.fleet.state.state import State
from headgate.kernel.problems import Rejected


def check_deployment(state: State, deployment: model.Deployment, old: model.Deployment | None) -> None:
    """Raises Rejected. What is stored already and stays as it is can be stored again; its jobs say what is wrong."""
    agent = (deployment.job_agent, deployment.job_agent_selector)
    is_known = old is not None and agent == (old.job_agent, old.job_agent_selector)
    if not (is_known and old is not None and old.job_agent_config == deployment.job_agent_config):
        _check(state, deployment, deployment.job_agent_config)


def check_version(
    state: State, deployment: model.Deployment, version: model.Version, old: model.Version | None
) -> None:
    if old is None or old.job_agent_config != version.job_agent_config:
        _check(state, deployment, version.job_agent_config)


def _check(state: State, deployment: model.Deployment, config: model.JsonMap) -> None:
    problems = agent_fields.closed_problems(config, _opened(state, deployment)) if config else []
    if problems:
        raise Rejected(problems)


def _opened(state: State, deployment: model.Deployment) -> set[str] | None:
    """By the agent that it names; of a selector nobody knows yet whom it chooses, so by any of them."""
    if deployment.job_agent is not None:
        agent = state.job_agents.get(deployment.job_agent)
        return set(agent.open_fields) if agent is not None else None
    if deployment.job_agent_selector is None or not state.job_agents:
        return None
    return {field for agent in state.job_agents.values() for field in agent.open_fields}
