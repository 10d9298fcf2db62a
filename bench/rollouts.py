"""A version under a gradual rollout: what publishing it costs a target, in processor time of the decision alone."""

import gc
import time
from collections.abc import Iterator

from bench import fleets
from headgate.fleet.engine import manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.kernel import instants

TARGETS = 4_000
ROUNDS = 5
LONGEST_INTERVAL_SECONDS = 300
_MANIFEST = {"apiVersion": "headgate.dev/v1"}
_HOSTS = {"resourceSelector": "resource.kind == 'Host'"}


def run() -> Iterator[str]:
    at_once = _publish(_fleet(0))
    yield f"publish under a gradual rollout, everyone's turn now: {at_once:.1f} us a target (target: 60)"
    in_turn = _publish(_fleet(LONGEST_INTERVAL_SECONDS))
    yield f"publish under a gradual rollout, one turn at a time: {in_turn:.1f} us a target (target: 10)"


def _fleet(interval_seconds: int) -> Engine:
    documents: list[dict[str, object]] = [
        {
            "name": "In Turn",
            "rules": [{"gradualRollout": {"rolloutType": "linear", "timeScaleInterval": interval_seconds}}],
        },
        {**_MANIFEST, "kind": "Environment", "metadata": {"name": "prod"}, "spec": _HOSTS},
        {**_MANIFEST, "kind": "Deployment", "metadata": {"name": "api"}, "spec": _HOSTS},
    ]
    documents += [
        {
            **_MANIFEST,
            "kind": "Resource",
            "metadata": {"name": f"host-{number:05}"},
            "spec": {"kind": "Host", "metadata": {"zone": str(number % 7)}},
        }
        for number in range(TARGETS)
    ]
    return fleets.built([manifests.parse(document, fleets.IDS, fleets.START) for document in documents])  # type: ignore[misc]


def _publish(engine: Engine) -> float:
    """The least of several versions, each published when the last one runs everywhere: the neighbours on the machine are
    not what is measured."""
    taken: list[float] = []
    now = fleets.START
    for number in range(ROUNDS):
        change = fleets.version("api", f"v{number}")
        gc.collect()
        started = time.process_time()
        engine.apply(change, now)
        created = engine.decide(now).created
        taken.append(time.process_time() - started)
        now += instants.seconds(TARGETS * LONGEST_INTERVAL_SECONDS)
        for job in (*created, *engine.decide(now).created):
            engine.apply(changes.JobReported(job.id, "successful"), now)
        engine.decide(now)
    return min(taken) / TARGETS * 1e6
