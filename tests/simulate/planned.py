"""A workspace to plan in: one that was given objects, and lived for a while with agents that take a minute."""

from typing import Any

import msgspec

from headgate.fleet.engine import differences, manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.fleet.model import objects as model
from headgate.kernel import identifiers, instants
from headgate.kernel.instants import Instant
from headgate.simulate import planning
from headgate.simulate.planning import PlannedRollout

from .small import START, manifest

IDS = identifiers.NamedIds("")
NOW = instants.parse(START)


def workspace(*documents: dict[str, Any], at: Instant = NOW) -> Engine:
    engine = Engine(IDS)
    for document in documents:
        engine.apply(changes.Put(parsed(document, at)), at)
    engine.decide(at)
    return engine


def parsed(document: dict[str, Any], at: Instant = NOW) -> Any:
    return manifests.parse(document, IDS, at)


def version(tag: str, deployment: str = "api", **more: object) -> dict[str, Any]:
    return manifest("Version", f"{deployment}/{tag}", deployment=deployment, tag=tag, **more)


def finish_jobs(engine: Engine, at: Instant) -> None:
    for job in list(engine.jobs.values()):
        if job.status in model.JOB_LIVE:
            engine.apply(changes.JobReported(job.id, "successful"), at)
    engine.decide(at)


def plan(
    engine: Engine,
    *documents: dict[str, Any],
    at: Instant = NOW,
    durations: dict[str, int] | None = None,
    until: Instant | None = None,
    assume: tuple[str, ...] = (),
) -> PlannedRollout:
    made = [changes.Put(parsed(document, at)) for document in documents]
    return planning.plan(engine.dump(), IDS, at, made, durations or {}, until, assume=assume)


def answer(engine: Engine, *documents: dict[str, Any], at: Instant = NOW, **more: Any) -> dict[str, Any]:
    """The document that a client gets: what is different, and the future."""
    found = differences.compare(engine, [parsed(document, at) for document in documents])
    planned = plan(engine, *documents, at=at, **more)
    return {"differences": msgspec.json.decode(msgspec.json.encode(found)), **planned.document()}
