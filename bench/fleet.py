"""The engine at 100,000 release targets, and what each figure is in a fleet ten times smaller."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Iterator

from bench import fleets
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.fleet.model.records import Job
from headgate.kernel import instants

DEPLOYMENTS = 20
LARGE = 5_000
SMALL = 500
ROUNDS = 7
UPDATES = 60


def run() -> Iterator[str]:
    targets = DEPLOYMENTS * LARGE
    objects = fleets.parsed(DEPLOYMENTS, LARGE)
    seconds, engine = _timed_build(objects)
    yield f"build {targets} targets: {seconds:.2f} s, {seconds / targets * 1e6:.1f} us a target"
    yield f"memory: {_bytes_a_target():.0f} bytes a target (target: 2000)"
    small = fleets.built(fleets.parsed(DEPLOYMENTS, SMALL))
    large_us, small_us = _publish_both(engine, small)
    yield f"publish a version, large fleet: {large_us:.1f} us an affected target (target: 50)"
    yield f"publish a version, fleet ten times smaller: {small_us:.1f} us an affected target"
    yield f"publish, large to small: {large_us / small_us:.2f} times (target: 1.3)"
    large_us, small_us = _job_update_both(engine, small)
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
    started = time.process_time()
    engine.apply(change, now)
    engine.decide(now)
    return time.process_time() - started


def _publish_both(large: Engine, small: Engine) -> tuple[float, float]:
    """Medians of publications in turn; each opens or joins a collection window on every node. Processor time, because
    the two fleets are to be compared and not the neighbours on the machine."""
    for engine in (large, small):
        for name in ("node-drain", "node-uncordon"):
            engine.apply(fleets.version(name, "v1"), fleets.START)
        engine.decide(fleets.START)
    gc.collect()
    taken: dict[int, list[float]] = {LARGE: [], SMALL: []}
    for number in range(ROUNDS):
        now = fleets.START + instants.seconds(number)
        taken[LARGE].append(_publish_once(large, f"v{number}", now))
        taken[SMALL].append(_publish_once(small, f"v{number}", now))
    large_us, small_us = (statistics.median(taken[size]) / size * 1e6 for size in (LARGE, SMALL))
    return large_us, small_us


def _job_update_both(large: Engine, small: Engine) -> tuple[float, float]:
    """The window closes, nodes drain; then one job after another ends, and what follows from it is decided."""
    live = {id(engine): _drain(engine) for engine in (large, small)}
    now = fleets.START + 2 * fleets.DAY
    taken: dict[int, list[float]] = {id(large): [], id(small): []}
    for number in range(UPDATES):
        now += instants.seconds(1)
        for engine in (large, small):
            job = live[id(engine)][number]
            started = time.process_time()
            engine.apply(changes.JobReported(job.id, "successful"), now)
            engine.decide(now)
            taken[id(engine)].append(time.process_time() - started)
    large_us, small_us = (statistics.median(taken[id(engine)]) * 1e6 for engine in (large, small))
    return large_us, small_us


def _drain(engine: Engine) -> list[Job]:
    live: list[Job] = []
    for step in range(UPDATES):
        live += engine.decide(fleets.START + fleets.DAY + instants.seconds(300 * step)).created
    return live
