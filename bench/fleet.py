"""The engine at 100,000 release targets, and what each figure is in a fleet ten times smaller."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Iterator

from bench import fleets
from headgate.fleet import changes
from headgate.fleet.engine import Engine
from headgate.kernel import instants

DEPLOYMENTS = 20
LARGE = 5_000
SMALL = 500
ROUNDS = 5


def run() -> Iterator[str]:
    targets = DEPLOYMENTS * LARGE
    objects = fleets.parsed(DEPLOYMENTS, LARGE)
    seconds, engine = _timed_build(objects)
    yield f"build {targets} targets: {seconds:.2f} s, {seconds / targets * 1e6:.1f} us a target"
    yield f"memory: {_bytes_a_target():.0f} bytes a target (target: 2000)"
    small = fleets.built(fleets.parsed(DEPLOYMENTS, SMALL))
    large_us, small_us = _publish(engine, LARGE), _publish(small, SMALL)
    yield f"publish a version, large fleet: {large_us:.1f} us an affected target (target: 50)"
    yield f"publish a version, fleet ten times smaller: {small_us:.1f} us an affected target"
    yield f"publish, large to small: {large_us / small_us:.2f} times (target: 1.3)"
    large_us, small_us = _job_update(engine), _job_update(small)
    yield f"one job update, large fleet: {large_us:.0f} us"
    yield f"one job update, fleet ten times smaller: {small_us:.0f} us"
    yield f"job update, large to small: {large_us / small_us:.2f} times"
    started = time.perf_counter()
    document = engine.dump()
    dumped = time.perf_counter()
    Engine.load(document, fleets.IDS).decide(fleets.START + 2 * fleets.DAY)
    loaded = time.perf_counter()
    yield f"write out the state: {dumped - started:.2f} s, {len(document) / targets:.0f} bytes a target"
    yield f"load it and look at everything: {loaded - dumped:.2f} s"


def _timed_build(objects: list[changes.Object]) -> tuple[float, Engine]:
    gc.collect()
    started = time.perf_counter()
    engine = fleets.built(objects)
    return time.perf_counter() - started, engine


def _bytes_a_target() -> float:
    """All that the engine allocates for a tenth of the fleet, objects and a collecting group a node included."""
    gc.collect()
    tracemalloc.start()
    engine = fleets.built(fleets.parsed(DEPLOYMENTS, SMALL))
    _publish_once(engine, "v1", fleets.START)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert engine is not None
    return size / (DEPLOYMENTS * SMALL)


def _publish_once(engine: Engine, tag: str, now: int) -> float:
    change = fleets.version("upgrade-01", tag)
    started = time.perf_counter()
    engine.apply(change, now)
    engine.decide(now)
    return time.perf_counter() - started


def _publish(engine: Engine, resources: int) -> float:
    """Median of the first publications; each opens or joins a collection window on every node."""
    for name in ("node-drain", "node-uncordon"):
        engine.apply(fleets.version(name, "v1"), fleets.START)
    engine.decide(fleets.START)
    gc.collect()
    taken = [
        _publish_once(engine, f"v{number}", fleets.START + instants.seconds(number)) for number in range(ROUNDS)
    ]
    return statistics.median(taken) / resources * 1e6


def _job_update(engine: Engine) -> float:
    """The window closes, nodes drain; then one job after another ends, and what follows from it is decided."""
    now = fleets.START + fleets.DAY
    live = list(engine.decide(now).created)
    for minute in range(1, 40):
        now = fleets.START + fleets.DAY + instants.seconds(300 * minute)
        live += engine.decide(now).created
    taken: list[float] = []
    for job in live[:40]:
        now += instants.seconds(1)
        started = time.perf_counter()
        engine.apply(changes.JobReported(job.id, "successful"), now)
        engine.decide(now)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1e6
