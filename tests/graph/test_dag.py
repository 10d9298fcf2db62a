"""The order of resources."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.graph.compile import dag


def ordered(text: str) -> str:
    """'a b<c c' is a, then b which depends on c, then c, as the author wrote them."""
    names, edges = [], {}
    for entry in text.split():
        name, _, below = entry.partition("<")
        names.append(name)
        edges[name] = frozenset(below.split(",")) if below else frozenset()
    return " ".join(dag.order(names, edges))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("c b a", "c b a"),
        ("a<b b", "b a"),
        ("a<c b c", "b c a"),
        ("a<b b<c c", "c b a"),
        ("a b<a c<a d<b,c", "a b c d"),
        ("d<b,c c<a b<a a", "a c b d"),
        ("x a<b b y", "x b a y"),
        ("deploymentA serviceAccountA deploymentB serviceA<deploymentA serviceAccountB serviceB<deploymentB",
         "deploymentA serviceAccountA deploymentB serviceA serviceAccountB serviceB"),
    ],
)  # fmt: skip
def test_dependencies_come_first_and_else_the_author_decides(text: str, expected: str) -> None:
    assert ordered(text) == expected


@pytest.mark.parametrize(
    ("text", "ring"),
    [
        ("a<b b<a", "a -> b -> a"),
        ("a<b b<c c<a", "a -> b -> c -> a"),
        ("x a<x,b b<c c<b", "b -> c -> b"),
    ],
)
def test_a_ring_is_told_as_a_path_that_ends_where_it_starts(text: str, ring: str) -> None:
    with pytest.raises(dag.DependencyCycle) as caught:
        ordered(text)
    assert str(caught.value) == ring


def test_layers_count_from_one_along_the_longest_way() -> None:
    edges = {"a": frozenset[str](), "b": frozenset("a"), "c": frozenset("ab"), "d": frozenset[str]()}
    assert dag.layers(["a", "b", "c", "d"], edges) == {"a": 1, "b": 2, "c": 3, "d": 1}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], dict[str, frozenset[str]]]:
    """Names in an author's order that has nothing to do with how they depend on each other."""
    count = draw(st.integers(1, 12))
    ranked = [f"n{number}" for number in range(count)]
    edges = {
        name: frozenset(draw(st.sets(st.sampled_from(ranked[:rank])))) if rank else frozenset[str]()
        for rank, name in enumerate(ranked)
    }
    return draw(st.permutations(ranked)), edges


@settings(deadline=None, database=None)
@given(graphs())
def test_at_each_step_the_first_of_those_that_can_go_goes(
    graph: tuple[list[str], dict[str, frozenset[str]]],
) -> None:
    author_order, edges = graph
    done: set[str] = set()
    for name in dag.order(author_order, edges):
        free = [each for each in author_order if each not in done and edges[each] <= done]
        assert name == free[0]
        done.add(name)
    assert len(done) == len(author_order)
