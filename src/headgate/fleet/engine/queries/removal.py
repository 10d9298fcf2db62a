"""What the deletion of an object would end, and who needs it."""

from __future__ import annotations

from headgate.fleet.engine import concerns, deleting
from headgate.fleet.engine.concerns import Concern
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import concerned
from headgate.fleet.model import kinds
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind


def concern_of(engine: Engine, kind: Kind, item: Object) -> Concern:
    """The targets that it has or guards."""
    if kind is kinds.RESOURCE:
        return concerned.by_resource(engine, item.name)
    return concerned.by_object(engine, item) or concerns.of(())


def needed_by(engine: Engine, kind: Kind, item: Object) -> str | None:
    """Why it cannot go, in a sentence: who would be without an agent, or without a version that runs."""
    state = engine.state
    if kind is kinds.JOB_AGENT:
        return deleting.users_of_agent(state, item.name)
    if kind is kinds.DEPLOYMENT:
        return deleting.dependents(state, state.deployments[item.name])
    if kind is kinds.VERSION:
        return deleting.users_of_version(state, state.versions[item.id])
    return None
