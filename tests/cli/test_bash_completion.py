"""Completion in an interactive bash: what it puts on the line is one word, whatever a name is called."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.cli.bash_completion import BashCompletion
from headgate.cli.main import headgate

from .fake_api import FakeApi

ODD = "api/prod/$(touch pwned)"
HEADGATE = Path(sys.executable).with_name("headgate")


class Bash:
    def __init__(self, folder: Path, url: str) -> None:
        self._file, inner = pty.openpty()
        environment = {
            "PATH": f"{HEADGATE.parent}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb", "LANG": "C.UTF-8",
            "HEADGATE_URL": url, "HEADGATE_TOKEN": "hg_secret", "INPUTRC": os.devnull,
        }  # fmt: skip
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"],
            stdin=inner, stdout=inner, stderr=inner, env=environment, cwd=folder, start_new_session=True,
        )  # fmt: skip
        os.close(inner)
        self.text = ""
        self.type("PS1='re''ady '; eval \"$(headgate completion bash)\"; echo do''ne\n")
        self.read_until("done\r\nready ")

    def type(self, keys: str) -> None:
        self.text = ""
        os.write(self._file, keys.encode())

    def read_until(self, wanted: str) -> str:
        until = time.monotonic() + 30
        while wanted not in self.text:
            assert time.monotonic() < until, f"{wanted!r} did not come:\n{self.text!r}"
            if select.select([self._file], [], [], 0.1)[0]:
                self.text += os.read(self._file, 65_536).decode()
        return self.text

    def close(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)
        os.close(self._file)


@pytest.fixture
def bash(api: FakeApi, tmp_path: Path) -> Iterator[Bash]:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    folder = tmp_path / "work"
    folder.mkdir()
    opened = Bash(folder, api.url)
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("headgate explain api/", f"'{ODD}'"), ("headgate explain 'api/", "prod/$(touch pwned)'")],
)
def test_a_name_that_a_shell_would_run_is_put_there_as_one_word(
    typed: str, wanted: str, api: FakeApi, bash: Bash, tmp_path: Path
) -> None:
    api.lists("release-targets", [{"name": ODD}])
    bash.type(f"{typed}\t")
    bash.read_until(wanted)
    bash.type("\n")
    bash.read_until("ready ")
    assert [request.path for request in api.requests][-1] == f"release-targets {ODD} explain"
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.slow
def test_in_a_string_in_which_a_shell_would_run_it_a_name_is_not_offered(
    api: FakeApi, bash: Bash, tmp_path: Path
) -> None:
    api.lists("release-targets", [{"name": ODD}])
    bash.type('headgate explain "api/\t')
    until = time.monotonic() + 30
    while not api.requests and time.monotonic() < until:
        bash.read_until("")
    bash.type('"\n')
    bash.read_until("ready ")
    assert list((tmp_path / "work").iterdir()) == []
    assert api.requests[0].path == "release-targets"


def _completed(words: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    return BashCompletion(headgate, {}, "headgate", "_HEADGATE_COMPLETE").complete().splitlines()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", ["plain,a", "plain,'a b'", "plain,'a;b'"]),
        ("a", ["plain,a", "plain,'a b'", "plain,'a;b'"]),
        ("'a", ["plain,a", "plain,'a b'", "plain,'a;b'"]),
        ('"a', ["plain,a"]),
        ("\\a", ["plain,a"]),
        ("''a", ["plain,a"]),
    ],
)
def test_names_that_need_quotes_are_offered_where_they_can_have_them(
    typed: str, offered: list[str], api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that the script of the shell would change on the way are typed by hand."""
    monkeypatch.setenv("HEADGATE_URL", api.url)
    names = ["a", "a b", "a;b", "a'b", "a\\b", "a*", "a?", "a[b]", "a\nplain,b", "a\x1b"]
    api.lists("deployments", [{"name": name} for name in names])
    assert _completed(["headgate", "publish", typed], monkeypatch) == offered


def test_a_name_that_looks_like_an_option_is_offered_to_whoever_has_begun_it(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_URL", api.url)
    api.lists("deployments", [{"name": "--server=http://elsewhere"}, {"name": "api"}])
    assert _completed(["headgate", "publish", ""], monkeypatch) == ["plain,api"]
    begun = _completed(["headgate", "publish", "--", "--se"], monkeypatch)
    assert begun == ["plain,--server=http://elsewhere"]


def test_files_are_left_to_bash(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = _completed(["headgate", "simulate", "my folder/"], monkeypatch)
    assert all(line.startswith("file,") for line in offered)
