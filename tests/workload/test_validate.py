"""Validation of new sets: one row a rule, with the field it names."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.workload import model
from headgate.workload.checks import validate
from headgate.workload.expand import manifests

from . import sets

CLIQUE = "spec.template.cliques[0]"
GROUP = "spec.template.podCliqueScalingGroups[0]"
EXPLICIT = "CliqueStartupTypeExplicit"


def explicit(**after: list[str]) -> Object:
    return sets.item(
        *(sets.clique(name, startsAfter=parents) for name, parents in after.items()),
        cliqueStartupType=EXPLICIT,
    )


def with_pod_spec(**fields: Any) -> Object:
    clique = sets.clique("worker")
    clique["spec"]["podSpec"].update(fields)
    return sets.item(clique)


def grouped(*cliques: dict[str, Any], **fields: Any) -> Object:
    members = cliques or (sets.clique("worker"),)
    return sets.item(*members, groups=(sets.group("sg", *(member["name"] for member in members), **fields),))


def env(*names: str) -> list[dict[str, Any]]:
    return [{"name": "main", "env": [{"name": name, "value": "x"} for name in names]}]


ROWS = [
    ("a name is a DNS subdomain", sets.item(name="Not_A_Name"), "metadata.name", "DNS subdomain"),
    ("labels are labels", sets.item(metadata={"labels": {"a": "not ok"}}), "metadata.labels.a", '"not ok"'),
    ("replicas are not negative", sets.item(replicas=-1), "spec.replicas", "must not be negative"),
    (
        "the startup type is one of three",
        sets.item(cliqueStartupType="Sometimes"),
        "spec.template.cliqueStartupType",
        "allowed are CliqueStartupTypeAnyOrder",
    ),
    (
        "there is a clique",
        sets.item(podCliqueScalingGroups=[], cliques=[]),
        "spec.template.cliques",
        "at least one",
    ),
    ("a clique has a name", sets.item({"name": ""}), f"{CLIQUE}.name", "must not be empty"),
    ("a clique has a name at all", sets.item({"spec": {}}), f"{CLIQUE}.name", "is required"),
    ("a clique's name is a DNS subdomain", sets.item({"name": "A"}), f"{CLIQUE}.name", "DNS subdomain"),
    (
        "names fit into those of pods",
        sets.item(sets.clique("w" * 20), name="p" * 26),
        f"{CLIQUE}.name",
        "46 characters together; allowed are 45",
    ),
    (
        "names fit with that of the group",
        sets.item(sets.clique("w" * 15), name="p" * 15, groups=(sets.group("g" * 16, "w" * 15),)),
        f"{CLIQUE}.name",
        "46 characters together; allowed are 45",
    ),
    (
        "clique names are unique",
        sets.item(sets.clique("a"), {"name": "a"}),
        "spec.template.cliques[1].name",
        '"a" is taken',
    ),
    (
        "role names are unique",
        sets.item(sets.clique("a"), sets.clique("b", roleName="role-a")),
        "spec.template.cliques[1].spec.roleName",
        '"role-a" is taken',
    ),
    (
        "clique labels are labels",
        sets.item(sets.clique("a", labels={"x/y/z": "v"})),
        f"{CLIQUE}.labels",
        'has the key "x/y/z"',
    ),
    (
        "clique annotations have keys",
        sets.item(sets.clique("a", annotations={"_": "v"})),
        f"{CLIQUE}.annotations",
        'has the key "_"',
    ),
    (
        "pods are at least one",
        sets.item(sets.clique("a", replicas=0)),
        f"{CLIQUE}.spec.replicas",
        "greater than 0",
    ),
    (
        "minAvailable is at least one",
        sets.item(sets.clique("a", replicas=2, minAvailable=0)),
        f"{CLIQUE}.spec.minAvailable",
        "is 0; must be greater than 0",
    ),
    (
        "minAvailable is at most replicas",
        sets.item(sets.clique("a", replicas=2, minAvailable=3)),
        f"{CLIQUE}.spec.minAvailable",
        "is 3; must not be greater than replicas, 2",
    ),
    ("a parent has a name", explicit(a=[], b=[""]), "spec.template.cliques[1].spec.startsAfter[0]", "empty"),
    (
        "a clique does not wait for itself",
        explicit(a=["a"]),
        f"{CLIQUE}.spec.startsAfter[0]",
        "is the clique itself",
    ),
    (
        "a parent is named once",
        explicit(a=[], b=["a", "a"]),
        "spec.template.cliques[1].spec.startsAfter[1]",
        "twice",
    ),
    (
        "a parent exists",
        explicit(a=["z"]),
        f"{CLIQUE}.spec.startsAfter[0]",
        '"z" is not a clique of this set',
    ),
    ("no circle", explicit(a=["b"], b=["c"], c=["a"]), "spec.template.cliques", "a after b after c after a"),
    (
        "an autoscaler keeps minAvailable",
        sets.item(sets.clique("a", replicas=3, autoScalingConfig={"minReplicas": 2, "maxReplicas": 5})),
        f"{CLIQUE}.spec.autoScalingConfig.minReplicas",
        "greater than or equal to minAvailable, 3",
    ),
    (
        "an autoscaler's bounds are in order",
        sets.item(
            sets.clique("a", replicas=1, autoScalingConfig={"minReplicas": 4, "maxReplicas": 3}),
        ),
        f"{CLIQUE}.spec.autoScalingConfig.maxReplicas",
        "greater than or equal to minReplicas, 4",
    ),
    (
        "an autoscaler reaches the replicas",
        sets.item(
            sets.clique(
                "a", replicas=4, minAvailable=1, autoScalingConfig={"minReplicas": 1, "maxReplicas": 3}
            ),
        ),
        f"{CLIQUE}.spec.autoScalingConfig.maxReplicas",
        "greater than or equal to replicas, 4",
    ),
    (
        "no spreading on new sets",
        with_pod_spec(topologySpreadConstraints=[{"maxSkew": 1}]),
        f"{CLIQUE}.spec.podSpec.topologySpreadConstraints",
        "must not be set",
    ),
    (
        "no node on new sets",
        with_pod_spec(nodeName="n1"),
        f"{CLIQUE}.spec.podSpec.nodeName",
        "must not be set",
    ),
    (
        "variables have names",
        with_pod_spec(containers=env("1A")),
        f"{CLIQUE}.spec.podSpec.containers[0].env[0].name",
        "not beginning with a digit",
    ),
    (
        "variables are set once",
        with_pod_spec(containers=env("A", "A")),
        f"{CLIQUE}.spec.podSpec.containers[0].env[1].name",
        '"A" is set twice',
    ),
    (
        "one scheduler for all",
        sets.item(sets.clique("a"), {"name": "b", "spec": {"podSpec": {"schedulerName": "kai"}}}),
        "spec.template.cliques[1].spec.podSpec.schedulerName",
        "all pods of a set have one scheduler",
    ),
    (
        "a group's name is a DNS subdomain",
        sets.item(sets.clique("a"), groups=(sets.group("G", "a"),)),
        f"{GROUP}.name",
        "DNS subdomain",
    ),
    (
        "group names are unique",
        sets.item(sets.clique("a"), sets.clique("b"), groups=(sets.group("g", "a"), sets.group("g", "b"))),
        "spec.template.podCliqueScalingGroups[1].name",
        '"g" is taken',
    ),
    (
        "a group is made of cliques that exist",
        sets.item(sets.clique("a"), groups=(sets.group("g", "z"),)),
        f"{GROUP}.cliqueNames[0]",
        '"z" is not a clique of this set; there are a',
    ),
    (
        "a group has cliques",
        sets.item(groups=(sets.group("g"),)),
        f"{GROUP}.cliqueNames",
        "at least one clique",
    ),
    ("group replicas are at least one", grouped(replicas=0), f"{GROUP}.replicas", "greater than 0"),
    (
        "group minAvailable is at least one",
        grouped(minAvailable=0),
        f"{GROUP}.minAvailable",
        "greater than 0",
    ),
    (
        "group minAvailable is at most replicas",
        grouped(replicas=1, minAvailable=2),
        f"{GROUP}.minAvailable",
        "is 2; must not be greater than replicas, 1",
    ),
    (
        "a group's autoscaler keeps minAvailable",
        grouped(replicas=2, minAvailable=2, scaleConfig={"minReplicas": 1, "maxReplicas": 3}),
        f"{GROUP}.scaleConfig.minReplicas",
        "greater than or equal to minAvailable, 2",
    ),
    (
        "a clique is in one group",
        sets.item(sets.clique("a"), groups=(sets.group("g", "a"), sets.group("h", "a"))),
        "spec.template.podCliqueScalingGroups[1].cliqueNames[0]",
        'in scaling group "g" already',
    ),
    (
        "a group scales as one",
        grouped(sets.clique("a", autoScalingConfig={"maxReplicas": 3})),
        f"{CLIQUE}.spec.autoScalingConfig",
        "which scales as one",
    ),
    (
        "the delay is positive",
        sets.item(terminationDelay="0s"),
        "spec.template.terminationDelay",
        "is 0s; must be greater than 0",
    ),
    (
        "the delay is a duration",
        sets.item(terminationDelay="soon"),
        "spec.template.terminationDelay",
        "not a duration",
    ),
    (
        "the delay is not negative",
        sets.item(terminationDelay="-1m"),
        "spec.template.terminationDelay",
        "must be greater than 0",
    ),
    (
        "shorthand and spec agree",
        sets.item({"name": "a", "replicas": 2, "spec": {"replicas": 3}}),
        f"{CLIQUE}.replicas",
        "it is short for spec.replicas, say it once",
    ),
    (
        "no standalone clique has the name of a member",
        sets.item(sets.clique("sg-0-w"), sets.clique("w"), groups=(sets.group("sg", "w"),)),
        f"{CLIQUE}.name",
        'also the name of clique "w" in a replica of scaling group "sg"',
    ),
    (
        "claim templates have names",
        sets.item(resourceClaimTemplates=[{"templateSpec": {"spec": {"devices": {"requests": [{}]}}}}]),
        "spec.template.resourceClaimTemplates[0].name",
        "is required",
    ),
    (
        "claim templates request devices",
        sets.item(resourceClaimTemplates=[{"name": "gpu"}]),
        "spec.template.resourceClaimTemplates[0].templateSpec.spec.devices.requests",
        "at least one device",
    ),
    (
        "sharing has a scope",
        sets.item(resourceSharing=[{"name": "gpu", "scope": "Everyone"}]),
        "spec.template.resourceSharing[0].scope",
        "allowed are AllReplicas, PerReplica",
    ),
    (
        "sharing names what it shares",
        sets.item(resourceSharing=[{"scope": "PerReplica"}]),
        "spec.template.resourceSharing[0].name",
        "is required",
    ),
    (
        "sharing is said once",
        sets.item(
            resourceSharing=[{"name": "gpu", "scope": "PerReplica"}, {"name": "gpu", "scope": "AllReplicas"}]
        ),
        "spec.template.resourceSharing[1].name",
        '"gpu" is referred to twice',
    ),
    (
        "a filter filters",
        sets.item(resourceSharing=[{"name": "gpu", "scope": "PerReplica", "filter": {}}]),
        "spec.template.resourceSharing[0].filter",
        "at least one clique or scaling group",
    ),
    (
        "a filter finds",
        sets.item(
            resourceSharing=[{"name": "gpu", "scope": "PerReplica", "filter": {"childCliqueNames": ["z"]}}]
        ),
        "spec.template.resourceSharing[0].filter.childCliqueNames[0]",
        '"z" is not found here',
    ),
    (
        "a constraint names its topology",
        sets.item(topologyConstraint={"pack": {"required": "rack"}}),
        "spec.template.topologyConstraint.topologyName",
        "is required",
    ),
    (
        "packing says how",
        sets.item(topologyConstraint={"topologyName": "t", "pack": {}}),
        "spec.template.topologyConstraint.pack",
        "required or preferred",
    ),
    (
        "the old word is for old objects",
        sets.item(topologyConstraint={"topologyName": "t", "packDomain": "rack"}),
        "spec.template.topologyConstraint.packDomain",
        "must not be set on new objects",
    ),
    (
        "an NVLink group is a name",
        sets.item(metadata={"annotations": {"grove.io/mnnvl-group": "No Name"}}),
        "metadata.annotations['grove.io/mnnvl-group']",
        'is "No Name"',
    ),
    (
        "a near miss is a mistake",
        sets.item(sets.clique("a", minAvailble=1)),
        f"{CLIQUE}.spec.minAvailble",
        "did you mean minAvailable?",
    ),
    (
        "a strategy is not in the clique's spec",
        sets.item(sets.clique("a") | {"spec": {"updateStrategy": {"maxSurge": 1}}}),
        f"{CLIQUE}.spec.updateStrategy",
        "write it beside spec",
    ),
    (
        "a pod spec is not beside spec",
        sets.item({"name": "a", "podSpec": {}}),
        f"{CLIQUE}.podSpec",
        "write it as spec.podSpec",
    ),
    (
        "types are looked at",
        sets.item(sets.clique("a", replicas="3")),
        f"{CLIQUE}.spec.replicas",
        "whole number",
    ),
]


@pytest.mark.parametrize(
    ("subject", "path", "message"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_new_set_that_breaks_one_rule_is_told_field_and_rule(
    subject: Object, path: str, message: str
) -> None:
    [problem] = validate.check(subject).problems
    assert problem.path == path
    assert message in problem.message


def test_all_violations_are_said_at_once_even_beside_a_wrong_type() -> None:
    subject = sets.item(
        {"name": "A", "spec": {"replicas": "three"}},
        sets.clique("b", replicas=1, minAvailable=2, updateStrategy={"maxUnavailable": 0}),
        replicas=-1,
        strategy={"type": "ReplicaRecreate", "rollingUpdate": {"maxUnavailable": "50 %"}},
        terminationDelay="0s",
    )
    assert sorted(sets.paths(subject)) == [
        "spec.replicas",
        "spec.template.cliques[0].name",
        "spec.template.cliques[0].spec.replicas",
        "spec.template.cliques[1].spec.minAvailable",
        "spec.template.cliques[1].updateStrategy",
        "spec.template.cliques[1].updateStrategy.maxUnavailable",
        "spec.template.terminationDelay",
        "spec.updateStrategy.rollingUpdate.maxUnavailable",
    ]


def test_a_set_without_fault_is_accepted_with_its_defaults_in_place() -> None:
    accepted = validate.check(sets.item({"name": "worker", "replicas": 3})).accepted()
    assert accepted.spec["template"]["cliques"][0]["spec"]["minAvailable"] == 3


def test_a_set_with_fault_is_refused_with_every_problem() -> None:
    with pytest.raises(Rejected) as refused:
        validate.check(sets.item({"name": "A"}, replicas=-1)).accepted()
    assert len(refused.value.problems) == 2


def test_another_kind_is_not_a_set() -> None:
    document = {**copy.deepcopy(sets.document()), "apiVersion": "v1", "kind": "Pod"}
    assert sets.paths(manifests.read(document)) == ["apiVersion", "kind"]


def test_a_set_without_a_template_is_refused() -> None:
    document = {**sets.document(), "spec": {"replicas": 1}}
    assert sets.problems(manifests.read(document)) == ["spec.template: is required"]


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({}, "metadata.name: is required"),
        ({"name": 3}, "metadata.name: must be a string"),
        (3, "metadata: must be"),
    ],
)
def test_broken_metadata_is_refused_before_anything_else(metadata: Any, problem: str) -> None:
    with pytest.raises(Rejected, match=problem):
        manifests.read({**sets.document(), "metadata": metadata})


def test_a_restart_policy_is_ignored_with_a_warning() -> None:
    subject = with_pod_spec(restartPolicy="Never")
    assert sets.problems(subject) == []
    assert sets.warnings(subject) == [
        f"{CLIQUE}.spec.podSpec.restartPolicy: is ignored; pods of a clique are restarted Always"
    ]


def test_a_field_of_a_newer_api_is_kept_and_warned_of() -> None:
    subject = sets.item(sets.clique("a"), gangReservation={"ttl": 3})
    checked = validate.check(subject)
    assert checked.problems == ()
    assert [warning.split(":")[0] for warning in checked.warnings] == ["spec.template.gangReservation"]
    assert checked.object.spec["template"]["gangReservation"] == {"ttl": 3}


def test_startup_order_that_is_not_asked_for_is_warned_of() -> None:
    subject = sets.item(sets.clique("a"), sets.clique("b", startsAfter=["a"]))
    assert sets.problems(subject) == []
    assert len(sets.warnings(subject)) == 1


def test_fields_of_the_api_that_no_decision_looks_at_are_accepted_and_kept() -> None:
    constraint = {"topologyName": "t", "pack": {"preferred": "rack"}}
    subject = sets.item(
        sets.clique("a", autoScalingConfig={"maxReplicas": 3, "metrics": [{"type": "Resource"}]}),
        topologyConstraint=constraint,
        resourceClaimTemplates=[
            {"name": "gpu", "templateSpec": {"spec": {"devices": {"requests": [{"name": "g"}]}}}}
        ],
        resourceSharing=[{"name": "gpu", "scope": "AllReplicas", "filter": {"childCliqueNames": ["a"]}}],
    )
    checked = validate.check(subject)
    assert (checked.problems, checked.warnings) == ((), ())
    assert checked.object.spec["template"]["topologyConstraint"] == constraint


ANY = st.sampled_from(
    [None, True, -1, 0, 3, 2.5, "", "x", "50%", "-1m", [], [None], ["a"], {}, {"name": 3}, {"a": None}]
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


WHOLE = sets.document(
    sets.clique("a", replicas=3, minAvailable=2, updateStrategy={"maxUnavailable": "50%", "maxSurge": 1}),
    sets.clique("b", startsAfter=["a"]),
    groups=(
        sets.group("sg", "b", replicas=2, scaleConfig={"maxReplicas": 4}, updateStrategy={"maxSurge": 1}),
    ),
    strategy={
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1},
        "partition": 1,
        "onDeadline": "hold",
    },
    cliqueStartupType=EXPLICIT,
    resourceSharing=[{"name": "gpu", "scope": "PerReplica", "filter": {"childCliqueNames": ["a"]}}],
    topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}},
)["spec"]


@given(st.lists(st.tuples(st.sampled_from(places(WHOLE)[1:]), ANY), min_size=1, max_size=3))
def test_whatever_is_broken_is_named_and_what_is_accepted_can_be_read(edits: list[tuple[Any, Any]]) -> None:
    broken = copy.deepcopy(WHOLE)
    for path, value in edits:
        place = broken
        for key in path[:-1]:
            try:
                place = place[key]
            except (KeyError, IndexError, TypeError):
                break
        else:
            if isinstance(place, dict) or (isinstance(place, list) and path[-1] in range(len(place))):
                place[path[-1]] = copy.deepcopy(value)
    subject = Object("grove.io/v1alpha1", "PodCliqueSet", "default", "llm", spec=broken)
    stored = Object("grove.io/v1alpha1", "PodCliqueSet", "default", "llm", spec=copy.deepcopy(WHOLE))
    validate.check(subject, stored)
    checked = validate.check(subject)
    if not checked.problems:
        assert model.read(checked.object) == model.read(subject)
