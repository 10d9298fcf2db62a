"""Values in templates of pods: arguments and variables, and never code, references, containers or lists."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headgate.fleet.model import agent_configs, agent_fields
from headgate.kernel.problems import Problem, Rejected

PATH = "config.jobTemplate.spec.template.spec.containers[0]"


def template(**container: Any) -> dict[str, Any]:
    content = {"name": "main", "image": "none", **container}
    return {"jobTemplate": {"spec": {"template": {"spec": {"containers": [content]}}}}}


def container(config: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = config["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    return found


def resolved(value: object, **given: Any) -> dict[str, Any]:
    bindings = {"version": {"tag": value}, "variables": {"value": value}}
    return container(agent_configs.resolve("kubernetes", template(**given), bindings))


def refused(value: object, **given: Any) -> list[str]:
    with pytest.raises(Rejected) as caught:
        resolved(value, **given)
    return [str(problem) for problem in caught.value.problems]


def test_an_item_of_a_command_is_one_argument() -> None:
    found = resolved("a b; id", command=["deploy"], args=["--to", "to=${version.tag}"])
    assert (found["command"], found["args"]) == (["deploy"], ["--to", "to=a b; id"])


@pytest.mark.parametrize("value", ["$(SECRET)", "$$(SECRET)", "a$", "$x"])
def test_a_kubelet_finds_no_reference_in_a_value(value: str) -> None:
    found = resolved(
        value,
        command=["deploy", "to=${version.tag}"],
        env=[{"name": "TAG", "value": "${version.tag}"}],
        volumeMounts=[{"name": "a", "mountPath": "/a", "subPathExpr": "x${version.tag}"}],
    )
    doubled = value.replace("$", "$$")
    assert found["command"][1] == f"to={doubled}"
    assert found["env"][0]["value"] == doubled
    assert found["volumeMounts"][0]["subPathExpr"] == f"x{doubled}"


def test_references_of_the_owner_stay_where_no_value_is() -> None:
    found = resolved("v2", command=["deploy", "--node", "$(NODE)"], env=[{"name": "A", "value": "$(NODE)"}])
    assert found["command"] == ["deploy", "--node", "$(NODE)"]
    assert found["env"] == [{"name": "A", "value": "$(NODE)"}]


def test_a_script_gets_values_as_variables_of_its_container() -> None:
    found = resolved(
        "'; id", command=["sh", "-c"], args=["deploy '${version.tag}'"], env=[{"name": "A", "value": "1"}]
    )
    assert found["args"] == ["deploy ''\"$${HEADGATE_VALUE_1}\"''"]
    assert found["env"] == [{"name": "A", "value": "1"}, {"name": "HEADGATE_VALUE_1", "value": "'; id"}]


def test_hooks_and_probes_take_no_values_in_scripts() -> None:
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "drain ${version.tag}"]}}}
    [problem] = refused("v2", lifecycle=hook)
    assert "give the value in env of the container" in problem


def test_what_the_image_runs_is_not_known_so_its_arguments_are_plain() -> None:
    assert resolved("v1.2", args=["--to=${version.tag}"])["args"] == ["--to=v1.2"]
    assert "allowed are letters" in refused("$(id)", args=["--to=${version.tag}"])[0]
    assert "expression in code" in refused("v2", args=["-c", "deploy ${version.tag}"])[0]


@pytest.mark.parametrize("value", [["sh", "-c", "id"], {"name": "b"}])
def test_a_value_is_no_list_and_no_map(value: object) -> None:
    assert (
        "in a template a text, a number or a bool is needed"
        in refused(value, command="${variables.value}")[0]
    )
    assert refused(value, volumeMounts="${variables.value}")


def test_numbers_and_bools_keep_their_type_but_in_variables() -> None:
    found = resolved(3, stdin="${variables.value > 1}", env=[{"name": "N", "value": "${variables.value}"}])
    assert (found["stdin"], found["env"][0]["value"]) == (True, "3")


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"command": ["${version.tag}"]}, f"{PATH}.command[0]"),
        ({"command": ["python3", "-c", "print('${version.tag}')"]}, f"{PATH}.command[2]"),
        ({"args": ["-c", "deploy ${version.tag}"]}, f"{PATH}.args[1]"),
    ],
)
def test_what_is_run_is_written_out_and_that_is_asked_for_when_it_is_written(
    given: dict[str, Any], path: str
) -> None:
    problems: list[Problem] = []
    agent_configs.check("kubernetes", template(**given), "config", problems)
    assert [problem.path for problem in problems] == [path]


def test_the_cluster_and_the_template_are_never_the_versions_to_say() -> None:
    assert agent_fields.is_owners("kubeContext")
    for name in ("jobTemplate", "instanceTemplate", "setTemplate"):
        assert agent_fields.is_owners(name)
    assert agent_fields.is_owners("allowedNodes")
    problems: list[Problem] = []
    agent_configs.check("kubernetes", {"kubeContext": "${version.tag}"}, "config", problems)
    agent_configs.check(
        "kubernetes-node",
        dict.fromkeys(("kubeContext", "verb", "allowedNodes"), "${version.tag}"),
        "config",
        problems,
    )
    assert [problem.path for problem in problems] == [
        "config.kubeContext",
        "config.kubeContext",
        "config.verb",
        "config.allowedNodes",
    ]


@pytest.mark.parametrize(
    ("agent_type", "field"), [("graph", "instanceTemplate"), ("workload", "setTemplate")]
)
def test_what_is_applied_and_where_is_never_the_versions_to_say(agent_type: str, field: str) -> None:
    value = "${version.tag}"
    pod = {"serviceAccountName": value, "containers": [{"name": "a", "image": value, "command": [value]}]}
    template = {
        "apiVersion": value,
        "kind": value,
        "metadata": {"name": value, "namespace": value},
        "spec": {"podSpec": pod},
    }
    problems: list[Problem] = []
    agent_configs.check(agent_type, {"kubeContext": value, field: template}, "config", problems)
    assert sorted(problem.path for problem in problems) == sorted(
        [
            "config.kubeContext",
            f"config.{field}.apiVersion",
            f"config.{field}.kind",
            f"config.{field}.metadata.namespace",
            f"config.{field}.spec.podSpec.serviceAccountName",
            f"config.{field}.spec.podSpec.containers[0].command[0]",
        ]
    )
    with pytest.raises(Rejected):
        agent_configs.resolve(agent_type, {field: template}, {"version": {"tag": "v2"}})


def checked(config: dict[str, Any]) -> list[str]:
    problems: list[Problem] = []
    agent_configs.check("kubernetes", config, "config", problems)
    return [problem.path for problem in problems]


@pytest.mark.parametrize(
    "expression", ["resource.metadata.team", "version.tag", "variables.team", "deployment.variables.team"]
)
@pytest.mark.parametrize(
    "field",
    [
        {"serviceAccountName": "VALUE"},
        {"hostNetwork": "VALUE"},
        {"securityContext": {"runAsUser": "VALUE"}},
        {"volumes": [{"name": "a", "hostPath": {"path": "/data/VALUE"}}]},
        {"volumes": [{"name": "a", "secret": {"secretName": "VALUE"}}]},
        {"volumes": [{"name": "a", "projected": {"sources": [{"secret": {"name": "VALUE"}}]}}]},
        {"containers": [{"securityContext": {"privileged": "VALUE"}}]},
        {"containers": [{"envFrom": [{"secretRef": {"name": "VALUE"}}]}]},
        {"containers": [{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "VALUE"}}}]}]},
    ],
)
def test_what_a_pod_may_do_is_not_said_by_those_who_name_things(
    field: dict[str, Any], expression: str
) -> None:
    def template_with(text: str) -> dict[str, Any]:
        spec = msgspec.json.decode(msgspec.json.encode(field).replace(b"VALUE", text.encode()))
        return {"jobTemplate": {"spec": {"template": {"spec": spec}}}}

    assert len(checked(template_with(f"${{{expression}}}"))) == 1
    for own in (
        "${environment.name}",
        "${environment.metadata.account}",
        "${deployment.name}",
        "written-out",
    ):
        assert checked(template_with(own)) == []


def test_a_version_or_a_resource_does_not_choose_the_namespace() -> None:
    def namespaced(text: str) -> dict[str, Any]:
        return {"jobTemplate": {"metadata": {"namespace": text}}}

    assert checked(namespaced("${resource.metadata.team}")) == ["config.jobTemplate.metadata.namespace"]
    assert checked(namespaced("team-${environment.name}")) == []
    assert checked(namespaced("${environment.name == version.tag ? 'a' : 'kube-system'}"))


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"command": ["sh", "-c", "deploy $(HEADGATE_VERSION)"]}, "command[2]"),
        ({"command": ["sh", "-c"], "args": ["deploy $(HEADGATE_RESOURCE)"]}, "args[0]"),
        ({"command": ["$(HEADGATE_VERSION)"]}, "command[0]"),
        ({"command": ["ssh", "host", "deploy $(HEADGATE_VERSION)"]}, "command[2]"),
        ({"args": ["-c", "deploy $(HEADGATE_VERSION)"]}, "args[1]"),
        (
            {"command": ["sh", "-c", "$$$(TAG)"], "env": [{"name": "TAG", "value": "${version.tag}"}]},
            "command[2]",
        ),
    ],
)
def test_kubelets_paste_no_value_into_code(given: dict[str, Any], path: str) -> None:
    assert checked(template(**given)) == [f"{PATH}.{path}"]


@pytest.mark.parametrize(
    "given",
    [
        {"command": ["deploy", "--to", "$(HEADGATE_VERSION)"]},
        {"command": ["sh", "-c", 'deploy "$HEADGATE_VERSION" $$(HEADGATE_VERSION)']},
        {"command": ["sh", "-c", "deploy $(NODE)"], "env": [{"name": "NODE", "value": "written-out"}]},
    ],
)
def test_references_stay_where_they_are_no_code(given: dict[str, Any]) -> None:
    assert checked(template(**given)) == []
