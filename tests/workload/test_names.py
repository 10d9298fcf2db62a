"""Names and labels follow from indices alone."""

import pytest

from headgate.kernel import identifiers
from headgate.workload import labels, names

IDS = identifiers.NamedIds("test")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (names.headless_service("llm", 0), "llm-0"),
        (names.service_address("llm", 2, "prod"), "llm-2.prod.svc.cluster.local"),
        (names.standalone_clique("llm", 0, "frontend"), "llm-0-frontend"),
        (names.scaling_group("llm", 1, "prefill"), "llm-1-prefill"),
        (names.scaling_group_replica("llm", 1, "prefill", 3), "llm-1-prefill-3"),
        (names.member_clique("llm", 0, "prefill", 2, "leader"), "llm-0-prefill-2-leader"),
        (names.base_gang("llm", 4), "llm-4"),
        (names.scaled_gang("llm", 0, "prefill", 2, 2), "llm-0-prefill-0"),
        (names.scaled_gang("llm", 0, "prefill", 5, 2), "llm-0-prefill-3"),
        (names.hostname("llm-0-frontend", 7), "llm-0-frontend-7"),
        (names.autoscaler("llm-0-prefill"), "llm-0-prefill"),
        (names.revision("llm", "abc"), "llm-abc"),
    ],
)
def test_every_object_has_the_name_the_api_gives_it(made: str, expected: str) -> None:
    assert made == expected


def test_a_pod_is_named_by_its_clique_and_five_letters() -> None:
    name = names.pod("llm-0-frontend", 3, IDS, "0")
    stem, _, suffix = name.rpartition("-")
    assert (stem, len(suffix)) == ("llm-0-frontend", 5)
    assert set(suffix) <= set("bcdfghjklmnpqrstvwxz2456789")


def test_the_same_pod_asked_for_twice_has_one_name_and_one_of_another_template_another() -> None:
    assert names.pod("a-0-b", 0, IDS, "5") == names.pod("a-0-b", 0, IDS, "5")
    assert names.pod("a-0-b", 0, IDS, "5") != names.pod("a-0-b", 0, IDS, "6")
    assert names.pod("a-0-b", 0, IDS, "5") != names.pod("a-0-b", 1, IDS, "5")


def test_a_taken_pod_name_is_not_given_again() -> None:
    first = names.pod("a-0-b", 0, IDS, "5")
    second = names.pod("a-0-b", 0, IDS, "5", {first})
    assert second != first
    assert names.pod("a-0-b", 0, IDS, "5", {first, second}) not in {first, second}


@pytest.mark.parametrize(
    ("hostname", "index"),
    [("llm-0-frontend-7", 7), ("llm-0-w-0", 0), ("frontend", None), ("llm-0-x", None), ("a-1²", None)],
)
def test_the_index_of_a_pod_is_the_number_its_hostname_ends_in(hostname: str, index: int | None) -> None:
    assert names.index_of_hostname(hostname) == index


def test_a_gang_takes_over_labels_except_those_of_the_api_itself() -> None:
    given = {"kai.scheduler/queue": "test", "grove.io/podgang": "x", "team": "ml"}
    assert labels.mirrored(given) == {"kai.scheduler/queue": "test", "team": "ml"}


def test_a_gang_has_none_of_the_marks_by_which_others_know_the_set_again() -> None:
    marks = (
        "kro.run/node-id",
        "argocd.argoproj.io/tracking-id",
        "kubectl.kubernetes.io/last-applied-configuration",
    )
    assert labels.mirrored(dict.fromkeys(marks, "x")) == {}
