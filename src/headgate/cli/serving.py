"""A process of the service: store and worker, and beside them whichever of API and agents it runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
import uuid
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from headgate.agents import addresses
from headgate.agents.addresses import Addresses
from headgate.agents.argocd import ArgocdAgent
from headgate.agents.clusters import Clusters
from headgate.agents.credentials import Credentials
from headgate.agents.exec import ExecAgent
from headgate.agents.github import GithubAgent
from headgate.agents.graph import GraphAgent
from headgate.agents.http import HttpAgent
from headgate.agents.kubernetes_job import KubernetesJobAgent
from headgate.agents.kubernetes_node import KubernetesNodeAgent
from headgate.agents.providers.measuring import Measurer
from headgate.agents.runner import AgentRunner
from headgate.agents.web import Web
from headgate.agents.workload import WorkloadAgent
from headgate.api.aside.lanes import AsideProcesses
from headgate.api.cluster_discovery import ClusterDiscovery, DiscoveredCluster
from headgate.api.clusters.connected_clusters import ConnectedClusters
from headgate.api.http import console, tokens, tracing
from headgate.api.http.app import Application, create_app
from headgate.api.http.authentication import Authenticator
from headgate.api.http.calls import Service
from headgate.api.http.login_codes import LoginCodes
from headgate.api.http.metrics import Metrics
from headgate.api.http.oidc import OidcVerifier
from headgate.api.http.oidc_config import OidcConfig
from headgate.api.http.oidc_login import OidcLoginFlow
from headgate.api.levels_below import ClusterLevels, looking
from headgate.api.routes import ALL, checks
from headgate.cli import data_folder
from headgate.cli.connections import BoundedConnection
from headgate.fleet.model.changes import JobReported
from headgate.runtime import holders
from headgate.runtime.clocks import ClockWatch
from headgate.runtime.health import STOPS_REQUESTS, Health
from headgate.runtime.wiring import Wiring, WorkerClient
from headgate.runtime.worker import Worker, WorkerSettings, wall_clock
from headgate.store import NotAdmittedError, Store, UnavailableError, Workspace
from headgate.store.sql.opening import open_store

DEFAULT_WORKSPACE = "default"
_FIRST_TOKEN_SECONDS = 60.0
_RETRY_SECONDS = 1.0
_GRACE_SECONDS = 10.0
"""For requests that are being answered when the server is asked to end."""
_IN_THIS_PROCESS = "memory:"
_log = logging.getLogger("headgate")


class Options(msgspec.Struct, frozen=True):
    """What this process is. `data` is where SQLite, the state of local jobs and the local token live.

    Without a port nothing is listened on; a process that does not serve the API answers there how it is.
    """

    data: Path
    database: str | None = None
    host: str = "127.0.0.1"
    port: int | None = 4380
    decides: bool = True
    serves: bool = True
    runs_agents: bool = True
    oidc: OidcConfig | None = None
    oidc_secret: str | None = None
    """Of the client by which browsers log in."""
    public_url: str | None = None
    """Where users and agents reach the API, if it is not where this process listens."""
    lease_seconds: float = 15.0
    clock_bound_seconds: float = 10.0
    allow_address: tuple[str, ...] = ()
    allow_env: tuple[str, ...] = ()
    allow_cluster: tuple[str, ...] = ()
    discover: tuple[DiscoveredCluster, ...] = ()
    reaches_private: bool = False
    """Without `allow_address`, whether agents reach this machine and its network, or public addresses only; and without
    `allow_cluster`, whether they reach every cluster of its kubeconfig, or none."""

    @property
    def default_addresses(self) -> tuple[str, ...]:
        return addresses.OF_ONE_MACHINE if self.reaches_private else addresses.OUTSIDE

    @property
    def allowed_clusters(self) -> tuple[str, ...] | None:
        return self.allow_cluster if self.allow_cluster or not self.reaches_private else None

    @property
    def is_embedded(self) -> bool:
        """There is no server to wait for."""
        return self.url.startswith(("sqlite:", "memory:"))

    @property
    def url(self) -> str:
        return self.database or f"sqlite:///{(self.data / 'headgate.db').absolute()}"


class Process:
    """Built with everything that can fail at once; `run` ends when a signal asks for it.

    A database server that is away is waited for: until then the process says that it is not ready.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._addresses = Addresses(options.allow_address or options.default_addresses)
        self._credentials = Credentials(options.allow_env)
        data_folder.prepare(options.data)
        self.holder = holders.this_process()
        self.metrics = Metrics()
        self.health = Health(wall_clock, self.metrics.problem)
        self.token: str | None = None
        """An admin token if there was none at all yet, to be shown once."""
        self.failure: Exception | None = None
        """Why it ended by itself."""
        self._is_prepared = self._is_started = False
        self._watch = ClockWatch(bound_seconds=options.clock_bound_seconds)
        self.login_codes = LoginCodes(self._watch.now)
        self.store: Store = open_store(options.url, is_there=False, clock=self._watch.now)
        try:
            self._prepare()
        except NotAdmittedError:
            raise
        except UnavailableError as error:
            if options.is_embedded:
                raise
            self.health.say_of_store(error)
        settings = WorkerSettings(
            self.holder,
            decides=options.decides,
            lease_seconds=options.lease_seconds,
            clock_bound_seconds=options.clock_bound_seconds,
        )
        self.worker = Worker(
            self.store,
            settings,
            meter=self.metrics,
            health=self.health,
            watch=self._watch,
        )
        self.worker_client = WorkerClient(self.worker)
        self.wiring = Wiring(self.worker_client, tracing.job_spans)
        self.worker.after_commit = self.wiring.committed
        self._runner: AgentRunner | None = None
        self._stop: asyncio.Event | None = None
        self._server: _Server | None = None
        self._aside: AsideProcesses | None = None
        self._closing: list[Callable[[], Coroutine[Any, Any, None]]] = []
        asked = Clusters(options.allowed_clusters)
        self._explained = looking(self._watch.now)
        self._levels = ClusterLevels(asked, self._explained)
        self._clusters = ConnectedClusters(asked, self._watch.now)

    def _prepare(self) -> None:
        """Blocks; can be tried again."""
        self.store.migrate()
        self.store.add_workspace(
            Workspace(str(uuid.uuid4()), DEFAULT_WORKSPACE, "made by the first start", wall_clock())
        )
        self.token = self._first_token() if self.options.serves else None
        self._is_prepared = True

    async def _wait_for_database(self) -> None:
        while not self._is_prepared:
            await asyncio.sleep(_RETRY_SECONDS)
            try:
                await asyncio.to_thread(self._prepare)
            except UnavailableError as error:
                self.health.say_of_store(error)
        self.health.store_is_right()

    def _reasons(self) -> list[str]:
        """Why requests cannot be answered now."""
        return [one.message for one in self.health.troubles() if one.check in STOPS_REQUESTS]

    def stop(self) -> None:
        """As a signal would."""
        if self._server is not None:
            self._server.should_exit = True
        elif self._stop is not None:
            self._stop.set()

    async def _report(self, workspace: str, change: JobReported) -> None:
        await asyncio.wrap_future(self.worker.report(workspace, change))

    async def run(self, on_ready: Callable[[str], None] = lambda address: None) -> None:
        self._stop = asyncio.Event()
        web = Web(self._addresses)
        measurer = Measurer(web)
        self.wiring.start(measurer.measure)
        background: list[asyncio.Task[Any]] = []
        port = self.options.port
        listener = _listen(self.options.host, port) if port is not None else None
        own = _address(self.options.host, listener) if listener is not None else ""
        address = self.options.public_url or own
        begin = self._begin(web, address, background)
        try:
            if listener is not None:
                main_address = address if self.options.serves else own
                await self._serve(
                    listener, address, lambda: self.wiring.begin(begin(lambda: on_ready(main_address)))
                )
            else:
                await begin(lambda: on_ready(""))
                await self._wait_for_signal()
        finally:
            if self._runner is not None:
                await self._runner.close()
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await self.wiring.close()
            await measurer.close()
            if self._aside is not None:
                await self._aside.close()
            await self._levels.close()
            for close in self._closing:
                await close()
            await web.close()
            if self._is_started:
                await asyncio.to_thread(self.worker.stop)
            self.store.close()
            tracing.shut_down()

    def _begin(
        self, web: Web, address: str, background: list[asyncio.Task[Any]]
    ) -> Callable[[Callable[[], None]], Coroutine[Any, Any, None]]:
        """Everything that needs the database, as soon as it is there."""

        async def begin(on_ready: Callable[[], None]) -> None:
            try:
                await self._wait_for_database()
                if self.options.runs_agents:
                    self._runner = await asyncio.to_thread(self._build_runner, web, address)
                    self.wiring.agent_types, self.wiring.wake_agents = self._runner.types, self._runner.wake
                    background.append(asyncio.create_task(self._runner.run()))
            except Exception as error:
                self.failure = error
                self.stop()
                return
            self.worker.start()
            self._is_started = True
            background.extend(asyncio.create_task(each.run()) for each in self._discoveries())
            on_ready()

        return begin

    def _discoveries(self) -> list[ClusterDiscovery]:
        """Whoever runs the server says which clusters these are: it need not allow them to agents."""
        if not self.options.discover:
            return []
        clusters = Clusters(tuple(each.context for each in self.options.discover))
        self._closing.append(clusters.close)
        service = self._service("")
        return [ClusterDiscovery(service, clusters, each, self.holder) for each in self.options.discover]

    def _build_runner(self, web: Web, address: str) -> AgentRunner:
        for holder in self.store.claim_holders():
            if holders.has_ended(holder):
                self.store.release_claims(holder)
        clusters = Clusters(self.options.allowed_clusters)
        agents = (
            ExecAgent(self.options.data / "jobs"),
            HttpAgent(self._watch.now, address, web, self._credentials),
            GithubAgent(self._watch.now, web, self._credentials),
            ArgocdAgent(web, self._credentials),
            KubernetesJobAgent(clusters, self._watch.now),
            KubernetesNodeAgent(clusters, self._watch.now),
            GraphAgent(clusters, self._watch.now, self._explained),
            WorkloadAgent(clusters, self._watch.now, self._explained),
        )
        return AgentRunner(self.store, self._report, self._watch.now, self.holder, agents)

    async def _wait_for_signal(self) -> None:
        assert self._stop is not None
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop.set)
        await self._stop.wait()

    async def _serve(self, listener: socket.socket, address: str, on_ready: Callable[[], None]) -> None:
        application = self._application(address)
        server = self._server = _Server(
            uvicorn.Config(
                application,
                lifespan="off",
                http=BoundedConnection,
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
            )
        )
        server.on_started = on_ready
        server.on_ending = application.close
        try:
            await server.serve(sockets=[listener])
        finally:
            listener.close()

    def _application(self, address: str) -> Application:
        oidc = OidcVerifier(self.options.oidc, self._watch.now) if self.options.oidc is not None else None
        authenticate = Authenticator(self.store, self._watch.now, oidc)
        config = self.options.oidc
        login = None
        if config is not None and config.login is not None and oidc is not None:
            login = OidcLoginFlow(config, config.login, self.options.oidc_secret, oidc)
        if self.options.serves and not self.options.url.startswith(_IN_THIS_PROCESS):
            self._aside = AsideProcesses(self.options.url, self.options.allowed_clusters)
        service = msgspec.structs.replace(
            self._service(address),
            tokens_changed=authenticate.forget,
            aside=self._aside,
            login_codes=self.login_codes,
            levels=self._levels,
            login=login,
            clusters=self._clusters,
        )
        routes = ALL if self.options.serves else checks.ROUTES
        fallback = console.serve if self.options.serves else None
        return create_app(
            service, routes, authenticate, metrics=self.metrics, ready=self._reasons, fallback=fallback
        )

    def _service(self, address: str) -> Service:
        return Service(
            worker_client=self.worker_client,
            store=self.store,
            clock=self._watch.now,
            public_url=address,
            credentials=self._credentials,
            health=self.health,
        )

    def _first_token(self) -> str | None:
        """An admin token if there is none at all yet; shown once, by one of the servers that start together."""
        lease = self.store.take_lease("first-token", self.holder, _FIRST_TOKEN_SECONDS)
        if lease is None or self.store.tokens(None):
            return None
        secret, token = tokens.issue(
            name="admin", workspace=None, role="admin", now=self._watch.now(), created_by="first start"
        )
        self.store.add_token(token)
        self.store.release_lease(lease)
        return secret


