"""The service at size: commits per second on each store, latency, the cost of a report, reads, start-up, memory."""

from __future__ import annotations

import contextlib
import gc
import resource
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from bench import servers
from headgate.fleet.engine import manifests
from headgate.fleet.model import changes
from headgate.kernel.identifiers import NamedIds
from headgate.runtime.commands import Caller, CommandContext
from headgate.runtime.replica import Replica
from headgate.runtime.worker import Worker, WorkerSettings, wall_clock
from headgate.runtime.workspace_engine import AfterCommit
from headgate.store import Store, Workspace
from headgate.store.sql.opening import open_store

LARGE, SMALL = 100_000, 1_000
ROLLOUT = 10_000
AT_ONCE = 500
REPORTS = 400
ME = Caller("bench")
_ids = NamedIds("bench")


def run() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, servers.postgres() as postgres:
        urls = {"memory": "memory:", "SQLite": f"sqlite:///{folder}/rollout.db", "PostgreSQL": postgres}
        yield from _rollouts({name: url for name, url in urls.items() if url is not None})
        yield from _reports(Path(folder))
        yield from _over_http(Path(folder))


def _rollouts(urls: dict[str, str]) -> Iterator[str]:
    rates = {}
    for name, url in urls.items():
        rates[name] = _rollout(url)
        against = f", {rates[name] / rates['memory']:.2f} times memory's" if name != "memory" else ""
        yield (
            f"service: {name}, {ROLLOUT:,} targets: {rates[name]:,.0f} jobs/s decided, committed and reported"
            f"{against} (target 1,000)"
        )


