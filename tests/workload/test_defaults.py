"""What is left out is filled in before anything is judged."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.objects import Object
from headgate.workload import defaults
from headgate.workload.expand import manifests

from . import sets


def defaulted(subject: Object, old: Object | None = None) -> Any:
    return defaults.apply(subject, old).spec["template"]


def spec_of(subject: Object, old: Object | None = None) -> dict[str, Any]:
    found: dict[str, Any] = defaulted(subject, old)["cliques"][0]["spec"]
    return found


def test_a_bare_set_gets_the_defaults_of_the_api() -> None:
    bare = manifests.read(
        {
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueSet",
            "metadata": {"name": "llm"},
            "spec": {
                "template": {"cliques": [{"name": "worker"}], "podCliqueScalingGroups": [{"name": "sg"}]}
            },
        }
    )
    bare.namespace = ""
    result = defaults.apply(bare)
    assert result.namespace == "default"
    assert result.spec == {
        "replicas": 0,
        "template": {
            "terminationDelay": "4h",
            "cliqueStartupType": "CliqueStartupTypeAnyOrder",
            "headlessServiceConfig": {"publishNotReadyAddresses": True},
            "cliques": [
                {
                    "name": "worker",
                    "spec": {
                        "replicas": 1,
                        "minAvailable": 1,
                        "podSpec": {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30},
                    },
                }
            ],
            "podCliqueScalingGroups": [{"name": "sg", "replicas": 1, "minAvailable": 1}],
        },
    }


def test_replicas_beside_spec_are_short_for_those_in_it_and_min_available_follows() -> None:
    short = sets.item({"name": "worker", "replicas": 3})
    assert "replicas" not in defaulted(short)["cliques"][0]
    assert (spec_of(short)["replicas"], spec_of(short)["minAvailable"]) == (3, 3)


def test_an_autoscaler_goes_no_lower_than_the_replicas_unless_told() -> None:
    subject = sets.item(
        sets.clique("worker", replicas=3, autoScalingConfig={"maxReplicas": 5}),
        sets.clique("other"),
        groups=(sets.group("sg", "other", replicas=2, scaleConfig={"maxReplicas": 6}),),
    )
    assert spec_of(subject)["autoScalingConfig"] == {"minReplicas": 3, "maxReplicas": 5}
    assert defaulted(subject)["podCliqueScalingGroups"][0]["scaleConfig"] == {
        "minReplicas": 2,
        "maxReplicas": 6,
    }


def test_no_update_strategy_is_ever_filled_in() -> None:
    subject = sets.item(sets.clique("worker"), groups=(sets.group("sg", "worker"),))
    result = defaults.apply(subject)
    assert "updateStrategy" not in result.spec
    assert "updateStrategy" not in defaulted(subject)["cliques"][0]
    assert "updateStrategy" not in defaulted(subject)["podCliqueScalingGroups"][0]


def test_a_strategy_that_is_given_stays_as_it_is_written() -> None:
    subject = sets.item(strategy={"type": "ReplicaRecreate", "rollingUpdate": {"maxSurge": 1}})
    assert defaults.apply(subject).spec["updateStrategy"] == {
        "type": "ReplicaRecreate",
        "rollingUpdate": {"maxSurge": 1},
    }


def test_min_available_stays_what_it_was_when_replicas_grow() -> None:
    old = defaults.apply(sets.item(sets.clique("worker", replicas=2)))
    assert spec_of(sets.item(sets.clique("worker", replicas=4)), old)["minAvailable"] == 2


def test_min_available_that_nobody_asked_for_follows_replicas_down() -> None:
    old = defaults.apply(sets.item(sets.clique("worker", replicas=3)))
    assert spec_of(sets.item(sets.clique("worker", replicas=2)), old)["minAvailable"] == 2


def test_the_argument_is_left_as_it_is() -> None:
    subject = sets.item({"name": "worker", "replicas": 3})
    before = repr(subject.spec)
    defaults.apply(subject)
    assert repr(subject.spec) == before


def test_filling_in_twice_is_filling_in_once() -> None:
    once = defaults.apply(sets.item(sets.clique("worker", replicas=3, autoScalingConfig={"maxReplicas": 5})))
    assert defaults.apply(once).spec == once.spec


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "template",
                    "cliques",
                    "name",
                    "spec",
                    "replicas",
                    "podSpec",
                    "podCliqueScalingGroups",
                    "updateStrategy",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_document_is_taken_as_it_comes(spec: Any) -> None:
    sets.problems(Object("grove.io/v1alpha1", "PodCliqueSet", "default", "llm", spec=spec))