class _Server(uvicorn.Server):
    """Ends when it is asked to, and leaves it to the process to end: there is more to hand over."""

    on_started: Callable[[], None]
    on_ending: Callable[[], None]

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._end)
        yield

    def _end(self) -> None:
        """Whoever asks twice does not want to wait."""
        if self.should_exit:
            self._leave()
        self.should_exit = True

    def _leave(self) -> None:
        """Hangs up on whoever is not answered yet: what the worker was given is still done, only nobody is told."""
        self.force_exit = True
        if self.server_state.tasks:
            _log.warning("ended while %d requests were not answered yet", len(self.server_state.tasks))
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self.on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Streams of events would keep it waiting."""
        self.on_ending()
        patience = asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._leave)
        await super().shutdown(sockets=sockets)
        patience.cancel()
        left = list(self.server_state.tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SystemExit(f"headgate: cannot listen on {host}:{port}: {error.strerror}") from None
    listener.listen(2048)
    listener.setblocking(False)
    return listener


def _address(host: str, listener: socket.socket) -> str:
    reachable_host = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{reachable_host}:{listener.getsockname()[1]}"


@contextlib.contextmanager
def logging_to_stderr(level: str) -> Iterator[None]:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger("headgate")
    root.addHandler(handler)
    root.setLevel(level.upper())
    logging.getLogger("headgate.access").setLevel("INFO" if level == "debug" else "WARNING")
    logging.getLogger("uvicorn").setLevel("ERROR")
    try:
        yield
    finally:
        root.removeHandler(handler)


def run(process: Process, on_ready: Callable[[str], None]) -> None:
    """On uvloop where there is one."""
    with contextlib.suppress(KeyboardInterrupt):
        try:
            import uvloop
        except ImportError:
            asyncio.run(process.run(on_ready))
        else:
            uvloop.run(process.run(on_ready))