def _manifest(kind: str, name: str, spec: dict[str, object]) -> changes.Put:
    document = {
        "apiVersion": manifests.API_VERSION,
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    thing = manifests.parse(document, _ids, wall_clock())
    assert not isinstance(thing, manifests.ForeignObject)
    return changes.Put(thing)


def fleet(count: int) -> list[changes.Put]:
    limit = {"groupSelector": "true", "limitType": "count", "limitValue": AT_ONCE}
    return [
        _manifest("JobAgent", "puller", {"type": "pull"}),
        _manifest("Environment", "prod", {"resourceSelector": "true"}),
        _manifest("Deployment", "api", {"resourceSelector": "true", "jobAgent": "puller"}),
        _manifest("Policy", "limit", {"rules": [{"resourceConcurrency": limit}]}),
        *(
            _manifest(
                "Resource", f"host-{number:06}", {"kind": "Host", "metadata": {"zone": str(number % 7)}}
            )
            for number in range(count)
        ),
    ]


def publication(tag: str) -> changes.Put:
    return _manifest("Version", f"api-{tag}", {"deployment": "api", "tag": tag})


def _all(given: list[changes.Put]) -> object:
    def command(context: CommandContext) -> None:
        for change in given:
            context.apply(change)

    return command


class _Workplace:
    """A worker on a store, and an agent in this process that claims orders and reports them successful."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.name = f"bench-{uuid.uuid4().hex[:8]}"
        store.add_workspace(Workspace(str(uuid.uuid4()), self.name, "", wall_clock()))
        self.worker = Worker(store, WorkerSettings("bench", recheck_seconds=1e9))
        self.worker.after_commit = self._committed
        self.ended = 0
        self._ordered = threading.Event()
        self._changed = threading.Condition()

    def _committed(self, workspace: str, outcome: AfterCommit) -> None:
        if outcome.agent_types:
            self._ordered.set()
        if outcome.ended:
            with self._changed:
                self.ended += len(outcome.ended)
                self._changed.notify_all()

    def put(self, *given: changes.Put) -> None:
        self.worker.submit(self.name, _all(list(given)), ME, alone=True).result()  # type: ignore[arg-type]  # a command of nothing

    def claim(self, limit: int = 200) -> list[str]:
        orders = self.store.claim_dispatches(
            workspace=self.name, agent="puller", holder="bench", now=wall_clock(), seconds=60, limit=limit
        )
        return [order.job for order in orders]

    def serve(self, until: int) -> None:
        while self.ended < until:
            jobs = self.claim()
            if not jobs:
                self._ordered.wait(0.05)
                self._ordered.clear()
                continue
            waiting = [
                self.worker.report(self.name, changes.JobReported(job, status))
                for status in ("inProgress", "successful")
                for job in jobs
            ]
            for future in waiting:
                future.result()


@contextlib.contextmanager
def workplace(url: str, count: int) -> Iterator[_Workplace]:
    store = open_store(url)
    store.migrate()
    place = _Workplace(store)
    place.worker.start()
    try:
        place.put(*fleet(count))
        yield place
    finally:
        place.worker.stop()
        store.close()


def _rollout(url: str) -> float:
    with workplace(url, ROLLOUT) as place:
        agents = [threading.Thread(target=place.serve, args=(ROLLOUT,)) for _ in range(2)]
        begin = time.perf_counter()
        place.put(publication("v1"))
        for agent in agents:
            agent.start()
        for agent in agents:
            agent.join()
        return ROLLOUT / (time.perf_counter() - begin)


def _reports(folder: Path) -> Iterator[str]:
    """One report at a time, each in a commit of its own with the decision that follows from it; the two fleets in turn,
    so that both meet the same noise."""
    urls = {count: f"sqlite:///{folder}/reports-{count}.db" for count in (SMALL, LARGE)}
    times: dict[int, list[float]] = {count: [] for count in urls}
    with contextlib.ExitStack() as stack:
        places = {count: stack.enter_context(workplace(url, count)) for count, url in urls.items()}
        jobs = {}
        for count, place in places.items():
            place.put(publication("v1"))
            jobs[count] = place.claim(REPORTS)
        for number in range(REPORTS):
            for count, place in places.items():
                begin = time.perf_counter()
                place.worker.report(
                    place.name, changes.JobReported(jobs[count][number], "successful")
                ).result()
                times[count].append(time.perf_counter() - begin)
        name = places[LARGE].name
    costs = {count: statistics.median(found[REPORTS // 4 :]) for count, found in times.items()}
    for count, cost in costs.items():
        yield f"service: one job report at {count:,} targets: {cost * 1e3:.2f} ms"
    ratio = costs[LARGE] / costs[SMALL]
    yield f"service: one job report, {LARGE:,} against {SMALL:,} targets: {ratio:.2f} times (target 1.5)"
    yield from _start_up(urls[LARGE], name)


def _start_up(url: str, name: str) -> Iterator[str]:
    gc.collect()
    store = open_store(url)
    workspace = next(one for one in store.workspaces() if one.name == name)
    begin = time.perf_counter()
    replica = Replica.load(store, workspace)
    loaded = time.perf_counter() - begin
    replica.engine.decide(wall_clock())
    ready = time.perf_counter() - begin
    yield f"service: start-up with {LARGE:,} targets: loaded in {loaded:.1f} s, decided in {ready:.1f} s (target 10)"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield f"service: memory of this process at its peak, two such fleets: {peak:,.0f} MiB"
    store.close()


def _over_http(folder: Path) -> Iterator[str]:
    with servers.up(folder / "http") as server:
        server.apply(fleet(SMALL))
        yield from _latency(server)
        yield from _pages(server)
        yield f"service: memory of the server with {SMALL:,} targets: {server.memory_mib():,.0f} MiB"


def _latency(server: servers.Server) -> Iterator[str]:
    """From the answer to a publish until a pull agent that polls holds the job."""
    server.put_scoped_deployment("solo", "host-000001")
    times = sorted(
        server.publish_until_offered("solo", f"v{number}", "puller") * 1e3 for number in range(200)
    )
    middle, worst = times[len(times) // 2], times[int(len(times) * 0.99) - 1]
    yield f"service: publish to the first job offered, SQLite: median {middle:.1f} ms, p99 {worst:.1f} ms (target 100)"


def _pages(server: servers.Server) -> Iterator[str]:
    for limit in (100, 1_000):
        rate = server.pages_per_second("/v1/resources", limit)
        yield f"service: pages of {limit:,} resources: {rate:,.0f}/s ({rate * limit:,.0f} rows/s)"
    rate = server.pages_per_second("/v1/release-targets", 1_000)
    yield f"service: pages of 1,000 release targets with their state: {rate:,.0f}/s"
