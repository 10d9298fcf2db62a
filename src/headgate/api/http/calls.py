"""One call of the API, and what a route declares about itself. OpenAPI, checks and docs all read the declaration."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from headgate.agents.credentials import Credentials
from headgate.api.clusters.connected_clusters import ConnectedClusters
from headgate.api.http.login_codes import LoginCodes
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.runtime.commands import Caller, Command, Idempotency, Question
from headgate.runtime.health import Health
from headgate.store.port import Store

Result = TypeVar("Result")
Schema = Any
"""A msgspec Struct, a type that `api.http.schemas` can describe, or a ready JSON Schema as a dict."""


class WorkerPort(Protocol):
    """The worker as the API sees it. Errors come out of the await: Rejected, KeyReusedError, UnknownWorkspaceError,
    store.UnavailableError, and whatever the command raised itself."""

    async def submit(
        self,
        workspace: str,
        command: Command[Result],
        caller: Caller,
        *,
        idempotency: Idempotency | None = None,
        alone: bool = False,
    ) -> Result:
        """A Reply is remembered by its key: the same request again gives the same one without doing it again."""
        ...

    async def ask(self, workspace: str, question: Question[Result]) -> Result: ...

    async def wait_for_events(self, workspace: str, seq: int, seconds: float) -> bool:
        """Until there may be an event after `seq`, or the time is over."""
        ...


Lane = Literal["lists", "plans", "bodies", "history", "clusters", "simulations"]
"""Which process beside the server works on it: what is short but asked often, what takes long, what is large, what was,
what clusters hold, what somebody has made up."""


class AnswerPart(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...
    @property
    def is_last(self) -> bool: ...


class Aside(Protocol):
    """Processes beside the server, for work that would hold up everybody else in it."""

    def check(self, lane: Lane, workspace: str, user: str) -> None:
        """Refuses whoever would have to wait behind too many, before anything of the request is read."""
        ...

    async def answer(self, lane: Lane, work: str, call: Request) -> Answer: ...

    def parts(self, lane: Lane, work: str, call: Request) -> AsyncIterator[AnswerPart]:
        """The last one has the status; before it come the parts of what was made."""
        ...


class Principal(msgspec.Struct, frozen=True):
    """Who calls: a token, or a person of an OIDC provider. `grants` are permissions by workspace, '*' for all."""

    user: str
    grants: Mapping[str, frozenset[str]]
    agents: frozenset[str] = frozenset()
    """Not empty: may claim and report jobs of these agents only."""
    roles: Mapping[str, frozenset[str]] = {}
    """What approval rules may ask of a voter, by workspace, '*' for all: the token's role, or the person's roles there and
    groups."""
    expires_at: Instant | None = None
    """Of a token: what it makes does not live longer."""
    token: str = ""
    """The id of the token; empty for a person, whose name is nobody else's anywhere."""
    proved_until: Instant | None = None
    """Of a JWT: how long it says who somebody is. What the person makes may live longer."""

    @property
    def known_until(self) -> Instant | None:
        return self.expires_at if self.expires_at is not None else self.proved_until

    @property
    def identity(self) -> str:
        """Who it is among all callers of the service: tokens of two workspaces may have one name."""
        return self.token or self.user

    def allows(self, permission: str, workspace: str) -> bool:
        return permission in self.grants.get(workspace, ()) or permission in self.grants.get("*", ())

    def roles_in(self, workspace: str) -> tuple[str, ...]:
        """A role of another workspace is none here."""
        return tuple(sorted({*self.roles.get(workspace, ()), *self.roles.get("*", ())}))

    def sees(self, workspace: str) -> bool:
        return workspace in self.grants or "*" in self.grants


Authenticate = Callable[[str | None], Awaitable[Principal]]
"""From the header Authorization to the caller; raises `Refusal`."""


class LoginFlow(Protocol):
    """How people log in at a provider with their browser; see `api.http.oidc_login`."""

    @property
    def title(self) -> str: ...
    async def address(self, attempt: Any, public_url: str) -> str: ...
    async def finish(
        self, attempt: Any, given: Mapping[str, Any], public_url: str
    ) -> tuple[str, Principal]: ...


class LevelsBelow(Protocol):
    """What explains objects of clusters; it answers soon, whatever a cluster does."""

    async def explain(self, begun: Any) -> ExplanationTree: ...


class Service(msgspec.Struct, frozen=True):
    """What handlers work with. `worker_client` changes workspaces and looks at them; `store` is for history (call it in a
    thread)."""

    worker_client: WorkerPort
    store: Store
    clock: Callable[[], Instant]
    public_url: str = ""
    credentials: Credentials = Credentials()
    """Finds the secrets of http agents, by which callbacks are signed."""
    tokens_changed: Callable[[], None] = lambda: None
    """Makes a removed token end at once in this process."""
    health: Health = Health(lambda: 0)
    login_codes: LoginCodes = msgspec.field(default_factory=lambda: LoginCodes(lambda: 0))
    authenticate: Authenticate | None = None
    """How the application finds out who calls; it gives it to its handlers itself."""
    aside: Aside | None = None
    """None where everything is done in one process: in one of those beside a server, and in tests."""
    login: LoginFlow | None = None
    """None where nobody can log in at a provider."""
    levels: LevelsBelow | None = None
    """None where no cluster is asked."""
    clusters: ConnectedClusters | None = None
    """The same."""


