"""What a person tries first: the version, help, a command by another name, options before the command."""

import pytest

from .conftest import Command
from .fake_api import FakeApi


def test_the_version_is_an_option_too(run: Command) -> None:
    assert run("--version").stdout == run("version").stdout


def test_help_is_a_command_too(run: Command) -> None:
    assert run("help").stdout == run("--help").stdout
    assert run("help", "token", "create").stdout == run("token", "create", "--help").stdout


def test_help_of_no_command(run: Command) -> None:
    result = run("help", "aply")
    assert result.exit_code == 2
    assert 'there is no command "aply"; did you mean apply?' in result.stderr


@pytest.mark.parametrize(
    ("written", "meant"), [("sttus", "status"), ("describe", "explain"), ("ls", "get"), ("Publsh", "publish")]
)
def test_a_command_that_is_none_is_guessed(run: Command, written: str, meant: str) -> None:
    result = run(written)
    assert result.exit_code == 2
    assert f"did you mean {meant}?" in result.stderr


def test_nothing_is_guessed_from_nothing(run: Command) -> None:
    assert 'there is no command "xyzzy"\n' in run("xyzzy").stderr


def test_the_options_of_the_server_may_stand_before_the_command(
    api: FakeApi, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADGATE_URL")
    monkeypatch.delenv("HEADGATE_TOKEN")
    api.lists("resources", [{"name": "node-1"}])
    listed = run(
        "--server", api.url, "--token", "hg_before", "--workspace", "team", "get", "res", "-o", "name"
    )
    assert listed.stdout == "node-1\n"
    assert api.requests[-1].headers["authorization"] == "Bearer hg_before"
    assert api.requests[-1].query["workspace"] == "team"


def test_behind_the_command_they_win(api: FakeApi, run: Command) -> None:
    api.lists("resources", [])
    run("--workspace", "before", "get", "res", "--workspace", "behind")
    assert api.requests[-1].query["workspace"] == "behind"
