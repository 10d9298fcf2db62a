"""What runs jobs, as the runner sees it.

`start` may be called again for the same job after a crash, with the state that was kept last; it must find what an
earlier call began and never begin it a second time. An agent keeps what it needs for that, before it acts, with
`await assignment.keep(...)`.
"""

from __future__ import annotations

import asyncio
import functools
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec

from headgate.agents import credentials, log_lines
from headgate.agents.log_lines import printable
from headgate.fleet.model import objects as model
from headgate.fleet.model.scrubbing import Scrubber
from headgate.kernel import documents
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected

Config = TypeVar("Config", bound=msgspec.Struct)
State = dict[str, Any]

LONGEST_MESSAGE = 2_000

TimeoutSeconds = Annotated[float, msgspec.Meta(gt=0)]
"""From the job's creation. Whoever writes the dispatch makes its deadline of it; agents only let it pass."""


class TryLaterError(Exception):
    """Nothing new is known, because the other side cannot be reached or is busy: the same call is made again later.

    `message` is shown to people: no secret, and no full address, which may hold one. `was_sent` is false when the
    request certainly did not reach the other side.
    """

    def __init__(self, message: str, after_seconds: float | None = None, *, was_sent: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.after_seconds = after_seconds
        self.was_sent = was_sent


class JobProgress(msgspec.Struct, frozen=True):
    """How a job is. After `requeue_seconds` it is followed again; None: somebody else will report its end."""

    status: str
    message: str | None = None
    external_id: str | None = None
    links: Mapping[str, str] = {}
    requeue_seconds: float | None = None

    @property
    def has_ended(self) -> bool:
        return self.status in model.JOB_TERMINAL

    def scrubbed(self, scrubber: Scrubber) -> JobProgress:
        """As it may be told."""
        message = None if self.message is None else shortened(scrubber.text(self.message))
        external_id = None if self.external_id is None else scrubber.text(self.external_id)
        links = scrubber.value(self.links)
        return msgspec.structs.replace(self, message=message, external_id=external_id, links=links)


class JobFacts(msgspec.Struct, frozen=True, rename="camel"):
    """The job as its dispatch tells it; `version` is the tag."""

    id: str
    deployment: str = ""
    environment: str = ""
    resource: str = ""
    version: str = ""
    version_id: str = ""
    attempt: int = 1
    kind: str = ""
    group: str | None = None
    created_at: str = ""


class AgentFacts(msgspec.Struct, frozen=True):
    name: str = ""
    type: str = ""


class DispatchDocument(msgspec.Struct, frozen=True, rename="camel"):
    """What a dispatch says. Everything is there to be passed on; agents themselves read job and config."""

    job: JobFacts
    agent: AgentFacts = AgentFacts()
    config: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    version: dict[str, Any] = {}
    resource: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    deployment: dict[str, Any] = {}
    trace_parent: str | None = None


Keep = Callable[[State], Awaitable[None]]
Print = Callable[[Sequence[str], int], Awaitable[bool]]
"""Adds lines to the job's log, the first of which has this number; false when it takes no more."""


class Assignment:
    """A job in an agent's hands."""

    def __init__(
        self,
        workspace: str,
        document: DispatchDocument,
        *,
        state: State | None = None,
        deadline_at: Instant | None = None,
        keep: Keep | None = None,
        print_lines: Print | None = None,
    ) -> None:
        self.workspace = workspace
        self.document = document
        self.deadline_at = deadline_at
        self._state: State = dict(state or {})
        self._keep = keep
        self._print = print_lines

    @property
    def job(self) -> JobFacts:
        return self.document.job

    @functools.cached_property
    def scrubber(self) -> Scrubber:
        """For whatever the other side says: nobody is shown the secrets that it was sent."""
        return credentials.scrubber_of(
            {"config": self.document.config, "deployment": self.document.deployment}
        )

    @property
    def state(self) -> Mapping[str, Any]:
        return self._state

    async def keep(self, **entries: object) -> None:
        """Durable when it returns; None takes an entry away."""
        changed = {**self._state, **entries}
        changed = {key: value for key, value in changed.items() if value is not None}
        if self._keep is not None:
            await self._keep(changed)
        self._state = changed

    async def print(self, lines: Sequence[str], offset: int) -> bool:
        """Durable when it returns. Whoever does not know whether it did prints the same again, with the same number."""
        if self._print is None:
            return False
        return not lines or await self._print(log_lines.kept(lines, self.scrubber), offset)

    def config(self, kind: type[Config]) -> Config:
        """Raises Rejected, which the runner reports as `invalidIntegration`."""
        return documents.read(kind, self.document.config, "config")


class Agent(ABC):
    """Runs jobs of one type. Safe to use for many jobs at once."""

    type: ClassVar[str]
    is_told: ClassVar[bool] = False
    """Whether `rest` ends when something is new: then it is worth to keep the job in hand."""

    @abstractmethod
    async def start(self, assignment: Assignment) -> JobProgress:
        """Begins the job, or finds it begun."""

    @abstractmethod
    async def follow(self, assignment: Assignment) -> JobProgress | None:
        """How it is now; None: only others know, and will report it."""

    @abstractmethod
    async def stop(self, assignment: Assignment) -> str | None:
        """Ends it, whether it was begun or not; returns when nothing of it goes on. May be called again.

        A sentence says what it leaves behind, if people should know.
        """

    async def rest(self, assignment: Assignment, seconds: float) -> None:
        """Between two looks: returns when something may be new, and at the latest after `seconds`. May be cancelled."""
        await asyncio.sleep(seconds)

    async def forget(self, assignment: Assignment) -> None:
        """The job has ended and is reported: what was kept outside of `state` may go."""
        return

    async def close(self) -> None:
        """Lets go of connections; jobs go on."""
        return


def invalid(rejected: Rejected) -> JobProgress:
    """A config that cannot be used, field by field."""
    return JobProgress(
        "invalidIntegration", shortened("; ".join(str(problem) for problem in rejected.problems))
    )


def shortened(text: str) -> str:
    """As long as a message may be, and without characters that no database or terminal takes."""
    text = printable(text)
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 3] + "..."
