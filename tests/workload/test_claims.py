"""ResourceClaims: which there are to be, what they look like, how pods name them, and what is refused."""

from typing import Any

import pytest

from headgate.kernel import identifiers
from headgate.kernel.objects import Create, DeleteObject, Object, Update
from headgate.workload import labels
from headgate.workload.checks import validate
from headgate.workload.expand import claims, pod_claims, revisions
from headgate.workload.expand import expansion as expand
from headgate.workload.model import PodCliqueSet
from headgate.workload.plan import planner

from . import sets

IDS = identifiers.NamedIds("test")
ASKED = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}
TEMPLATES = [
    {"name": name, "templateSpec": {"metadata": {"labels": {"team": "a"}}, "spec": ASKED}}
    for name in ("gpu", "net")
]
ALL, EACH = {"name": "gpu", "scope": "AllReplicas"}, {"name": "net", "scope": "PerReplica"}
TEMPLATE = "spec.template"


def clique(name: str, *references: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {**sets.clique(name, **spec), "resourceSharing": list(references)}


def a_set(**fields: Any) -> PodCliqueSet:
    return sets.read(
        clique("router", ALL, EACH, replicas=2),
        clique("worker", replicas=1),
        groups=(sets.group("sg", "worker", replicas=2, resourceSharing=[ALL, EACH]),),
        resourceClaimTemplates=TEMPLATES,
        resourceSharing=[{**ALL, "filter": {"childCliqueNames": ["router"]}}],
        **fields,
    )


def router(pcs: PodCliqueSet, uid: str = "clique-uid") -> Object:
    item = expand.standalone_clique(pcs, revisions.of(pcs, ()), 0, pcs.template.clique("router"))
    item.uid = uid
    return item


def test_a_claim_is_its_owners_and_asks_for_what_its_template_says() -> None:
    pcs = a_set()
    wanted = list(claims.of_clique(pcs, router(pcs), pcs.template.clique("router"), (0, 3)))
    assert [each.name for each in wanted] == [
        "llm-0-router-all-gpu",
        "llm-0-router-0-net",
        "llm-0-router-3-net",
    ]
    template = claims.template_of_set(pcs, wanted[2].reference)
    assert template is not None
    claim = claims.to_object(pcs, wanted[2], template)
    assert (claim.api_version, claim.kind, claim.namespace) == (
        "resource.k8s.io/v1",
        "ResourceClaim",
        "default",
    )
    assert [(owner.kind, owner.name, owner.uid) for owner in claim.owners] == [
        ("PodClique", "llm-0-router", "clique-uid")
    ]
    assert claim.spec == ASKED
    assert claim.labels == {
        "team": "a",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
        "app.kubernetes.io/name": "llm-0-router-3-net",
        "app.kubernetes.io/component": "resource-claim",
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/podclique": "llm-0-router",
        "grove.io/podclique-pod-index": "3",
    }


def test_a_name_that_no_label_can_hold_is_in_none() -> None:
    name = "g" * 50
    pcs = sets.read(clique("worker", {"name": name, "scope": "PerReplica"}), name="a-rather-long-name")
    item = expand.standalone_clique(pcs, revisions.of(pcs, ()), 0, pcs.template.clique("worker"))
    [wanted] = claims.of_clique(pcs, item, pcs.template.clique("worker"), (0,))
    assert wanted.name.endswith(name)
    assert labels.NAME not in wanted.labels


def test_all_containers_have_all_claims_of_their_pod() -> None:
    pcs = a_set()
    first, second = expand.pods(pcs, router(pcs), (0, 1), IDS)
    assert first.spec["resourceClaims"] == [
        {"name": "set-gpu", "resourceClaimName": "llm-all-gpu"},
        {"name": "clique-gpu", "resourceClaimName": "llm-0-router-all-gpu"},
        {"name": "clique-net", "resourceClaimName": "llm-0-router-0-net"},
    ]
    assert second.spec["resourceClaims"][2]["resourceClaimName"] == "llm-0-router-1-net"
    [container] = first.spec["containers"]
    assert container["resources"] == {
        "claims": [{"name": "set-gpu"}, {"name": "clique-gpu"}, {"name": "clique-net"}]
    }
    assert second.spec["containers"] is first.spec["containers"], "a thousand pods are light"


def test_a_container_that_names_a_claim_itself_is_taken_at_its_word() -> None:
    own = {"name": "set-gpu", "request": "gpu"}
    use = pod_claims.ClaimUse("set", "llm", a_set().template.resource_sharing[0], 0)
    spec = {
        "resourceClaims": [{"name": "mine", "resourceClaimTemplateName": "x"}],
        "initContainers": [{"name": "first"}],
        "containers": [{"name": "main", "resources": {"limits": {"cpu": 1}, "claims": [own]}}],
    }
    found = pod_claims.with_names(spec, (use,))
    assert found["containers"] == spec["containers"]
    assert found["initContainers"] == [{"name": "first", "resources": {"claims": [{"name": "set-gpu"}]}}]
    assert pod_claims.of_pod(found, (use,), 5) == [
        {"name": "mine", "resourceClaimTemplateName": "x"},
        {"name": "set-gpu", "resourceClaimName": "llm-all-gpu"},
    ]


def test_a_set_that_shares_nothing_has_the_pods_and_revisions_that_it_always_had() -> None:
    plain = sets.read(sets.clique("router", replicas=2))
    sharing = sets.read(clique("router", EACH, replicas=2), resourceClaimTemplates=TEMPLATES)
    assert revisions.revision_hash(plain) == revisions.revision_hash(sharing)
    assert "resourceClaims" not in expand.pods(plain, router(plain), (0,), IDS)[0].spec


def test_claims_are_made_before_pods_and_never_written_again() -> None:
    item = sets.item(clique("router", EACH, replicas=1), resourceClaimTemplates=TEMPLATES)
    pcs = sets.read(clique("router", EACH, replicas=1), resourceClaimTemplates=TEMPLATES)
    live = router(pcs)
    plan = planner.plan(item, [live], 5, IDS)
    made = [action.object.kind for action in plan.actions if isinstance(action, Create)]
    assert made.index("ResourceClaim") < made.index("Pod")

    claim = next(
        action.object
        for action in plan.actions
        if isinstance(action, Create) and action.object.kind == "ResourceClaim"
    )
    claim.uid = "claim-uid"
    claim.spec = {"devices": {"requests": [{"name": "filled in by the server"}]}}
    claim.labels = {**claim.labels, labels.COMPONENT: "another"}
    [update] = [
        action.object
        for action in planner.plan(item, [live, claim], 5, IDS).actions
        if isinstance(action, Update) and action.object.kind == "ResourceClaim"
    ]
    assert update.labels[labels.COMPONENT] == "resource-claim"
    assert update.spec is claim.spec


def test_no_pod_gets_hold_of_a_claim_of_an_owner_before() -> None:
    item = sets.item(clique("router", ALL, replicas=1), resourceClaimTemplates=TEMPLATES)
    pcs = sets.read(clique("router", ALL, replicas=1), resourceClaimTemplates=TEMPLATES)
    [wanted] = claims.of_clique(pcs, router(pcs, "an-earlier-uid"), pcs.template.clique("router"), (0,))
    left = claims.to_object(pcs, wanted, {"spec": ASKED})
    left.uid = "claim-uid"
    plan = planner.plan(item, [router(pcs), left], 5, IDS)
    assert [action.key.name for action in plan.actions if isinstance(action, DeleteObject)] == [left.name]
    assert not any(isinstance(action, Create) and action.object.kind == "Pod" for action in plan.actions)
    assert str(plan.stuck[0]).partition(" since")[0] == (
        "claim llm-0-router-all-gpu: on its way out; 1 pod waits for it"
    )


@pytest.mark.parametrize(
    ("subject", "path", "message"),
    [
        (
            sets.item(resourceSharing=[{"name": "gpu.big", "scope": "AllReplicas"}]),
            f"{TEMPLATE}.resourceSharing[0].name",
            'is "gpu.big"; allowed are',
        ),
        (
            sets.item(resourceSharing=[{"name": "g" * 57, "scope": "AllReplicas"}]),
            f"{TEMPLATE}.resourceSharing[0].name",
            "is 57 characters long; allowed are 56",
        ),
        (
            sets.item(resourceSharing=[{**ALL, "namespace": "No"}]),
            f"{TEMPLATE}.resourceSharing[0].namespace",
            'is "No"',
        ),
        (
            sets.item(resourceSharing=[{**ALL, "scop": "x"}]),
            f"{TEMPLATE}.resourceSharing[0].scop",
            "did you mean scope?",
        ),
        (
            sets.item(
                sets.clique("a", podSpec={"resourceClaims": [{"name": "set-gpu"}]}), resourceSharing=[ALL]
            ),
            f"{TEMPLATE}.cliques[0].spec.podSpec.resourceClaims[0].name",
            "is what pods call a claim that resourceSharing brings",
        ),
        (
            sets.item(
                clique("a", ALL),
                resourceSharing=[{"name": "a-all-gpu", "scope": "PerReplica"}],
            ),
            f"{TEMPLATE}.cliques[0].resourceSharing[0].name",
            "gives a claim the name of one that spec.template.resourceSharing[0] gives",
        ),
    ],
)
def test_what_would_give_claims_that_cannot_be_is_refused(subject: Object, path: str, message: str) -> None:
    [problem] = sets.problems(subject)
    assert problem.startswith(f"{path}: ")
    assert message in problem


def test_claims_of_two_sets_have_different_names() -> None:
    one = sets.item(clique("b", ALL), name="a")
    two = sets.item(sets.clique("c"), name="a-0-b", resourceSharing=[ALL])
    [problem] = validate.check(two, others=[one]).problems
    assert problem.path == "metadata.name"
    assert "its ResourceClaim a-0-b-all-gpu would have the name of one of PodCliqueSet a" in problem.message
    assert validate.check(sets.item(sets.clique("c"), name="a-0-b"), others=[one]).problems == ()


def test_what_is_shared_may_not_change() -> None:
    before = sets.item(clique("a", ALL), resourceClaimTemplates=TEMPLATES)
    after = sets.item(clique("a", EACH), resourceClaimTemplates=TEMPLATES)
    assert sets.paths(after, before) == [f"{TEMPLATE}.cliques[0].resourceSharing"]
