from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headgate.cli import client, pairs
from headgate.cli.main import headgate
from headgate.kernel import instants

from .fake_api import FakeApi

NOW = instants.parse("2026-03-01T10:00:00Z")
Command = Callable[..., Result]


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the person's own servers nor a long wait between attempts reach the tests."""
    for name in ("URL", "TOKEN", "WORKSPACE", "CONTEXT"):
        monkeypatch.delenv(f"HEADGATE_{name}", raising=False)
    monkeypatch.setenv("HEADGATE_CONFIG", str(tmp_path / "config" / "config.yaml"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(client, "LONGEST_PAUSE_SECONDS", 0.002)


@pytest.fixture
def api() -> Iterator[FakeApi]:
    server = FakeApi()
    yield server
    server.close()


@pytest.fixture
def run(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`headgate` with the fake server, at a fixed moment."""
    monkeypatch.setenv("HEADGATE_URL", api.url)
    monkeypatch.setenv("HEADGATE_TOKEN", "hg_secret")
    monkeypatch.setattr(pairs, "now", lambda: NOW)

    def invoke(*arguments: object, stdin: str | None = None) -> Result:
        return CliRunner().invoke(
            headgate, [str(one) for one in arguments], input=stdin, prog_name="headgate"
        )

    return invoke