class ClientConnection(msgspec.Struct):
    """The connection of a request that waits: whether there is still somebody to answer, and somebody who answers."""

    hung_up: Callable[[], Awaitable[None]] | None = None
    closing: asyncio.Event | None = None
    listening: asyncio.Future[None] | None = None

    @property
    def is_cut(self) -> bool:
        return self.listening is not None and self.listening.done()

    @property
    def is_closing(self) -> bool:
        return self.closing is not None and self.closing.is_set()

    async def __aenter__(self) -> ClientConnection:
        if self.hung_up is not None:
            self.listening = asyncio.ensure_future(self.hung_up())
            await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.listening is not None:
            self.listening.cancel()
            await asyncio.gather(self.listening, return_exceptions=True)


class Request(msgspec.Struct):
    service: Service
    principal: Principal
    workspace: str
    path: dict[str, str]
    """Path parameters, decoded."""
    query: dict[str, Any]
    """Query parameters as the route declares them; absent ones are absent or have their default."""
    body: Any = None
    """The JSON document of the request, decoded; None without one."""
    headers: Mapping[str, str] = {}
    if_match: str | None = None
    idempotency: Idempotency | None = None
    request_id: str = ""
    trace_parent: str | None = None
    raw_body: bytes = b""
    line: ClientConnection = msgspec.field(default_factory=ClientConnection)

    @property
    def caller(self) -> Caller:
        return Caller(self.principal.user, self.request_id, self.trace_parent, self.query.get("reason"))


class Answer(msgspec.Struct):
    """`document` is encoded as JSON unless it is bytes already; a `stream` is sent as it comes."""

    status: int = 200
    document: Any = None
    headers: dict[str, str] = {}
    media_type: str = "application/json"
    stream: AsyncIterator[bytes] | None = None
    cookies: tuple[str, ...] = ()
    """Headers Set-Cookie, of which there may be several."""


class Refusal(Exception):  # noqa: N818 - it is an answer, not a failure
    """An answer in problem details (RFC 9457)."""

    def __init__(
        self, status: int, title: str, detail: str = "", errors: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(detail or title)
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors


class Parameter(msgspec.Struct, frozen=True):
    name: str
    schema: dict[str, Any]
    description: str = ""
    required: bool = False


_OF_AGENTS = ("job:run", "job:report")
MERGE_PATCH = "application/merge-patch+json"


Finish = Callable[[Request, Answer], Awaitable[Answer]]


class Route(msgspec.Struct, frozen=True):
    """`permission` is None for what anybody may call; `scope` says whether it is about one workspace."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    operation: str
    summary: str
    handler: Callable[[Request], Awaitable[Answer]]
    permission: str | None
    tag: str
    answers: Mapping[int, Schema]
    """What it answers when all is well: status to schema, None for no body. Problems are added by themselves."""
    query: tuple[Parameter, ...] = ()
    body: Schema = None
    body_required: bool = True
    body_media_types: tuple[str, ...] = ("application/json",)
    scope: Literal["workspace", "service"] = "workspace"
    mutates: bool = False
    """Takes Idempotency-Key."""
    conditional: bool = False
    """Takes If-Match, and answers 412."""
    problems: tuple[int, ...] = ()
    """Further problem statuses it may answer, such as 409."""
    description: str = ""
    media_type: str = "application/json"
    lane: Lane | None = None
    """Answered aside, where there is one: a caller can make it take long."""
    streams: bool = False
    """Whoever does not ask for JSON gets a stream, which is never answered aside."""
    waits: bool = False
    """It may stay open until there is something to answer; one caller has few of these open."""
    reads_body: bool = False
    """The handler decodes the body itself: it may be large."""
    takes_other_query: bool = False
    """Whoever sends the browser here may add query parameters, which are passed over."""
    finish: Finish | None = None
    """Adds to the answer what only the server itself can ask for, wherever the answer was made."""

    @property
    def takes_reason(self) -> bool:
        """Why somebody changes something is asked for beside the body where the body has no place for it. Agents report and
        have no reasons; with a workspace its audit log goes too."""
        in_body = isinstance(self.body, type) and issubclass(self.body, msgspec.Struct)
        has_place = in_body and "reason" in self.body.__struct_fields__
        is_of_people = self.scope == "workspace" and self.permission not in _OF_AGENTS
        return self.mutates and is_of_people and not has_place

    @property
    def accepted_media_types(self) -> tuple[str, ...]:
        """A patch may be sent under the name that its format has, or as plain JSON."""
        types = self.body_media_types
        if self.method == "PATCH" and "application/json" in types and MERGE_PATCH not in types:
            return (*types, MERGE_PATCH)
        return types
