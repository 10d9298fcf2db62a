"""A set that is read, written and read again is the same set."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import documents
from headgate.workload import model

from . import sets

QUANTITIES = st.integers(0, 9) | st.integers(0, 100).map(lambda share: f"{share}%")
STRATEGIES = st.fixed_dictionaries({}, optional={"maxUnavailable": QUANTITIES, "maxSurge": QUANTITIES})


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, unique=True))
    grouped = draw(st.sets(st.sampled_from(names)))
    cliques = [
        sets.clique(
            name,
            replicas=draw(st.integers(1, 5)),
            labels=draw(st.dictionaries(st.sampled_from("xy"), st.sampled_from("vw"))),
            updateStrategy=draw(STRATEGIES),
            startsAfter=draw(st.lists(st.sampled_from(names), max_size=2)),
        )
        for name in names
    ]
    template: dict[str, Any] = {
        "cliques": cliques,
        "terminationDelay": draw(st.sampled_from(["1m", "4h", "1h30m"])),
    }
    if grouped:
        group = sets.group(
            "sg", *sorted(grouped), replicas=draw(st.integers(1, 4)), updateStrategy=draw(STRATEGIES)
        )
        template["podCliqueScalingGroups"] = [group]
    if draw(st.booleans()):
        template["priorityClassName"] = "urgent"
    return template


@given(templates())
def test_a_template_written_and_read_again_is_the_same(document: dict[str, Any]) -> None:
    template = model.read_template(document)
    assert model.read_template(documents.write(template)) == template


@given(templates())
def test_every_clique_is_either_standalone_or_a_member_of_one_group(document: dict[str, Any]) -> None:
    template = model.read_template(document)
    standalone = {clique.name for clique in template.standalone_cliques}
    members = {clique.name for group in template.scaling_groups for clique in template.members(group)}
    assert standalone | members == {clique.name for clique in template.cliques}
    assert not standalone & members


@given(STRATEGIES)
def test_what_a_strategy_does_not_say_is_one_down_and_none_added(document: dict[str, Any]) -> None:
    strategy = documents.read(model.ComponentStrategy, document)
    assert str(strategy.unavailable) == str(document.get("maxUnavailable", 1))
    assert str(strategy.surge) == str(document.get("maxSurge", 0))
