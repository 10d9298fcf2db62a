"""What users install is what the tests ran with."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def pinned(file: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / file).read_text("utf-8"), re.MULTILINE))


def test_every_package_that_runs_is_pinned_as_in_the_tests() -> None:
    tested, running = pinned("requirements-dev.lock"), pinned("requirements.lock")
    assert running
    assert running.items() <= tested.items()


def test_no_tool_of_the_tests_is_installed_for_users() -> None:
    assert not {"pytest", "mypy", "ruff", "hypothesis"} & pinned("requirements.lock").keys()
