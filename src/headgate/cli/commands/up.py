import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headgate.cli import failures

if TYPE_CHECKING:
    from headgate.api.cluster_discovery import DiscoveredCluster

LEVELS = ("debug", "info", "warning", "error")


def _seconds(
    name: str, default: float, most: float, line: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        f"--{name}",
        f"{name.replace('-', '_')}_seconds",
        type=click.FloatRange(1, most),
        default=default,
        show_default=True,
        metavar="SECONDS",
        help=line,
    )


def process_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What every process of the service takes."""
    for option in reversed(
        (
            click.option(
                "--data",
                type=click.Path(file_okay=False, path_type=Path),
                default=Path(".headgate"),
                show_default=True,
                help="Where SQLite, the state of local jobs and the local token are kept.",
            ),
            click.option(
                "--database",
                metavar="URL",
                envvar="HEADGATE_DATABASE",
                help="postgresql://USER@HOST/NAME or sqlite:///FILE; SQLite in --data if absent.",
            ),
            _seconds("lease", 15.0, 600, "How long another engine waits for one that is silent."),
            click.option(
                "--allow-address",
                multiple=True,
                envvar="HEADGATE_ALLOW_ADDRESS",
                metavar="ADDRESS",
                help="What agents and verification providers may reach: public, private, loopback, link-local, any, a host "
                "name, *.domain, an IP address or a network; each may have :port. May be repeated. If absent, public "
                "addresses; with `up` also private ones and this machine.",
            ),
            click.option(
                "--allow-env",
                multiple=True,
                envvar="HEADGATE_ALLOW_ENV",
                metavar="NAME",
                help="An environment variable that job agents may name (tokenEnv, secretEnv), beside HEADGATE_AGENT_*; a * at "
                "its end stands for the rest. May be repeated.",
            ),
            click.option(
                "--allow-cluster",
                multiple=True,
                envvar="HEADGATE_ALLOW_CLUSTER",
                metavar="CONTEXT",
                help="A context of this server's kubeconfig that job agents may name, or in-cluster for the cluster it runs "
                "in. May be repeated. If absent, none; with `up` every context.",
            ),
            _seconds(
                "clock-bound",
                10.0,
                3600,
                "How far the time of a workspace may be ahead of this machine's clock.",
            ),
            click.option(
                "--log-level",
                type=click.Choice(LEVELS),
                default="warning",
                show_default=True,
                help="To stderr.",
            ),
        )
    ):
        function = option(function)
    return function


def health_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """For processes that do not serve the API but want to be watched."""
    for option in reversed(
        (
            click.option("--host", default="127.0.0.1", show_default=True, help="The address for --port."),
            click.option(
                "--port",
                type=click.IntRange(0, 65535),
                help="Answers /healthz, /readyz and /metrics there; nothing is listened on if absent.",
            ),
            click.option(
                "--public-url",
                metavar="URL",
                help="The address of the API, for callbacks of http agents.",
            ),
        )
    ):
        function = option(function)
    return function


_CLUSTER = "{cluster}"


def _discovered(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> "tuple[DiscoveredCluster, ...]":
    """An environment variable has several with spaces between them."""
    from headgate.api.cluster_discovery import DiscoveredCluster

    workspace = str(context.meta.get("discover_workspace") or "default")
    prefix = str(context.meta.get("discover_prefix") or "")
    discovered = []
    for text in given:
        cluster, _, name = text.rpartition("=") if "=" in text else (text, "", text)
        if not cluster or not name:
            raise failures.misused(f'--discover: is "{text}"; allowed is CONTEXT or CONTEXT=NAME')
        discovered.append(DiscoveredCluster(cluster, name, workspace, prefix.replace(_CLUSTER, name)))
    if len({each.provider for each in discovered}) < len(discovered):
        raise failures.misused("--discover: two clusters have one name")
    return tuple(discovered)


def _remember(context: click.Context, parameter: click.Parameter, given: str) -> str:
    """For the option that names the clusters, which is read after it."""
    context.meta[str(parameter.name)] = given
    return given


def api_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(
        (
            click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
            click.option(
                "--port",
                type=click.IntRange(0, 65535),
                default=4380,
                show_default=True,
                help="The port to listen on; 0 takes a free one.",
            ),
            click.option(
                "--discover",
                multiple=True,
                envvar="HEADGATE_DISCOVER",
                metavar="CONTEXT[=NAME]",
                callback=_discovered,
                help="A context of this server's kubeconfig, or in-cluster, whose nodes become resources and stay so as they "
                "come and go; NAME is what the cluster is called, its context if absent. May be repeated.",
            ),
            click.option(
                "--discover-workspace",
                metavar="NAME",
                default="default",
                show_default=True,
                is_eager=True,
                expose_value=False,
                callback=_remember,
                help="Where they become resources.",
            ),
            click.option(
                "--discover-prefix",
                metavar="TEXT",
                default="",
                envvar="HEADGATE_DISCOVER_PREFIX",
                is_eager=True,
                expose_value=False,
                callback=_remember,
                help="Begins the names of these resources; {cluster} in it is what the cluster is called.",
            ),
            click.option(
                "--public-url",
                metavar="URL",
                help="The address that users and agents reach it at, if it is another one.",
            ),
            click.option(
                "--oidc",
                "oidc_file",
                type=click.Path(dir_okay=False, path_type=Path),
                help="A YAML file that names the OIDC provider and the roles of its groups.",
            ),
        )
    ):
        function = option(function)
    return function


@click.command("up")
@process_options
@api_options
@click.option("--demo", is_flag=True, help="Loads ten nodes and their policy, and starts an upgrade of them.")
@click.option(
    "--exit-when-done",
    is_flag=True,
    help="With --demo: ends when everything is up to date; with 1 if the rest waits for somebody.",
)
def command(demo: bool, exit_when_done: bool, log_level: str, oidc_file: Path | None, **given: Any) -> None:
    """Runs the whole service in one process: API, engine and local agents.

    The first start prints an admin token once. Commands that are called in the same folder find the server by
    themselves. Ends with Ctrl-C or a TERM signal; running jobs go on and are found again by the next start.
    """
    from headgate.cli import serving

    options = serving.Options(**read_oidc(oidc_file), reaches_private=True, **given)
    start(options, log_level, is_alone=True, demo=demo, exit_when_done=exit_when_done)


def start(
    options: Any,
    log_level: str,
    *,
    is_alone: bool = False,
    demo: bool = False,
    exit_when_done: bool = False,
) -> None:
    """`is_alone` for a process that shares its folder with no other server."""
    from headgate.api.http import tracing
    from headgate.cli import data_folder, serving
    from headgate.cli.main import refuse
    from headgate.kernel.problems import Rejected
    from headgate.store.port import NewerSchemaError, UnavailableError

    tracing.configure_from_environment()
    with serving.logging_to_stderr(log_level), contextlib.ExitStack() as stack:
        try:
            data_folder.prepare(options.data)
            lock = data_folder.Lock(options.data) if options.serves else None
            if is_alone and lock is not None and not lock.is_ours:
                refuse(_is_served(options.data), code=1)
            process = serving.Process(options)
        except (UnavailableError, NewerSchemaError, Rejected, OSError) as error:
            refuse(f"headgate: {error}", code=1)

        def on_ready(address: str) -> None:
            if options.serves:
                if lock is not None and lock.is_ours:
                    data_folder.remember(options.data, address, process.token)
                _greet(address, process.token)
                if is_alone:
                    _offer_console(address, process, data_folder.remembered_token(options.data))
            else:
                click.echo(f"Running; how it is: {address}/healthz and /metrics" if address else "Running.")
            if demo:
                process.wiring.begin(_demonstrate(process, exit_when_done))

        stack.callback(click.echo, "Stopped.")
        serving.run(process, on_ready)
        if process.failure is not None:
            refuse(f"headgate: {process.failure}", code=1)


def _is_served(folder: Path) -> str:
    from headgate.cli import data_folder

    address = data_folder.remembered_address(folder)
    where = f" at {address}" if address is not None else ""
    return f"headgate: {folder} is served by another process{where}; stop that one, or use another --data"


async def _demonstrate(process: Any, exit_when_done: bool) -> None:
    from headgate.cli import demo

    is_up_to_date = await demo.play(process, click.echo)
    if exit_when_done:
        if not is_up_to_date:
            process.failure = RuntimeError("not everything is up to date")
        process.stop()
    else:
        click.echo("The server goes on: publish something with `headgate publish kubelet-upgrade v1.29.9`.")


def _greet(address: str, token: str | None) -> None:
    click.echo(f"Headgate is at {address} (API docs: {address}/docs)")
    if token is not None:
        click.echo(f"Admin token, shown once: {token}")


def _offer_console(address: str, process: Any, token: str | None) -> None:
    from headgate.api.http import login_codes

    if token is not None:
        link = login_codes.link(address, process.login_codes.issue(token))
        click.echo(f"Console, this link logs in once: {link}")


def read_oidc(file: Path | None) -> dict[str, Any]:
    """Options of the process: whom to trust, and the secret by which browsers are logged in there."""
    if file is None:
        return {}
    config = _oidc_config(file)
    variable = config.login.client_secret_env if config.login is not None else None
    if variable is not None and not os.environ.get(variable):
        from headgate.cli.main import refuse

        refuse(f"{file}: login.clientSecretEnv names {variable}, which is not set")
    return {"oidc": config, "oidc_secret": os.environ[variable] if variable is not None else None}


def _oidc_config(file: Path) -> Any:
    from headgate.api.http.oidc_config import OidcConfig
    from headgate.cli.main import refuse
    from headgate.fleet.engine import manifests
    from headgate.kernel import documents
    from headgate.kernel.problems import Rejected

    try:
        text_documents = manifests.read_documents(file.read_text("utf-8"), source=str(file))
        return documents.read(OidcConfig, text_documents[0].value if text_documents else {}, "")
    except Rejected as rejected:
        refuse([f"{file}: {problem}" for problem in rejected.problems])
    except OSError as error:
        refuse(f"{file}: cannot be read: {error.strerror}")
