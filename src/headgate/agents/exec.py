"""`exec`: a command on the machine where the agent runs.

The command runs detached, so that it outlives a restart. Its folder, one for each job, says whether it was begun and
how it ended; whoever looks into the folder finds it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import re
import shutil
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import Annotated

import msgspec

from headgate.agents import exec_output, exec_run
from headgate.agents.log_lines import printable
from headgate.agents.port import (
    Agent,
    Assignment,
    JobFacts,
    JobProgress,
    TimeoutSeconds,
    TryLaterError,
    shortened,
)
from headgate.kernel.problems import Problem, Rejected

LARGEST_VARIABLE_BYTES = 100_000
SHOWN_LINES = 20
SHOWN_BYTES = 8_192
POLL_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)
KEPT_DAYS = 7
MOST_KILLS = 100
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Command(msgspec.Struct, frozen=True):
    """A list is run as it is, a string by `sh -c`."""

    arguments: tuple[str, ...]

    @classmethod
    def from_document(cls, value: object) -> Command:
        if isinstance(value, str) and value.strip():
            return cls(("/bin/sh", "-c", value))
        if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
            return cls(tuple(value))
        raise ValueError("must be a command: a string, or a list of strings that is not empty")


class ExecConfig(msgspec.Struct, frozen=True, rename="camel"):
    command: Command
    env: dict[str, str] = {}
    working_directory: str | None = None
    parameters: dict[str, object] = {}
    """For the command to read in HEADGATE_JOB; the agent itself does nothing with them."""
    success_exit_codes: tuple[Annotated[int, msgspec.Meta(ge=0, le=255)], ...] = (0,)
    timeout_seconds: TimeoutSeconds | None = None
    stop_grace_seconds: Annotated[int, msgspec.Meta(ge=0, le=3_600)] = 10


class ExecAgent(Agent):
    type = "exec"

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._place: str | None = None
        self._looks: dict[str, int] = {}

    async def start(self, assignment: Assignment) -> JobProgress:
        config = self.config_of(assignment)
        _check_directory(config)
        place = await self._own_place(assignment)
        run = self._run(assignment.job)
        if not run.was_begun():
            if "begun" in assignment.state:
                return JobProgress(
                    "failure", "the command was started, but its folder is gone: its end is not known"
                )
            await assignment.keep(place=place)
            run.folder.mkdir(mode=0o700, exist_ok=True)
            await _spawn(run, config, assignment)
        if not run.was_begun():
            return JobProgress("queued", "the command is being started", requeue_seconds=POLL_SECONDS[0])
        if "begun" not in assignment.state:
            await assignment.keep(begun=True)
        return await self._seen(run, config, assignment)

    async def follow(self, assignment: Assignment) -> JobProgress:
        return await self.start(assignment)

    def config_of(self, assignment: Assignment) -> ExecConfig:
        """Raises Rejected."""
        return assignment.config(ExecConfig)

    async def stop(self, assignment: Assignment) -> None:
        await self._own_place(assignment)
        try:
            grace_seconds = self.config_of(assignment).stop_grace_seconds
        except Rejected:
            grace_seconds = 0
        await self._run(assignment.job).end(grace_seconds)

    async def forget(self, assignment: Assignment) -> None:
        run = self._run(assignment.job)
        self._looks.pop(assignment.job.id, None)
        await asyncio.to_thread(shutil.rmtree, run.folder, ignore_errors=True)

    def _run(self, job: JobFacts) -> ExecRun:
        if not _SAFE_NAME.fullmatch(job.id):
            raise Rejected((Problem("job.id", f'is "{job.id[:80]}"; allowed are letters, digits and . _ -'),))
        return ExecRun(self._folder / job.id)

    async def _own_place(self, assignment: Assignment) -> str:
        """A command that was started elsewhere can be seen there only; here it must not start again."""
        if self._place is None:
            self._place = await asyncio.to_thread(_prepared, self._folder)
        machine, _, mark = str(assignment.state.get("place", self._place)).rpartition(" ")
        if mark != self._place.rpartition(" ")[2]:
            raise TryLaterError(f"the command was started by the agent on {machine}, which is waited for", 5)
        return self._place

    async def _seen(self, run: ExecRun, config: ExecConfig, assignment: Assignment) -> JobProgress:
        """All that it printed is in the log before its end is told."""
        has_ended = run.exit_code() is not None or not run.is_alive()
        await exec_output.print_new(run.folder, assignment, has_ended=has_ended)
        if not has_ended:
            looks = self._looks.get(run.folder.name, 0)
            self._looks[run.folder.name] = looks + 1
            wait = POLL_SECONDS[min(looks, len(POLL_SECONDS) - 1)]
            return JobProgress("inProgress", external_id=run.pid(), requeue_seconds=wait)
        code = run.exit_code()
        if code is None:
            return JobProgress(
                "failure", _message("the command was interrupted and left no exit code", run.last_lines())
            )
        status = "successful" if code in config.success_exit_codes else "failure"
        return JobProgress(status, _message(f"exit code {code}", run.last_lines()), run.pid())


class ExecRun:
    """What the folder of a job tells about its command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def was_begun(self) -> bool:
        return (self.folder / "begun").exists()

    def exit_code(self) -> int | None:
        text = _text(self.folder / "exit")
        return int(text) if text else None

    def pid(self) -> str | None:
        return _text(self.folder / "pid") or None

    def is_alive(self) -> bool:
        """The wrapper or the command holds the lock. Looking takes it for a moment; the wrapper waits that out."""
        try:
            descriptor = os.open(self.folder / "lock", os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)

    def last_lines(self) -> str:
        try:
            with open(self.folder / "output", "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - SHOWN_BYTES))
                text = file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return "\n".join(printable(text).strip().splitlines()[-SHOWN_LINES:])

    async def end(self, grace_seconds: float) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if exec_run.make_once(self.folder / "begun"):
            exec_run.write(self.folder / "exit", str(128 + signal.SIGTERM))
            return
        exec_run.make_once(self.folder / "stopping")
        until = time.monotonic() + grace_seconds
        was_told = False
        while self._goes_on() and time.monotonic() < until:
            was_told = was_told or self._signal(signal.SIGTERM)
            await asyncio.sleep(0.05)
        for _ in range(MOST_KILLS):
            if not self._goes_on():
                return
            self._signal(signal.SIGKILL)
            await asyncio.sleep(0.05)
        raise TryLaterError("the command does not end")

    def _goes_on(self) -> bool:
        return self.exit_code() is None and self.is_alive()

    def _signal(self, number: signal.Signals) -> bool:
        """Only while the lock is held: afterwards the number may be another process's."""
        pid = self.pid()
        if pid is None or not self._goes_on():
            return False
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(int(pid), number)
        return True


async def _spawn(run: ExecRun, config: ExecConfig, assignment: Assignment) -> None:
    """Two of these at once do no harm: the wrapper that makes `begun` runs the command, the other one leaves."""
    script = str(Path(exec_run.__file__).resolve())
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", script, str(run.folder), *config.command.arguments),
            cwd=config.working_directory,
            env=_variables(run, config, assignment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except (OSError, ValueError) as error:
        raise Rejected((Problem("config.command", f"cannot be run: {error}"),)) from None
    await process.wait()
    for _ in range(200):
        if run.pid() is not None or run.exit_code() is not None:
            return
        await asyncio.sleep(0.01)


def _variables(run: ExecRun, config: ExecConfig, assignment: Assignment) -> dict[str, str]:
    job, document = assignment.job, assignment.document
    whole = msgspec.json.encode(document)
    (run.folder / "job.json").write_bytes(whole)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("HEADGATE_")}
    context = {
        "HEADGATE_JOB_ID": job.id,
        "HEADGATE_WORKSPACE": assignment.workspace,
        "HEADGATE_DEPLOYMENT": job.deployment,
        "HEADGATE_ENVIRONMENT": job.environment,
        "HEADGATE_RESOURCE": job.resource,
        "HEADGATE_VERSION": job.version,
        "HEADGATE_JOB_FILE": str(run.folder / "job.json"),
        "HEADGATE_VARIABLES": _bounded(msgspec.json.encode(document.variables)),
        "HEADGATE_JOB": _bounded(whole),
    }
    return {**inherited, **{key: value for key, value in context.items() if value}, **config.env}


def _bounded(document: bytes) -> str:
    """An environment variable has a limit, beyond which no command could start; the file has it all."""
    return document.decode() if len(document) <= LARGEST_VARIABLE_BYTES else ""


def _check_directory(config: ExecConfig) -> None:
    directory = config.working_directory
    if directory is not None and not Path(directory).is_dir():
        raise Rejected((Problem("config.workingDirectory", f'is "{directory}", which is no folder here'),))


def _message(outcome: str, output: str) -> str:
    return shortened(f"{outcome}: {output}" if output else outcome)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""


def _prepared(folder: Path) -> str:
    """The name of this place, told apart from others by what is written in the folder; old remains are swept."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark = folder / ".place"
    if not mark.exists():
        name = uuid.uuid4().hex
        own = folder / f".place-{name}"
        exec_run.write(own, name)
        with contextlib.suppress(FileExistsError):
            os.link(own, mark)
        own.unlink()
    _sweep(folder)
    return f"{os.uname().nodename} {_text(mark)}"


def _sweep(folder: Path) -> None:
    oldest = time.time() - KEPT_DAYS * 86_400
    for each in folder.iterdir():
        with contextlib.suppress(OSError):
            if each.is_dir() and each.stat().st_mtime < oldest and not ExecRun(each).is_alive():
                shutil.rmtree(each, ignore_errors=True)
