"""`headgate policy text`."""

from .conftest import Command
from .fake_api import FakeApi

WORDS = {
    "policy": "careful",
    "text": "It binds all targets.",
    "rules": [
        {"id": "1", "name": "two eyes", "kind": "approval", "text": "A version needs 2 approvals."},
        {"id": "2", "name": "retry[1]", "kind": "retry", "text": "A job is tried once."},
    ],
}


def test_each_rule_is_a_line(api: FakeApi, run: Command) -> None:
    api.on("GET", "policies careful text", WORDS)
    assert run("policy", "text", "careful").stdout == (
        "careful: It binds all targets.\n"
        "  two eyes  A version needs 2 approvals.\n"
        "  retry[1]  A job is tried once.\n"
    )
    assert run("policy", "text", "careful", "-o", "name").stdout == "careful\n"
