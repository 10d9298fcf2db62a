"""What is installed: enough for what the operator does, and no more than that."""

import functools
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from docs import pages
from headgate.cli.main import headgate
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel.objects import Object
from headgate.operator import crds, manifests
from headgate.operator.admission.reviews import JUDGES
from headgate.operator.installation import chart, roles, settings, webhooks
from headgate.operator.installation.settings import Settings
from headgate.operator.webhook_server import PATHS
from headgate.simulate import suite

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "headgate"
GIVEN = Settings("headgate:test", "over-there", 3)
ALL = manifests.documents(GIVEN)
CONTROLLERS = ("controller", "graphs")


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [document for document in ALL if document["kind"] == kind]


@functools.cache
def granted() -> set[tuple[str, str, str]]:
    """By group, resource and verb."""
    return {
        (permission.group, resource, verb)
        for permission in (*roles.WORKLOADS, *roles.GRAPHS)
        for resource in permission.resources
        for verb in permission.verbs
    }


class Played:
    """What controllers asked of a cluster."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: set[tuple[str, str, str]] = set()
        for name, verbs, suffix in (
            ("create", ("create", "patch"), ""),
            ("update", ("update", "patch"), ""),
            ("update_status", ("update", "patch"), "/status"),
            ("delete", ("delete",), ""),
        ):
            self._watch(monkeypatch, name, verbs, suffix)

    def _watch(self, monkeypatch: pytest.MonkeyPatch, name: str, verbs: tuple[str, ...], suffix: str) -> None:
        original = getattr(ObjectStore, name)

        def watched(store: ObjectStore, about: Any, *given: Any, **named: Any) -> Any:
            by = named.get("by", given[-1] if given else "")
            key = about.key if isinstance(about, Object) else about
            if by in CONTROLLERS:
                plural = plurals().get((key.group, key.kind))
                if plural is not None:
                    part = suffix if (key.group, key.kind) not in WITHOUT_STATUS else ""
                    self.asked |= {(key.group, f"{plural}{part}", verb) for verb in verbs}
                elif by == "controller":
                    raise AssertionError(f"no role speaks of {key.kind}")
            return original(store, about, *given, **named)

        monkeypatch.setattr(ObjectStore, name, watched)


WITHOUT_STATUS = {(kind.group, kind.kind) for kind in crds.ALL if not kind.has_status}
"""Their status is written with the rest of them."""


@functools.cache
def plurals() -> dict[tuple[str, str], str]:
    own = {(kind.group, kind.kind): kind.plural for kind in crds.ALL}
    return own | {
        ("", "Pod"): "pods",
        ("", "Service"): "services",
        ("apps", "ControllerRevision"): "controllerrevisions",
        ("autoscaling", "HorizontalPodAutoscaler"): "horizontalpodautoscalers",
        ("resource.k8s.io", "ResourceClaim"): "resourceclaims",
        ("apiextensions.k8s.io", "CustomResourceDefinition"): "customresourcedefinitions",
    }


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(monkeypatch)


@pytest.mark.parametrize("folder", ["workload/use-cases", "graph/lifecycle", "graph/application-rollout"])
def test_the_roles_allow_all_that_planners_do(played: Played, folder: str) -> None:
    assert list(suite.run([ROOT / "examples" / folder]))
    assert len(played.asked) > 5
    assert played.asked - granted() == set()


def test_no_role_allows_every_verb_and_only_instances_are_of_any_kind() -> None:
    every = (*roles.WORKLOADS, *roles.GRAPHS, *roles.SHARED, *roles.IN_NAMESPACE)
    assert all("*" not in permission.verbs for permission in every)
    assert [permission.group for permission in every if "*" in permission.resources] == ["kro.run"]


def test_secrets_and_leases_are_touched_by_name_in_the_own_namespace_alone() -> None:
    for permission in (*roles.WORKLOADS, *roles.GRAPHS, *roles.SHARED):
        assert not {"secrets", "leases"} & set(permission.resources)
    for permission in roles.IN_NAMESPACE:
        assert permission.names or permission.verbs == ("create",)


def test_other_roles_are_the_operators_by_a_label() -> None:
    [whole] = [
        document for document in of_kind("ClusterRole") if document["metadata"]["name"] == settings.NAME
    ]
    assert "rules" not in whole, "they are the aggregating controller's"
    [selector] = whole["aggregationRule"]["clusterRoleSelectors"]
    parts = [
        document["metadata"]["name"]
        for document in of_kind("ClusterRole")
        if selector["matchLabels"].items() <= document["metadata"]["labels"].items()
    ]
    assert len(parts) == 3


def test_webhooks_are_for_our_kinds_alone_and_fail_closed() -> None:
    judged = {
        (rule["apiGroups"][0], rule["resources"][0])
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        for document in of_kind(kind)
        for webhook in document["webhooks"]
        for rule in webhook["rules"]
    }
    plurals = {kind.kind: kind.plural for kind in crds.ALL}
    assert judged == {(group, plurals[kind]) for group, kind in JUDGES}
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        for document in of_kind(kind):
            for webhook in document["webhooks"]:
                assert webhook["failurePolicy"] == "Fail"
                assert webhook["clientConfig"]["service"]["path"] in PATHS
                assert webhook["clientConfig"]["service"]["name"] == settings.WEBHOOK_SERVICE
                assert len(webhook["name"].split(".")) >= 3


def test_the_certificate_has_the_name_that_the_webhooks_are_called_by() -> None:
    [service] = of_kind("Service")
    [policy] = of_kind("NetworkPolicy")
    assert policy["spec"]["podSelector"]["matchLabels"] == service["spec"]["selector"]
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    assert f"{name}.{namespace}.svc" in settings.webhook_names("over-there")


def test_the_deployment_has_no_rights_on_its_node() -> None:
    [document] = of_kind("Deployment")
    pod = document["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert document["spec"]["replicas"] == 3
    assert container["image"] == "headgate:test"
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"livenessProbe", "readinessProbe"} <= set(container)


def test_everything_with_a_namespace_is_in_the_one_asked_for() -> None:
    places = {document["metadata"].get("namespace") for document in ALL}
    assert places == {None, "over-there"}
    assert of_kind("Namespace")[0]["metadata"]["name"] == "over-there"


def test_what_others_name_is_applied_before_them() -> None:
    order = [document["kind"] for document in ALL]
    assert order[0] == "Namespace"
    assert (
        order.index("ServiceAccount")
        < order.index("Deployment")
        < order.index("MutatingWebhookConfiguration")
    )


def test_the_command_prints_it_all() -> None:
    result = CliRunner().invoke(
        headgate,
        ["operator", "manifests", "--namespace", "over-there", "--image", "headgate:test", "--replicas", "3"],
    )
    assert result.exit_code == 0
    assert list(yaml.safe_load_all(result.output)) == ALL


def test_the_chart_is_what_the_manifests_say_now() -> None:
    """Written by scripts/chart."""
    found = {
        file.relative_to(CHART).as_posix(): file.read_text("utf-8")
        for file in CHART.rglob("*")
        if file.is_file()
    }
    assert found == chart.files(version("headgate"))


ACTION = re.compile(r"\{\{-? (.*?) \}\}")


def rendered(file: str, **changes: Any) -> list[dict[str, Any]]:
    """What Helm makes of a template of ours. They have values, `if`, `else` and `end`, and nothing else."""
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    for path, value in changes.items():
        _, *way, last = ["", *path.split("__")]
        place = values
        for key in way:
            place = place[key]
        place[last] = value
    lines = list(_kept_lines((CHART / "templates" / file).read_text("utf-8"), values))
    return [document for document in yaml.safe_load_all("\n".join(lines)) if document]


def _kept_lines(text: str, values: dict[str, Any]) -> Iterator[str]:
    kept: list[bool] = []
    for line in text.splitlines():
        action = re.fullmatch(r"\{\{- (if (.*)|else|end) \}\}", line)
        if action is None:
            if all(kept):
                yield ACTION.sub(lambda found: str(_value(found.group(1), values)), line)
        elif action.group(1).startswith("if"):
            kept.append(bool(_value(action.group(2), values)))
        elif action.group(1) == "else":
            kept.append(not kept.pop())
        else:
            kept.pop()
    assert not kept


def _value(expression: str, values: dict[str, Any]) -> Any:
    if expression == ".Release.Namespace":
        return "over-there"
    found: Any = values
    for key in expression.removeprefix(".Values.").split("."):
        found = found[key]
    return found


def test_a_release_of_the_operator_is_what_the_command_prints() -> None:
    found = rendered("operator.yaml", image="headgate:test", operator__replicas=3)
    expected = [
        document for document in ALL if document["kind"] not in ("Namespace", "CustomResourceDefinition")
    ]
    assert found == expected
    assert [document["spec"] for document in rendered("crds.yaml")] == [
        document["spec"] for document in crds.documents()
    ]
    assert rendered("operator.yaml", operator__enabled=False) == []


def test_kinds_and_with_them_all_objects_outlive_a_release() -> None:
    assert all(
        document["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
        for document in rendered("crds.yaml")
    )


def test_the_service_has_one_process_with_sqlite_or_several_with_postgresql() -> None:
    service, alone = rendered("service.yaml")
    assert (service["kind"], alone["kind"]) == ("Service", "StatefulSet")
    assert alone["spec"]["replicas"] == 1
    [claim] = alone["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"]["storage"] == "10Gi"
    _, several = rendered("service.yaml", service__database__secret="db", service__replicas=5)
    assert (several["kind"], several["spec"]["replicas"]) == ("Deployment", 5)
    [container] = several["spec"]["template"]["spec"]["containers"]
    assert container["env"][0]["valueFrom"]["secretKeyRef"] == {"name": "db", "key": "url"}


def test_the_service_reaches_its_cluster_only_where_that_is_said() -> None:
    for document in rendered("service.yaml"):
        if document["kind"] == "StatefulSet":
            assert document["spec"]["template"]["spec"]["automountServiceAccountToken"] is False
    found = rendered(
        "service.yaml", service__cluster__enabled=True, service__cluster__discover="in-cluster=east"
    )
    kinds = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service"]
    assert [document["kind"] for document in found] == [*kinds, "StatefulSet"]
    pod = found[-1]["spec"]["template"]["spec"]
    assert (pod["serviceAccountName"], pod["automountServiceAccountToken"]) == ("headgate", True)
    assert pod["containers"][0]["env"] == [
        {"name": "HEADGATE_ALLOW_CLUSTER", "value": "in-cluster"},
        {"name": "HEADGATE_DISCOVER", "value": "in-cluster=east"},
    ]
    for binding in (found[2], found[4]):
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": "headgate", "namespace": "over-there"}
        ]


@pytest.mark.parametrize(("page", "kind"), [("kubernetes.md", "Role"), ("kubernetes-node.md", "ClusterRole")])
def test_agents_are_allowed_what_their_pages_say(page: str, kind: str) -> None:
    [block] = [
        block for block in pages.blocks_of(ROOT / "docs" / "agents" / page) if block.text.startswith("rules:")
    ]
    found = rendered("service.yaml", service__cluster__enabled=True)
    rules = [rule for document in found if document["kind"] == kind for rule in document["rules"]]
    own = [rule for rule in yaml.safe_load(block.text)["rules"] if rule["resources"] != ["namespaces"]]
    for rule in own:
        assert rule in rules
    assert len(own) == sum(rule["resources"] != ["namespaces"] for rule in rules)


def test_the_service_is_called_with_options_that_there_are() -> None:
    from headgate.cli.commands.up import command

    options = {option for parameter in command.params for option in parameter.opts}
    for document in (*rendered("service.yaml"), *rendered("service.yaml", service__database__secret="db")):
        if document["kind"] not in ("StatefulSet", "Deployment"):
            continue
        [container] = document["spec"]["template"]["spec"]["containers"]
        assert container["args"][0] == "up"
        assert {word for word in container["args"] if word.startswith("--")} <= options


def test_the_running_operator_writes_who_signs_into_every_webhook_once() -> None:
    [configuration] = of_kind("ValidatingWebhookConfiguration")
    trusting = webhooks.trusting(configuration, "QUJD")
    assert trusting is not None
    assert [each["clientConfig"]["caBundle"] for each in trusting["webhooks"]] == ["QUJD", "QUJD"]
    assert [each["clientConfig"]["service"] for each in trusting["webhooks"]] == [
        each["clientConfig"]["service"] for each in configuration["webhooks"]
    ]
    assert webhooks.trusting(trusting, "QUJD") is None
