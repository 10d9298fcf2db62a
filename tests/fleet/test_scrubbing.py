"""Secrets in what others say, in the forms in which they come back."""

from __future__ import annotations

import pytest

from headgate.fleet.model import hiding
from headgate.fleet.model.scrubbing import Scrubber, secrets_of_config, secrets_of_provider
from headgate.kernel.problems import Problem


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"token": "abcd-1234"}, "no user abcd-1234 here"),
        ({"headers": {"Authorization": "Bearer abcd-1234"}}, "no user abcd-1234 here"),
        ({"a": [{"password": ["abcd-1234"]}]}, "no user abcd-1234 here"),
        ({"secret": 'a"b\\c'}, 'no user a\\"b\\\\c here'),
        ({"secret": "a b/c?"}, "no user a%20b%2Fc%3F here"),
        ({"pin": 0, "password": 123456}, "no user 123456 here"),
        ({"url": "https://robot:p%40ss-word@a.invalid/x"}, "no user p@ss-word here"),
        ({"url": "https://robot:password@a.invalid"}, "no user cm9ib3Q6cGFzc3dvcmQ= here"),
        ({"url": "https://a.invalid/x?team=blue&api_key=abcd-1234"}, "no user abcd-1234 here"),
    ],
)
def test_a_secret_of_a_config(config: dict[str, object], said: str) -> None:
    assert Scrubber(secrets_of_config(config)).text(said) == "no user *** here"


def test_what_is_no_secret_stays() -> None:
    config = {
        "url": "https://a.invalid/x?team=blue",
        "headers": {"Accept": "application/json"},
        "token": "abc",
    }
    said = "blue abc application/json"
    assert Scrubber(secrets_of_config(config)).text(said) == said


def test_the_longest_goes_first() -> None:
    assert Scrubber(("abcd", "abcdef")).text("abcdef abcd") == "*** ***"


@pytest.mark.parametrize("body", ['{"user": "x", "password": "abcd-1234"}', "user=x&password=abcd-1234"])
def test_a_secret_in_the_body_of_a_request(body: str) -> None:
    scrubber = Scrubber(secrets_of_provider({"body": body, "url": "https://a.invalid"}))
    assert scrubber.value({"you": ["abcd-1234", body, "x"], "abcd-1234": 1}) == {
        "you": ["***", "***", "x"],
        "***": 1,
    }


def test_a_variable_of_a_container_is_a_secret_by_the_name_beside_it() -> None:
    env = [{"name": "DB_PASSWORD", "value": "hunter22"}, {"name": "REGION", "value": "east"}]
    config = {"jobTemplate": {"spec": {"containers": [{"env": env}]}}}
    shown = hiding.without_secrets("JobAgent", {"config": config})
    [container] = shown["config"]["jobTemplate"]["spec"]["containers"]
    assert container["env"] == [{"name": "DB_PASSWORD", "value": "***"}, {"name": "REGION", "value": "east"}]
    scrubber = Scrubber(secrets_of_config(config))
    assert scrubber.text("login with hunter22 in east") == "login with *** in east"
    problems: list[Problem] = []
    hiding.check(shown["config"], "config", problems)
    assert [problem.path for problem in problems] == ["config.jobTemplate"]
