"""Shell completion: commands without importing them, kinds without a server, names with one."""

import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from headgate.cli import contexts
from headgate.cli.main import headgate

from . import fleet
from .fake_api import FakeApi, Reply, problem


def complete(*words: str) -> list[str]:
    shell = ShellComplete(headgate, {}, "headgate", "_HEADGATE_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.fixture
def server(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    monkeypatch.setenv("HEADGATE_URL", api.url)
    return api


def test_commands_are_completed() -> None:
    assert "apply" in complete("ap")


def test_completing_a_command_imports_none() -> None:
    code = (
        "import sys\n"
        "from click.shell_completion import ShellComplete\n"
        "from headgate.cli.main import headgate\n"
        "found = ShellComplete(headgate, {}, 'headgate', 'X').get_completions([], 'unf')\n"
        "print([item.value for item in found])\n"
        "print([name for name in sys.modules if name.startswith(('headgate.cli.f', 'http', 'rich', 'yaml'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['unfreeze']\n[]\n"


def test_kinds_are_completed_without_a_server() -> None:
    assert complete("get", "re") == ["resources", "release-targets"]
    assert complete("get", "poli") == ["policies"]


def test_names_of_a_kind_are_completed(server: FakeApi) -> None:
    server.lists("resources", [fleet.RESOURCE, {**fleet.RESOURCE, "name": "host-1"}])
    assert complete("get", "resource", "no") == ["node-1"]
    assert complete("delete", "res", "") == ["node-1", "host-1"]


def test_names_are_asked_for_at_the_server_on_the_line(api: FakeApi) -> None:
    api.lists("deployments", [{"name": "api"}])
    assert complete("publish", "--server", api.url, "--workspace", "w", "a") == ["api"]
    assert api.last.query["workspace"] == "w"


def test_option_values_are_completed(server: FakeApi) -> None:
    server.lists("environments", [{"name": "prod"}, {"name": "staging"}])
    assert complete("approve", "api", "v1", "--environment", "p") == ["prod"]


@pytest.mark.parametrize(
    "reply", [problem(401, "no"), problem(503, "no"), Reply(raw=b"<html>", media_type="text/html")]
)
def test_a_server_that_does_not_answer_well_gives_nothing(server: FakeApi, reply: Reply) -> None:
    server.on("GET", "resources", reply)
    assert complete("get", "resources", "") == []
    assert len(server.requests) == 1


def test_without_a_server_there_is_nothing_and_no_word(capfd: pytest.CaptureFixture[str]) -> None:
    assert complete("get", "resources", "") == []
    assert complete("explain", "api") == []
    assert capfd.readouterr() == ("", "")


def test_contexts_are_completed() -> None:
    contexts.save(
        contexts.Contexts(
            "prod", {"prod": contexts.ServerContext("http://x"), "test": contexts.ServerContext("http://y")}
        )
    )
    assert complete("context", "use", "t") == ["test"]
    assert complete("status", "--context", "p") == ["prod"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_each_shell(shell: str) -> None:
    result = CliRunner().invoke(headgate, ["completion", shell])
    assert result.exit_code == 0
    assert f"_HEADGATE_COMPLETE={shell}_complete" in result.stdout


def test_the_bash_script_is_bash() -> None:
    script = CliRunner().invoke(headgate, ["completion", "bash"]).stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_names_are_asked_for_where_the_options_before_the_command_say(api: FakeApi) -> None:
    api.lists("deployments", [{"name": "api"}])
    assert complete("--server", api.url, "--workspace", "w", "publish", "a") == ["api"]
    assert api.last.query["workspace"] == "w"
