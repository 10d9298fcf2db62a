"""A value in an address, a command, a folder or a query is a value, whatever is in it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from headgate.fleet.model import agent_configs, careful_texts
from headgate.kernel.problems import Problem, Rejected

HOSTILE = [
    "$(touch HACKED)",
    "`touch HACKED`",
    "; touch HACKED",
    "\n touch HACKED\n",
    "' ; touch HACKED ; '",
    '" ; touch HACKED ; "',
    "'\"'\"'; touch HACKED #",
    "\\'; touch HACKED; \\'",
    "| touch HACKED",
    "${IFS}touch${IFS}HACKED",
    "$HOME * ~ {a,b}",
    "!!",
    "&& touch HACKED",
    "\\",
    "'",
    '"',
    "${'x'}",
    "{{ value }}",
]


def bindings(value: object) -> dict[str, Any]:
    return {
        "version": {"tag": value, "config": {}},
        "resource": {"name": value},
        "environment": {"name": "prod"},
        "deployment": {"name": "api"},
        "variables": {"value": value},
        "job": {"id": "job-1"},
    }


def resolved(agent_type: str, config: dict[str, Any], value: object) -> dict[str, Any]:
    return agent_configs.resolve(agent_type, config, bindings(value))


def problems(agent_type: str, config: dict[str, Any], value: object = "x") -> list[str]:
    with pytest.raises(Rejected) as caught:
        resolved(agent_type, config, value)
    return [str(problem) for problem in caught.value.problems]


SCRIPTS = [
    "printf %s ${version.tag}",
    'printf %s "${version.tag}"',
    "printf %s '${version.tag}'",
    "printf %s ''${version.tag}''",
    'x="${version.tag}"; printf %s "$x"',
    "cat <<END\n${version.tag}\nEND",
    'printf %s "it\'s ${version.tag}"',
    "printf %s 'a \" b '${version.tag}",
    "printf %s \\'${version.tag}",
    "echo `printf %s ${version.tag}` $(printf %s ${version.tag})",
    "true # ${version.tag}",
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("as_list", [False, True])
def test_no_value_becomes_code_in_a_shell(script: str, value: str, as_list: bool, tmp_path: Path) -> None:
    given = ["/bin/sh", "-c", script] if as_list else script
    config = resolved("exec", {"command": given}, value)
    command = config["command"] if as_list else ["/bin/sh", "-c", config["command"]]
    subprocess.run(
        command, cwd=tmp_path, env=config.get("env", {}), capture_output=True, timeout=20, check=False
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", SCRIPTS[:5])
@pytest.mark.parametrize("value", ["v2", "a b", *HOSTILE])
def test_the_command_gets_the_value_itself(script: str, value: str, tmp_path: Path) -> None:
    config = resolved("exec", {"command": script}, value)
    done = subprocess.run(
        ["/bin/sh", "-c", config["command"]], cwd=tmp_path, env=config["env"], capture_output=True, check=True
    )
    assert done.stdout.decode() == value


def test_variables_of_values_stand_beside_those_of_the_owner() -> None:
    config = resolved("exec", {"command": "deploy ${version.tag}", "env": {"A": "${version.tag}"}}, "v 2")
    assert config == {
        "command": 'deploy "${HEADGATE_VALUE_1}"',
        "env": {"A": "v 2", "HEADGATE_VALUE_1": "v 2"},
    }


def test_text_that_looks_at_nothing_is_the_owners_and_stays_code() -> None:
    assert resolved("exec", {"command": "echo ${'${HOME}'} $HOME"}, "v2") == {"command": "echo ${HOME} $HOME"}


@pytest.mark.parametrize("value", ["v2", "a b", "$(id)", "'"])
def test_an_item_of_a_list_is_one_argument(value: str) -> None:
    config = resolved("exec", {"command": ["deploy", "${version.tag}", "to=${resource.name}"]}, value)
    assert config == {"command": ["deploy", value, f"to={value}"]}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("${variables.value}", "what is run"),
        ("./${variables.value}/deploy now", "what is run"),
        ("A=1 ${variables.value} now", "what is run"),
        (["${variables.value}", "now"], "what is run"),
        (["/bin/${variables.value}"], "what is run"),
        (["python3", "-c", "print('${version.tag}')"], "expression in code"),
        (["/usr/bin/perl", "-e", "print '${version.tag}'"], "expression in code"),
        (["sudo", "sh", "-c", "deploy ${version.tag}"], "expression in code"),
    ],
)
def test_what_is_run_is_written_out_and_that_is_asked_for_when_it_is_written(
    command: Any, words: str
) -> None:
    found: list[Problem] = []
    agent_configs.check("exec", {"command": command}, "config", found)
    assert len(found) == 1
    assert words in found[0].message
    assert any(words in problem for problem in problems("exec", {"command": command}))


@pytest.mark.parametrize("value", [["sh", "-c", "id"], {"a": 1}])
def test_a_command_is_not_taken_from_a_variable_as_a_whole(value: object) -> None:
    assert problems("exec", {"command": "${variables.value}"}, value)
    assert problems("exec", {"command": ["deploy", "${variables.value}"]}, value)


@pytest.mark.parametrize(
    "command",
    [
        "ssh host 'deploy ${version.tag}'",
        'eval "deploy ${version.tag}"',
        "bash -c 'deploy ${version.tag}'",
        "python3 -c \"print('${version.tag}')\"",
        "psql -c \"select '${version.tag}'\"",
        ["ssh", "host", "deploy", "${version.tag}"],
        ["sudo", "/usr/bin/ssh", "host", "deploy", "${version.tag}"],
    ],
)
def test_what_is_read_as_code_once_more_takes_plain_words_only(command: Any) -> None:
    assert resolved("exec", {"command": command}, "registry.example/app:v1.2")
    for value in HOSTILE:
        assert any(
            "allowed are letters" in problem for problem in problems("exec", {"command": command}, value)
        )


def test_words_that_only_look_like_a_shell_ask_for_nothing() -> None:
    given = {"command": "git push origin ${version.tag}; ./deploy.sh; ssh-keygen -l"}
    assert resolved("exec", given, "a b")["env"] == {"HEADGATE_VALUE_1": "a b"}


def test_a_value_is_not_taken_for_an_option() -> None:
    assert (
        "takes for an option"
        in problems("exec", {"command": ["tar", "${version.tag}"]}, "--to-command=id")[0]
    )
    assert resolved("exec", {"command": ["tar", "--", "${version.tag}"]}, "-x")["command"][2] == "-x"
    assert resolved("exec", {"command": ["tar", "--file=${version.tag}"]}, "-x")["command"][1] == "--file=-x"


@pytest.mark.parametrize("value", ["../etc", "/etc", "..", ".", "a/b"])
def test_a_folder_takes_a_name_and_not_a_way(value: str) -> None:
    given = {"command": "x", "workingDirectory": "/srv/${resource.name}"}
    assert "config.workingDirectory" in problems("exec", given, value)[0]
    assert resolved("exec", given, "node-1")["workingDirectory"] == "/srv/node-1"


ADDRESSES = [
    ("http", "url"),
    ("http", "statusUrl"),
    ("http", "cancelUrl"),
    ("github", "apiUrl"),
    ("argocd", "serverUrl"),
]


@pytest.mark.parametrize(("agent_type", "field"), ADDRESSES)
@pytest.mark.parametrize(
    "template",
    [
        "${variables.value}",
        "${variables.value}://host.example.com",
        "https://${variables.value}",
        "https://${variables.value}/x",
        "https://${variables.value}:443/x",
        "https://host.example.com:${variables.value}/",
        "https://host.example.com${variables.value}",
        "https://host.example.com${variables.value}/x",
        "https://${variables.value}.com/x",
        "https://user:${variables.value}@host.example.com/",
        "https://${variables.value}@host.example.com/",
        "https://${variables.value}?.example.com",
        "https://${variables.value}\\.example.com",
        "https://${variables.value}#.example.com",
    ],
)
def test_nobody_but_the_owner_says_where_a_request_goes(agent_type: str, field: str, template: str) -> None:
    found: list[Problem] = []
    agent_configs.check(agent_type, {field: template}, "config", found)
    assert [problem.path for problem in found] == [f"config.{field}"]
    assert problems(agent_type, {field: template}, "evil")


@pytest.mark.parametrize(
    "value",
    [
        "evil.com/",
        "evil.com#",
        "evil.com?",
        "evil.com\\",
        "a.b",
        "a@b",
        "a:b",
        "",
        "-a",
        "a-",
        "é",
        "a" * 64,
        "a\nb",
        "%2e",
        "[::1]",
    ],
)
def test_a_value_in_a_host_is_one_label(value: str) -> None:
    given = {"url": "https://${resource.name}.deploy.example.com/x"}
    assert "one label of a host name" in problems("http", given, value)[0]
    assert resolved("http", given, "node-1")["url"] == "https://node-1.deploy.example.com/x"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("v2", "v2"),
        ("a/b", "a%2Fb"),
        ("../../x", "..%2F..%2Fx"),
        ("?x=1&y=2#z", "%3Fx%3D1%26y%3D2%23z"),
        ("%2e%2e", "%252e%252e"),
        ("a b\r\nX: y", "a%20b%0D%0AX%3A%20y"),
        ("@evil.com", "%40evil.com"),
        ("\\..", "%5C.."),
        ("é", "%C3%A9"),
    ],
)
def test_a_value_in_a_path_is_encoded(value: str, written: str) -> None:
    given = {"url": "https://host.example.com/jobs/${version.tag}/start?tag=${version.tag}"}
    found = resolved("http", given, value)
    assert found["url"] == f"https://host.example.com/jobs/{written}/start?tag={written}"


@pytest.mark.parametrize("value", [".", "..", ""])
def test_a_value_is_no_step_in_a_path(value: str) -> None:
    assert (
        "in its path"
        in problems("http", {"url": "https://host.example.com/jobs/${version.tag}/start"}, value)[0]
    )


@pytest.mark.parametrize(
    ("agent_type", "field"),
    [
        *(("http", "secret"), ("http", "secretEnv"), ("github", "token"), ("github", "tokenEnv")),
        *(("argocd", "token"), ("argocd", "tokenEnv"), ("argocd", "insecure")),
    ],
)
def test_credentials_are_written_out(agent_type: str, field: str) -> None:
    found: list[Problem] = []
    agent_configs.check(agent_type, {field: "${variables.value}"}, "config", found)
    assert [problem.path for problem in found] == [f"config.{field}"]
    assert "written out" in problems(agent_type, {field: "${variables.value}"}, "HOME")[0]


@pytest.mark.parametrize(
    ("query", "value", "written"),
    [
        ('up{node="${resource.name}"}', 'x"} or vector(0) #', 'up{node="x\\"} or vector(0) #"}'),
        ("up{node='${resource.name}'}", "x'} or vector(0) #", "up{node='x\\'} or vector(0) #'}"),
        ('up{node="${resource.name}"}', "\\", 'up{node="\\\\"}'),
        ("rate(up[${resource.name}])", "5m", "rate(up[5m])"),
    ],
)
def test_a_value_in_a_query_stays_in_its_string(query: str, value: str, written: str) -> None:
    found: list[Problem] = []
    assert careful_texts.query(query, bindings(value), "query", found) == written
    assert found == []


@pytest.mark.parametrize("query", ["rate(up[${resource.name}])", "up{node=`${resource.name}`}"])
def test_outside_of_strings_a_query_takes_words_only(query: str) -> None:
    found: list[Problem] = []
    careful_texts.query(query, bindings("1] or vector(0)"), "query", found)
    assert len(found) == 1


VALUES = st.one_of(st.text(), st.text(alphabet="./\\@:?#%&$`'\"[]{}()\r\n\t -ae0"), st.sampled_from(HOSTILE))
TEMPLATES = [
    "https://host.example.com/jobs/${version.tag}/start",
    "https://host.example.com/jobs/a${version.tag}b/start?x=${version.tag}",
    "https://host.example.com/?x=${version.tag}",
    "https://host.example.com:8443/jobs#${version.tag}",
    "https://${version.tag}.deploy.example.com/jobs/start",
    "https://api-${version.tag}.deploy.example.com:8443/jobs/start",
]


@given(value=VALUES, template=st.sampled_from(TEMPLATES))
def test_whatever_the_value_an_address_keeps_its_host_and_its_path(value: str, template: str) -> None:
    """As the library sees it that makes the request."""
    try:
        found = URL(resolved("http", {"url": template}, value)["url"])
    except Rejected:
        return
    plain = URL(template.replace("${version.tag}", "x"))
    assert (found.host or "").endswith("example.com")
    assert (found.host or "").count(".") == (plain.host or "").count(".")
    assert (found.scheme, found.port, found.user, found.password) == (plain.scheme, plain.port, None, None)
    assert len(found.raw_path.split("/")) == len(plain.raw_path.split("/"))
    assert len(found.query) == len(plain.query)


@given(value=VALUES, script=st.sampled_from(SCRIPTS))
def test_whatever_the_value_the_script_is_the_same(value: str, script: str) -> None:
    config = resolved("exec", {"command": script}, value)
    assert config["command"] == resolved("exec", {"command": script}, "x")["command"]
    assert set(config["env"].values()) == {value}
