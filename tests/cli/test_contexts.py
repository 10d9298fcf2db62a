"""Which server is used, with which token, and how it is kept."""

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from headgate.cli import contexts
from headgate.cli.failures import CommandFailure
from headgate.cli.main import headgate

from .conftest import Command
from .fake_api import FakeApi, problem


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(headgate, arguments, input=stdin)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def store(name: str = "prod", server: str = "https://prod.example.com", token: str = "hg_prod") -> None:
    assert (
        run("context", "add", name, "--server", server, "--token", token, "--workspace", "w").exit_code == 0
    )


def test_without_any_server_the_sentence_says_how_to_get_one() -> None:
    result = run("status")
    assert result.exit_code == 2
    for way in ("--server", "HEADGATE_URL", "headgate login", "headgate up"):
        assert way in result.stderr


def test_the_context_in_use_is_used() -> None:
    store()
    assert contexts.resolve() == contexts.Connection("https://prod.example.com", "hg_prod", "w")


def test_the_environment_wins_over_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    store()
    monkeypatch.setenv("HEADGATE_URL", "https://other.example.com/")
    monkeypatch.setenv("HEADGATE_TOKEN", "hg_other")
    monkeypatch.setenv("HEADGATE_WORKSPACE", "v")
    assert contexts.resolve() == contexts.Connection("https://other.example.com", "hg_other", "v")


def test_options_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_URL", "https://other.example.com")
    monkeypatch.setenv("HEADGATE_TOKEN", "hg_other")
    found = contexts.resolve("https://third.example.com", "hg_third", "u")
    assert found == contexts.Connection("https://third.example.com", "hg_third", "u")


def test_a_context_by_option_silences_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    store()
    monkeypatch.setenv("HEADGATE_URL", "https://other.example.com")
    monkeypatch.setenv("HEADGATE_TOKEN", "hg_other")
    assert contexts.resolve(context="prod").token == "hg_prod"
    assert contexts.resolve(context="prod").url == "https://prod.example.com"


def test_a_context_can_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    store()
    store("test", "https://test.example.com", "hg_test")
    monkeypatch.setenv("HEADGATE_CONTEXT", "test")
    assert contexts.resolve().token == "hg_test"


def test_a_stored_token_is_never_sent_to_another_server() -> None:
    store()
    assert contexts.resolve("https://evil.example.com").token is None
    assert contexts.resolve("https://evil.example.com", context="prod").token is None


def test_a_stored_token_is_found_for_its_server() -> None:
    store()
    assert contexts.resolve("https://prod.example.com/").token == "hg_prod"


def test_a_local_server_is_found_by_its_note(tmp_path: Path) -> None:
    (tmp_path / ".headgate").mkdir()
    (tmp_path / ".headgate" / "local.json").write_text(
        '{"url": "http://127.0.0.1:8080", "token": "hg_local"}'
    )
    assert contexts.resolve() == contexts.Connection("http://127.0.0.1:8080", "hg_local")
    store()
    assert contexts.resolve().token == "hg_prod"


def test_a_local_server_is_found_from_folders_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".headgate").mkdir()
    (tmp_path / ".headgate" / "local.json").write_text('{"url": "http://127.0.0.1:8080"}')
    below = tmp_path / "policies" / "prod"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert contexts.resolve().url == "http://127.0.0.1:8080"


def test_a_note_of_somebody_else_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".headgate").mkdir()
    (tmp_path / ".headgate" / "local.json").write_text('{"url": "http://evil.example.com"}')
    monkeypatch.setenv("HEADGATE_TOKEN", "hg_secret")
    monkeypatch.setattr("os.getuid", lambda: 4711)
    with pytest.raises(CommandFailure, match="no server is configured"):
        contexts.resolve()


def test_a_broken_note_is_said(tmp_path: Path) -> None:
    (tmp_path / ".headgate").mkdir()
    (tmp_path / ".headgate" / "local.json").write_text("[]")
    with pytest.raises(CommandFailure, match="cannot be read"):
        contexts.resolve()


@pytest.mark.parametrize(
    "address", ["prod.example.com", "ftp://x", "http://", "http://x:99999", "http://u:p@x", "http://x/?a=1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    result = run("context", "add", "x", "--server", address)
    assert result.exit_code == 2
    assert result.stderr.startswith(f'--server: is "{address}"; allowed are')


def test_a_token_with_a_line_break_is_refused() -> None:
    assert run("context", "add", "x", "--server", "http://x", "--token", "hg_1\nX-Evil: 1").exit_code == 2


def test_the_file_is_for_its_owner_alone() -> None:
    store()
    assert stat.S_IMODE(contexts.path().stat().st_mode) == 0o600
    assert stat.S_IMODE(contexts.path().parent.stat().st_mode) == 0o700


def test_a_file_that_others_can_read_is_warned_about() -> None:
    store()
    contexts.path().chmod(0o644)
    result = run("context", "list")
    assert result.exit_code == 0
    assert "chmod 600" in result.stderr


def test_a_file_that_is_no_configuration_is_refused() -> None:
    store()
    contexts.path().write_text("contexts: {a: {url: x}}\n")
    result = run("context", "list")
    assert result.exit_code == 2
    assert "is not a configuration of headgate" in result.stderr


def test_contexts_are_listed_used_and_removed() -> None:
    store()
    store("test", "https://test.example.com")
    assert run("context", "list").stdout.splitlines() == [
        "   NAME  SERVER                    WORKSPACE",
        "*  prod  https://prod.example.com  w",
        "   test  https://test.example.com  w",
    ]
    assert run("context", "use", "test").exit_code == 0
    assert json.loads(run("context", "list", "-o", "json").stdout)["items"][1]["current"] is True
    assert run("context", "remove", "test").exit_code == 0
    assert run("context", "list", "-o", "name").stdout == "prod\n"


def test_tokens_are_not_listed() -> None:
    store()
    for form in ("table", "wide", "json", "yaml"):
        assert "hg_prod" not in run("context", "list", "-o", form).stdout


def test_an_unknown_context_names_the_known_ones() -> None:
    store()
    result = run("context", "use", "gone")
    assert result.exit_code == 2
    assert "known are prod" in result.stderr


def test_login_tries_the_token_and_keeps_it(api: FakeApi, tmp_path: Path) -> None:
    api.on("GET", "whoami", {"user": "ana", "workspaces": {"*": ["read"]}})
    result = run("login", "--server", api.url, "--context", "here", stdin="hg_typed\n")
    assert result.exit_code == 0, result.output
    assert "you are ana" in result.stdout
    assert api.last.headers["authorization"] == "Bearer hg_typed"
    assert contexts.load().current == "here"
    assert contexts.load().contexts["here"].token == "hg_typed"


def test_login_keeps_nothing_that_is_refused(api: FakeApi) -> None:
    api.on("GET", "whoami", problem(401, "the token is not known"))
    assert run("login", "--server", api.url, "--token", "hg_wrong").exit_code == 5
    assert not contexts.path().exists()


def test_login_without_a_server_says_what_is_missing() -> None:
    result = run("login", "--token", "hg_1")
    assert result.exit_code == 2
    assert result.stderr.startswith("--server: is missing")


def test_whoami_shows_permissions_by_workspace(api: FakeApi, run: Command) -> None:
    api.on(
        "GET", "whoami", {"user": "ana", "workspaces": {"default": ["read", "version:write"], "*": ["read"]}}
    )
    result = run("whoami", "--workspace", "default")
    assert result.stdout.splitlines() == [
        f"ana at {api.url}",
        "  default         read, version:write",
        "  all workspaces  read",
    ]
    assert api.last.query == {}
