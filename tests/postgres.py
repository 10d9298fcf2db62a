"""A PostgreSQL for the tests, from the programs that the system has.

One server serves all workers of a test session, and every test has a database of its own in it. A test that stops or
restarts its server has a server of its own too.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg

GIVEN = "HEADGATE_TEST_POSTGRES"
ABSENT = (
    "there is no PostgreSQL on this machine: `scripts/postgres`, run as root, installs it,"
    f" or set {GIVEN}=postgresql://... to a server whose user may create databases"
)
_PROGRAMS = ("initdb", "pg_ctl", "postgres")
_OWNER = "headgate"
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "16MB",
    "max_wal_size": "128MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "jit": "off",
}


def programs() -> Path | None:
    """The folder with the newest server's programs, which Debian does not put on the path."""
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    folders = sorted(versions, key=lambda folder: _version(folder.parent.name), reverse=True)
    on_path = shutil.which("pg_ctl")
    if on_path is not None:
        folders.append(Path(on_path).resolve().parent)
    return next((folder for folder in folders if all((folder / name).exists() for name in _PROGRAMS)), None)


def _version(name: str) -> int:
    return int(name) if name.isdigit() else 0


@dataclass(frozen=True)
class Server:
    """A server with its data, socket and log in one folder; `url` is its maintenance database."""

    folder: Path

    @property
    def url(self) -> str:
        return f"postgresql://{_OWNER}@/postgres?host={quote(str(self.folder), safe='')}"

    def start(self) -> None:
        settings = {**_SETTINGS, "unix_socket_directories": str(self.folder)}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        log = str(self.folder / "log")
        _run("pg_ctl", "start", "-w", "-D", str(self.folder / "data"), "-l", log, "-o", options)

    def stop(self, *, immediate: bool = False) -> None:
        mode: Literal["immediate", "fast"] = "immediate" if immediate else "fast"
        _run("pg_ctl", "stop", "-w", "-D", str(self.folder / "data"), "-m", mode)

    def restart(self, *, immediate: bool = False) -> None:
        """An immediate restart is a crash: the server recovers from its log."""
        self.stop(immediate=immediate)
        self.start()

    @property
    def is_running(self) -> bool:
        return (self.folder / "data" / "postmaster.pid").exists()


def folder_of_session(process: int) -> Path:
    """It is made when it is needed, and goes with the process."""
    return Path(tempfile.gettempdir()) / f"headgate-tests-{process}-{uuid.uuid4().hex[:8]}"


class Session:
    """What one test session shares: a folder with one empty server to copy, and one server that runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shared = Server(folder / "shared")

    def shared_url(self) -> str:
        """Starts the server if no other worker has; it runs until the session ends."""
        given = os.environ.get(GIVEN)
        if given:
            return given
        with self._locked():
            if not self._shared.folder.exists():
                self._copy_to(self._shared.folder)
                self._shared.start()
                self._guard()
        return self._shared.url

    @contextlib.contextmanager
    def private(self) -> Iterator[Server]:
        server = Server(self._folder / uuid.uuid4().hex[:12])
        with self._locked():
            self._copy_to(server.folder)
        server.start()
        try:
            yield server
        finally:
            if server.is_running:
                server.stop(immediate=True)
            shutil.rmtree(server.folder)

    def end(self) -> None:
        if self._shared.is_running:
            self._shared.stop(immediate=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _copy_to(self, folder: Path) -> None:
        pattern = self._folder / "pattern"
        if not pattern.exists():
            _make_folder(pattern)
            _run(
                "initdb",
                f"--pgdata={pattern / 'data'}",
                f"--username={_OWNER}",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            )
        _make_folder(folder)
        _run_as_owner(["cp", "-a", str(pattern / "data"), str(folder / "data")])

    def _guard(self) -> None:
        """A session that is killed ends no server; this does, in its place."""
        process = self._folder.name.split("-")[2]
        script = (
            'while kill -0 "$1" 2>/dev/null; do sleep 1; done; '
            'for file in "$2"/*/data/postmaster.pid; do kill -QUIT "$(head -n 1 "$file")"; done; '
            'sleep 1; rm -rf "$2"'
        )
        subprocess.run(
            ["sh", "-c", f"({script}) >/dev/null 2>&1 </dev/null &", "guard", process, str(self._folder)],
            cwd="/",
            check=True,
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if not self._folder.exists():
            self._folder.mkdir(exist_ok=True)
            self._folder.chmod(0o755)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


@contextlib.contextmanager
def fresh_database(server_url: str) -> Iterator[str]:
    """The address of an empty database that is gone afterwards, whoever is still connected to it."""
    name = f"headgate_{uuid.uuid4().hex[:16]}"
    execute(server_url, f"CREATE DATABASE {name}")
    try:
        yield urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))
    finally:
        execute(server_url, f"DROP DATABASE {name} WITH (FORCE)")


def execute(url: str, statements: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statements)
        finally:
            await connection.close()

    asyncio.run(run())


def fetch(url: str, query: str) -> list[tuple[object, ...]]:
    async def run() -> list[tuple[object, ...]]:
        connection = await asyncpg.connect(url)
        try:
            return [tuple(row) for row in await connection.fetch(query)]
        finally:
            await connection.close()

    return asyncio.run(run())


def _make_folder(folder: Path) -> None:
    folder.mkdir()
    owner = _owner()
    if owner is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)


def _run(program: str, *arguments: str) -> None:
    folder = programs()
    assert folder is not None
    _run_as_owner([str(folder / program), *arguments])


def _run_as_owner(command: list[str]) -> None:
    """The server's output goes to its log: what it inherited here would keep a pipe open for as long as it runs."""
    owner = _owner()
    done = subprocess.run(
        command,
        cwd="/",
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
        user=None if owner is None else owner.pw_uid,
        group=None if owner is None else owner.pw_gid,
        extra_groups=None if owner is None else [],
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}{_end_of_log(command)}")


def _end_of_log(command: list[str]) -> str:
    if "-l" not in command:
        return ""
    log = Path(command[command.index("-l") + 1])
    return ":\n" + "\n".join(log.read_text().splitlines()[-20:]) if log.exists() else ""


def _owner() -> pwd.struct_passwd | None:
    """The server refuses to run as root; anybody else runs it as themselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("there is no user postgres or nobody to run PostgreSQL as")
