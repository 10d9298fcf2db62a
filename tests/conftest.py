"""What all tests share: markers, the folder of the session, its PostgreSQL and its Kubernetes, and how hard property
tests look.

Markers follow from where a test is and what it uses, so that nobody forgets them: `-m "not slow"` leaves out what takes
long, `-m "not postgres"` what needs a database server, `-m "not kubernetes"` what needs a control plane.

Property tests look at other examples in every run. Its seed is printed first, and again when something failed:
`HEADGATE_SEED=N` or `--hypothesis-seed=N` looks at the same ones again, `HEADGATE_EXAMPLES=10` at ten times as many.
"""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import kube
import postgres

# Where a build server is recognised, Hypothesis would leave the seed aside and look at the same examples for ever.
settings.register_profile("headgate", deadline=None, database=None, derandomize=False)
settings.load_profile("headgate")

_TESTS = Path(__file__).parent
_SLOW = (
    "chaos",
    "properties",
    "service",
    "agents/test_killed_runner.py",
    "cli/test_watch_terminal.py",
    "docs/test_following.py",
    "docs/test_service.py",
    "runtime/test_outages.py",
    "simulate/test_hash_seeds.py",
    "store/test_failing_databases.py",
    "store/test_processes.py",
)
_POSTGRES = ("postgres", "private_postgres", "postgres_url", "postgres_server_url")
_KUBERNETES = ("kube_session", "control_plane", "private_control_plane", "kube_namespace")
_SESSION_FOLDER = pytest.StashKey[Path]()
_WORKER_INPUT = "headgate_session_folder"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """The seed is set before Hypothesis reads it; workers are started with the options of the one who started them."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = os.environ.get("HEADGATE_SEED") or str(secrets.randbelow(2**32))
    given: dict[str, str] | None = getattr(config, "workerinput", None)
    if given is not None:
        config.stash[_SESSION_FOLDER] = Path(given[_WORKER_INPUT])
        return
    config.stash[_SESSION_FOLDER] = postgres.folder_of_session(os.getpid())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.path.is_relative_to(_TESTS):
            continue
        place = item.path.relative_to(_TESTS).as_posix()
        if place.startswith(_SLOW):
            item.add_marker(pytest.mark.slow)
        if place.startswith("chaos/"):
            item.add_marker(pytest.mark.chaos)
        if _uses(item, _POSTGRES):
            item.add_marker(pytest.mark.postgres)
        if _uses(item, _KUBERNETES):
            if not place.startswith("kubernetes/"):
                raise pytest.UsageError(
                    f"{place} needs a control plane, so `make test` looks for it in tests/kubernetes"
                )
            item.add_marker(pytest.mark.kubernetes)
            item.add_marker(pytest.mark.slow)


def _uses(item: pytest.Item, names: tuple[str, ...]) -> bool:
    """By a fixture, or because it is its turn in a suite over several."""
    call = getattr(item, "callspec", None)
    used = [*getattr(item, "fixturenames", ()), *(call.params.values() if call is not None else ())]
    return any(name in used for name in names)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Quiet runs have no header, and a run that is cut short has no summary: the seed is a line of its own."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"property tests: {_seed(session.config)}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"to repeat this run: {_seed(config)}")


def _seed(config: pytest.Config) -> str:
    return f"HEADGATE_SEED={config.option.hypothesis_seed}"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[_WORKER_INPUT] = str(node.config.stash[_SESSION_FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        kube.Session(config.stash[_SESSION_FOLDER]).end()
        postgres.Session(config.stash[_SESSION_FOLDER]).end()


@pytest.fixture(scope="session")
def postgres_session(pytestconfig: pytest.Config) -> postgres.Session:
    return postgres.Session(pytestconfig.stash[_SESSION_FOLDER])


@pytest.fixture(scope="session")
def postgres_server_url(postgres_session: postgres.Session) -> str:
    """The server that all tests share."""
    if not os.environ.get(postgres.GIVEN) and postgres.programs() is None:
        pytest.skip(postgres.ABSENT)
    return postgres_session.shared_url()


@pytest.fixture
def postgres_url(postgres_server_url: str) -> Iterator[str]:
    """An empty database of one's own."""
    with postgres.fresh_database(postgres_server_url) as url:
        yield url


@pytest.fixture
def private_postgres(postgres_session: postgres.Session) -> Iterator[postgres.Server]:
    """A server of one's own, to stop and to restart."""
    if postgres.programs() is None:
        pytest.skip(postgres.ABSENT)
    with postgres_session.private() as server:
        yield server


@pytest.fixture(scope="session")
def kube_session(pytestconfig: pytest.Config) -> kube.Session:
    try:
        kube.program()
    except kube.AbsentError as absent:
        pytest.skip(str(absent))
    return kube.Session(pytestconfig.stash[_SESSION_FOLDER])


@pytest.fixture(scope="session")
def control_plane(kube_session: kube.Session) -> kube.ControlPlane:
    """The cluster that all tests share, with four nodes."""
    return kube_session.shared()


@pytest.fixture
def private_control_plane(kube_session: kube.Session) -> Iterator[kube.ControlPlane]:
    """A cluster of one's own, without nodes, to stop and to restart."""
    with kube_session.private() as plane:
        yield plane


@pytest.fixture
def kube_namespace(control_plane: kube.ControlPlane) -> Iterator[str]:
    """A namespace of one's own in the shared cluster."""
    with kube.fresh_namespace(control_plane) as name:
        yield name
