"""The console in a real browser with few and with many targets: the first view, scrolling, and a change from its commit
to the screen. Figures of the browser itself; nothing is judged."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from playwright.sync_api import Browser, Page, sync_playwright

SIZES = (100, 10_000)
CHANGES = 10
MOST_SCROLLS = 30
PLAN = "/v1/future"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

Change = Callable[["_Service", int], None]

_SCROLL = """
() => new Promise((resolve) => {
  const grid = document.querySelector(".grid");
  grid.scrollTop = 0;
  const frames = [];
  let last = performance.now();
  const step = (now) => {
    frames.push(now - last);
    last = now;
    grid.scrollTop += 400;
    if (frames.length < 120) requestAnimationFrame(step);
    else resolve(frames.slice(1).sort((a, b) => a - b));
  };
  requestAnimationFrame(step);
})
"""
_SEEN = """
(name) => new Promise((resolve) => {
  const look = () => {
    if (document.querySelector(".legend")?.textContent.includes(name)) resolve(Date.now());
    else requestAnimationFrame(look);
  };
  look();
})
"""


def run() -> Iterator[str]:
    if CHROMIUM is None:
        yield "console: Chromium is not installed here"
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
                yield from _measured(browser, page, Path(folder), size)
                page.context.close()
        browser.close()


def _measured(browser: Browser, page: Page, folder: Path, size: int) -> Iterator[str]:
    command = [sys.executable, "-m", "headgate", "up", "--port", "0", "--data", str(folder / "data")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[3]
        token = process.stdout.readline().split()[-1]
        link = process.stdout.readline().split()[-1]
        service = _Service(address, token)
        service.fill(size)
        page.set_default_timeout(120_000)
        page.goto(link)
        page.wait_for_selector(".fresh.good", timeout=120_000)
        answered: list[str] = []
        page.on("response", lambda answer: answered.append(urlsplit(answer.url).path))
        begin = time.monotonic()
        page.goto(f"{address}/fleet?view=grid")
        page.wait_for_selector(".legend .mark", timeout=120_000)
        first = time.monotonic() - begin
        browser.start_tracing(page=page, categories=["toplevel"])
        frames = sorted(_frames(page, answered))
        busiest = _busiest(browser.stop_tracing())
        jobs = sorted(_timed(page, service, "up to date", _job_ends))
        freezes = sorted(_timed(page, service, "frozen", _freeze_one))
        yield (
            f"console: {size:,} targets, first view {first:.2f} s (target 2); frames while scrolling: median "
            f"{frames[len(frames) // 2]:.0f} ms, longest {frames[-1]:.0f} ms, {sum(one > 50 for one in frames)} of "
            f"{len(frames)} over 50 ms; busiest {busiest:.0f} ms of the processor"
        )
        yield (
            f"console: {size:,} targets, on screen after its commit: the end of a job median "
            f"{jobs[len(jobs) // 2]:.0f} ms, longest {jobs[-1]:.0f} ms (target 300); a freeze, for which all are looked at, "
            f"median {freezes[len(freezes) // 2]:.0f} ms, longest {freezes[-1]:.0f} ms"
        )
    finally:
        process.terminate()
        process.wait(30)


def _frames(page: Page, answered: list[str]) -> Iterator[float]:
    """Until the plan has come and once more: it is the longest answer, and comes while somebody scrolls."""
    for _ in range(MOST_SCROLLS):
        is_last = PLAN in answered
        yield from page.evaluate(_SCROLL)
        if is_last:
            return


def _busiest(trace: bytes) -> float:
    """The longest that the page kept its thread to itself in one go, in milliseconds of the processor: what others on the
    machine take away is not in it."""
    events = msgspec.json.decode(trace)["traceEvents"]
    threads = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks = (one.get("tdur", 0) for one in events if (one["pid"], one["tid"]) in threads)
    return max(tasks, default=0) / 1000


def _timed(page: Page, service: _Service, word: str, change: Change) -> Iterator[float]:
    """The answer to whoever made the change is its commit."""
    for number in range(CHANGES):
        page.evaluate(f"(text) => {{ window.seen = ({_SEEN})(text); }}", f"{number + 1:,} {word}")
        change(service, number)
        committed = time.time() * 1000
        yield page.evaluate("() => window.seen") - committed
        page.wait_for_timeout(500)


def _job_ends(service: _Service, number: int) -> None:
    [claimed] = service.ask("POST", "job-agents/puller/claim", {"waitSeconds": 30})["jobs"]
    report = {"token": claimed["claim"]["token"], "status": "successful"}
    service.ask("POST", f"jobs/{claimed['job']['id']}/report", report)


def _freeze_one(service: _Service, number: int) -> None:
    selector = f"resource.name == 'node-{50 + number}'"
    service.ask("POST", "freezes", {"name": f"f{number}", "reason": "bench", "selector": selector})


class _Service:
    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._token = token

    def ask(self, method: str, path: str, body: Any) -> Any:
        request = urllib.request.Request(
            f"{self._address}/v1/{path}",
            msgspec.json.encode(body),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return msgspec.json.decode(answer.read() or b"null")

    def fill(self, size: int) -> None:
        """One at a time is changed, the others wait for it."""

        def manifest(kind: str, name: str, **spec: Any) -> dict[str, Any]:
            return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}

        limit = {"groupSelector": "true", "limitType": "count", "limitValue": 1}
        things = [
            manifest("JobAgent", "puller"),
            manifest("Environment", "prod", resourceSelector="true"),
            manifest("Deployment", "api", jobAgent="puller", resourceSelector="true"),
            manifest(
                "Policy", "careful", selector="true", rules=[{"name": "one", "resourceConcurrency": limit}]
            ),
        ]
        self.ask("POST", "apply", {"manifests": things})
        resources = [
            {"name": f"node-{number}", "kind": "Node", "metadata": {"zone": str(number % 3)}}
            for number in range(size)
        ]
        self.ask("PUT", "resources/set", {"provider": "bench", "resources": resources})
        self.ask("POST", "deployments/api/versions", {"tag": "v1"})
