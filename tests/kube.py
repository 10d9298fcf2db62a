"""A Kubernetes control plane for the tests, from the program that `scripts/kube` builds.

One serves all workers of a test session, and every test has a namespace of its own in it. A test that stops or restarts
it has one of its own too. Pods and nodes behave as the annotations say that `control_plane/configuration.go` lists.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import json
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.kernel.backoffs import Backoff
from headgate.kubernetes import kubeconfig
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError, NotFoundError
from headgate.kubernetes.resources import NAMESPACES, ApiResource
from headgate.kubernetes.transport import Transport

_SCRIPT = Path(__file__).parents[1] / "scripts" / "kube"
_CANNOT = 77
_NODES = 4
_PODS_PER_NODE = 110
_PATIENCE_SECONDS = float(os.environ.get("HEADGATE_KUBE_PATIENCE_SECONDS", "1800"))
"""How long a build that runs already is waited for."""
_POLL_SECONDS = 0.03
_STARTS_AT_MOST = 20
CRASH: dict[str, Any] = {}
"""In an audit log: here the API server was killed."""
_CRASH_LINE = b"{}\n"
_SERVICE_ACCOUNTS = ApiResource("", "v1", "ServiceAccount", "serviceaccounts")


class AbsentError(Exception):
    """There is no control plane on this machine, for the reason it says."""


@functools.cache
def program() -> Path:
    """Built if it has to be; whoever comes while another builds it waits. Raises AbsentError."""
    try:
        done = subprocess.run(
            [str(_SCRIPT)], capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        waited = f"{_PATIENCE_SECONDS / 60:g} minutes"
        raise AbsentError(
            f"scripts/kube is still building after {waited}: run it once before the tests"
        ) from None
    if done.returncode == _CANNOT:
        raise AbsentError(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"scripts/kube ended with {done.returncode}: {done.stderr.strip()}")
    return Path(done.stdout.strip())


@dataclass
class ControlPlane:
    """With everything it has in one folder; a later start on it is the same cluster, at the same address."""

    folder: Path
    session: int
    """The process whose end is the control plane's too."""
    nodes: int = _NODES
    port: int = 0
    pods_per_node: int = _PODS_PER_NODE
    api_server_flags: str = ""
    """Separated by blanks; they count where they say other than its own."""

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def audit_file(self) -> Path:
        return self.folder / "audit.log"

    @property
    def _ready_file(self) -> Path:
        return self.folder / "ready.json"

    def start(self) -> None:
        """On the port that it had before, which a connection of somebody else may have for a moment."""
        for _ in range(_STARTS_AT_MOST - 1):
            try:
                return self._start()
            except RuntimeError as error:
                if "address already in use" not in str(error):
                    raise
            time.sleep(1)
        return self._start()

    def _start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        output = self.folder / "output"
        with output.open("wb") as printed, (self.folder / "log").open("ab") as errors:
            process = subprocess.Popen(
                [
                    *(str(program()), "up", "--dir", str(self.folder), "--nodes", str(self.nodes)),
                    *("--port", str(self.port), "--audit", str(self.audit_file)),
                    *("--with-process", str(self.session), "--node-pods", str(self.pods_per_node)),
                    *("--apiserver-flags", self.api_server_flags),
                ],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=errors,
                start_new_session=True,
            )
        while not (line := output.read_text()).endswith("\n"):
            if process.poll() is not None:
                raise RuntimeError(f"the control plane did not start:\n{self._end_of_log()}")
            time.sleep(_POLL_SECONDS)
        told = json.loads(line)
        self.port = told["port"]
        self._ready_file.write_text(json.dumps(told))
        # From here on it is known by its id alone, to all workers.
        process.returncode = 0

    def stop(self, *, immediate: bool = False) -> None:
        """An immediate stop is a crash."""
        pid = json.loads(self._ready_file.read_text())["pid"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL if immediate else signal.SIGTERM)
        while _is_running(pid):
            time.sleep(_POLL_SECONDS)
        if immediate and self.audit_file.exists():
            with self.audit_file.open("ab") as log:
                log.write(_CRASH_LINE)
        self._ready_file.unlink()

    def restart(self, *, immediate: bool = False) -> None:
        self.stop(immediate=immediate)
        self.start()

    @property
    def is_running(self) -> bool:
        return self._ready_file.exists() and _is_running(json.loads(self._ready_file.read_text())["pid"])

    def client(self, **options: Any) -> Client:
        return Client(Transport(kubeconfig.load(path=str(self.kubeconfig)), **options))

    def kubectl(self, *arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        """What it printed, whether it liked it or not."""
        return subprocess.run(
            [str(program()), "kubectl", *arguments],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            input=input,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def audit(self, namespace: str | None = None) -> Iterator[dict[str, Any]]:
        """What the API server has seen so far, nearly in its order: writes with what was sent and what came of it. What
        was answered a moment ago may not be there yet, and never will be if the server was killed meanwhile."""
        wanted = b"" if namespace is None else namespace.encode()
        for line in self.audit_lines():
            # Many tests write into one log: only what can be of interest is read.
            if wanted not in line and line != _CRASH_LINE:
                continue
            event = json.loads(line)
            if not event:
                yield CRASH
            elif namespace is None or (event.get("objectRef") or {}).get("namespace") == namespace:
                yield event

    def audit_lines(self, place: int = 0) -> Iterator[bytes]:
        """As they are, without one that is still being written; those after so many bytes of all files together."""
        for each in self.audit_files():
            with each.open("rb") as lines:
                size = lines.seek(0, os.SEEK_END)
                lines.seek(min(place, size))
                place = max(place - size, 0)
                yield from (line for line in lines if line.endswith(b"\n"))

    def audit_files(self) -> list[Path]:
        """A log that has grown large goes on in another file; the older ones sort first."""
        file = self.audit_file
        return sorted(file.parent.glob(f"{file.stem}*{file.suffix}"))

    def _end_of_log(self) -> str:
        log = self.folder / "log"
        return "\n".join(log.read_text(errors="replace").splitlines()[-20:]) if log.exists() else ""


class Session:
    """What one test session shares."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = int(folder.name.split("-")[2])
        self._shared = folder / "kube-shared"

    def shared(self) -> ControlPlane:
        """Started if no other worker has; it runs until the session ends."""
        found = ControlPlane(self._shared, self._process)
        with self._locked():
            if not found.is_running:
                found.start()
        return found

    @contextlib.contextmanager
    def private(self, nodes: int = 0) -> Iterator[ControlPlane]:
        self._folder.mkdir(exist_ok=True)
        found = ControlPlane(self._folder / f"kube-{uuid.uuid4().hex[:8]}", self._process, nodes)
        found.start()
        try:
            yield found
        finally:
            if found.is_running:
                found.stop(immediate=True)
            shutil.rmtree(found.folder)

    def end(self) -> None:
        found = ControlPlane(self._shared, self._process)
        if found.is_running:
            found.stop(immediate=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(exist_ok=True)
        with (self._folder / "kube-lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@contextlib.contextmanager
def fresh_namespace(plane: ControlPlane) -> Iterator[str]:
    """A name that is free, and a namespace in which pods can be made. Nobody waits for its end: that takes a while."""
    name = f"test-{uuid.uuid4().hex[:10]}"
    asyncio.run(make_namespace(plane, name))
    try:
        yield name
    finally:
        asyncio.run(delete_namespace(plane, name))


async def make_namespace(plane: ControlPlane, name: str) -> None:
    async with plane.client() as client:
        await client.create(NAMESPACES, {"metadata": {"name": name}})
        backoff = Backoff(first_seconds=0.02, most_seconds=0.1, chance=lambda: 1.0)
        for attempt in range(200):
            try:
                await client.get(_SERVICE_ACCOUNTS, "default", name)
                return
            except NotFoundError:
                await asyncio.sleep(backoff.seconds(attempt))
        raise RuntimeError(f"the namespace {name} has no service account")


async def delete_namespace(plane: ControlPlane, name: str) -> None:
    async with plane.client() as client:
        with contextlib.suppress(ApiError):
            await client.delete(NAMESPACES, name)


def _is_running(pid: int) -> bool:
    """One that has ended and that nobody has waited for does not count."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not state.startswith("Z")
