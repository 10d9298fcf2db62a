"""What others wait while one caller floods: a small write and /healthz, in the flooded workspace and in another one."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench import servers, service

TARGETS = 5_000
LARGE_SET = 100_000
CONNECTIONS = 10
SECONDS = 4.0
PAUSE_SECONDS = 0.02
TARGET_MILLISECONDS = 250
_NINE = "[1, 2, 3, 4, 5, 6, 7, 8, 9]"
_COSTLY = f"{_NINE}.all(a, {_NINE}.all(b, {_NINE}.all(c, a + b + c > 0))) && false"
Json = dict[str, Any]


class Flood(msgspec.Struct, frozen=True):
    name: str
    method: str
    path: str
    body: bytes = b""


def floods() -> list[Flood]:
    manifests = _encoded({"manifests": [_resource(number) for number in range(5_000)]})
    version = _encoded({"version": {"deployment": "api", "tag": "v9", "name": "api-v9"}})
    set_ = _encoded({"provider": "flood", "resources": [_flat(number, "small") for number in range(1_000)]})
    costly = _query(_COSTLY)
    return [
        Flood("nobody", "GET", ""),
        Flood("GET /v1/events?cel=", "GET", f"/v1/events?limit=1&cel={costly}"),
        Flood("GET /v1/resources?cel=", "GET", f"/v1/resources?limit=1&cel={costly}"),
        Flood("GET /v1/resources?limit=1000", "GET", "/v1/resources?limit=1000"),
        Flood("GET /v1/release-targets?state=", "GET", "/v1/release-targets?limit=1000&state=failed"),
        Flood("GET /v1/jobs?cel=", "GET", f"/v1/jobs?limit=1&cel={costly}"),
        Flood("GET /v1/status", "GET", "/v1/status"),
        Flood("GET /v1/export", "GET", "/v1/export"),
        Flood(
            "GET /v1/release-targets/{target}/explain",
            "GET",
            "/v1/release-targets/api/prod/host-000001/explain",
        ),
        Flood("POST /v1/diff", "POST", "/v1/diff", manifests),
        Flood("POST /v1/apply dryRun", "POST", "/v1/apply", manifests[:-1] + b',"dryRun":true}'),
        Flood("POST /v1/plan", "POST", "/v1/plan", version),
        Flood("PUT /v1/signals/{signal}", "PUT", "/v1/signals/flood", b'{"value":1}'),
        Flood("PUT /v1/resources/set of 1,000", "PUT", "/v1/resources/set", set_),
    ]


def _encoded(document: object) -> bytes:
    return json.dumps(document).encode()


def _query(text: str) -> str:
    return servers.quote(text, safe="")


def _resource(number: int) -> Json:
    spec = {"kind": "Host", "metadata": {"zone": str(number % 7), "rack": str(number)}}
    name = {"name": f"host-{number:06}"}
    return {"apiVersion": "headgate.dev/v1", "kind": "Resource", "metadata": name, "spec": spec}


def _flat(number: int, prefix: str) -> Json:
    return {"name": f"{prefix}-{number:06}", "kind": "Shelf", "metadata": {"zone": str(number % 7)}}


def run() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _on("SQLite", Path(folder) / "sqlite", None, floods())
        with servers.postgres() as url:
            if url is not None:
                yield from _on("PostgreSQL", Path(folder) / "postgres", url, [])


def _on(database: str, folder: Path, url: str | None, given: list[Flood]) -> Iterator[str]:
    with servers.up(folder, url) as server:
        place = _Place(server)
        for flood in given:
            yield from place.while_flooded(flood)
        yield from place.while_set_is_put(database)


class _Place:
    def __init__(self, server: servers.Server) -> None:
        self._server = server
        server.apply(service.fleet(TARGETS))
        server.call("POST", "/v1/workspaces", {"name": "elsewhere"})
        server.call("POST", "/v1/deployments/api/versions", {"tag": "v1"})
        made = server.call("POST", "/v1/tokens", {"name": "flood", "role": "operator"})
        self._token = made["secret"]

    def while_flooded(self, flood: Flood) -> Iterator[str]:
        with contextlib.nullcontext("") if not flood.path else self._flooding(flood):
            time.sleep(0.5)
            waits = self._probe(lambda begin: time.perf_counter() - begin < SECONDS)
        yield from _lines(f"flood of {flood.name}", waits)

    def while_set_is_put(self, database: str) -> Iterator[str]:
        body = {"provider": "large", "resources": [_flat(number, "large") for number in range(LARGE_SET)]}
        content = _encoded(body)
        took: list[float] = []

        def put() -> None:
            begin = time.perf_counter()
            self._server.put_bytes("/v1/resources/set", content)
            took.append(time.perf_counter() - begin)

        putting = threading.Thread(target=put)
        putting.start()
        waits = self._probe(lambda _: putting.is_alive())
        putting.join()
        yield from _lines(f"{database}, a set of {LARGE_SET:,} resources", waits)
        yield f"waits: {database}, a set of {LARGE_SET:,} resources took {took[0]:.1f} s"

    @contextlib.contextmanager
    def _flooding(self, flood: Flood) -> Iterator[None]:
        command = [sys.executable, "-m", "bench.flood", self._server.address, flood.method, flood.path]
        process = subprocess.Popen(
            [*command, str(CONNECTIONS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "HEADGATE_TOKEN": self._token},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(flood.body)
        process.stdin.close()
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()
            answered = process.stdout.read().decode().strip()
            process.wait()
            print(f"# {flood.name} was answered {answered}", file=sys.stderr)

    def _probe(self, goes_on: Any) -> dict[str, list[float]]:
        probes = {
            "a write in another workspace": ("PUT", "/v1/signals/probe?workspace=elsewhere"),
            "a write in the same workspace": ("PUT", "/v1/signals/probe"),
            "/healthz": ("GET", "/healthz"),
        }
        waits: dict[str, list[float]] = {name: [] for name in probes}
        begin = time.perf_counter()

        def probe(name: str) -> None:
            method, path = probes[name]
            link = self._server.connection()
            while goes_on(begin):
                asked = time.perf_counter()
                self._server.fetch(method, path, {"value": asked} if method == "PUT" else None, link)
                waits[name].append(time.perf_counter() - asked)
                time.sleep(PAUSE_SECONDS)
            link.close()

        threads = [threading.Thread(target=probe, args=(name,)) for name in probes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return waits


def _lines(what: str, waits: dict[str, list[float]]) -> Iterator[str]:
    for name, seconds in waits.items():
        found = sorted(one * 1e3 for one in seconds)
        middle, worst = found[len(found) // 2], found[min(len(found) - 1, int(len(found) * 0.99))]
        yield (
            f"waits: {what}: {name}: p50 {middle:.1f} ms, p99 {worst:.1f} ms "
            f"({len(found)} asked, target {TARGET_MILLISECONDS})"
        )
