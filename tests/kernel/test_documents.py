"""A document is read by the annotations of its Struct, and everything wrong with it is said at once."""

import math
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import documents
from headgate.kernel.documents import Aliases, Checked, Moment
from headgate.kernel.problems import Problem, Rejected
from headgate.kernel.quantities import Quantity


class Circle(msgspec.Struct, frozen=True, rename="camel", tag="circle", tag_field="type"):
    radius_metres: Annotated[float, msgspec.Meta(gt=0)]


class Square(msgspec.Struct, frozen=True, rename="camel", tag="square", tag_field="type"):
    side_metres: Annotated[int, msgspec.Meta(ge=1, le=9)] = 1


def _no_swearing(text: str, path: str, problems: list[Problem]) -> None:
    if text == "darn":
        problems.append(Problem(path, "must be polite"))


class Drawing(msgspec.Struct, frozen=True, rename="camel"):
    title_text: Annotated[str, Checked(_no_swearing)]
    colour: Annotated[Literal["red", "green"], Aliases({"rot": "red"})] = "red"
    shapes: tuple[Circle | Square, ...] = ()
    labels: dict[str, str] = {}
    drawn_at: Moment | None = None
    share: Quantity = Quantity(1)
    anything: object = None
    is_public: bool = False

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        if given.get("is_public") and given.get("colour") == "red":
            problems.append(Problem(f"{path}.colour", "must not be red in public"))


def problems_of(value: object) -> dict[str, str]:
    with pytest.raises(Rejected) as caught:
        documents.read(Drawing, value, "spec")
    return {problem.path: problem.message for problem in caught.value.problems}


def test_a_good_document_becomes_its_struct() -> None:
    drawing = documents.read(
        Drawing,
        {
            "titleText": "two shapes",
            "colour": "rot",
            "shapes": [{"type": "circle", "radiusMetres": 2}, {"type": "square"}],
            "drawnAt": "1970-01-01T00:00:01Z",
            "share": "10%",
        },
    )
    assert drawing == Drawing(
        "two shapes", "red", (Circle(2.0), Square()), {}, 1_000_000, Quantity(10, is_percentage=True)
    )


def test_all_problems_are_told_at_once_each_with_its_path() -> None:
    found = problems_of(
        {
            "titelText": "x",
            "colour": "blue",
            "shapes": [
                {"type": "circle", "radiusMetres": 0},
                {"type": "triangle"},
                {"type": "square", "sideMetres": 10},
            ],
            "labels": {"a": 1.1, "b c": None},
            "drawnAt": "noon",
            "share": "101%",
            "anything": {"x": [math.nan]},
            "isPublic": 1,
        }
    )
    assert found == {
        "spec.titelText": "is not a known key; allowed are titleText, colour, shapes, labels, drawnAt, share, anything,"
        " isPublic; did you mean titleText?",
        "spec.titleText": "is required",
        "spec.colour": 'is "blue"; allowed are red, green',
        "spec.shapes[0].radiusMetres": "must be more than 0, not 0.0",
        "spec.shapes[1].type": 'is "triangle"; allowed are circle, square',
        "spec.shapes[2].sideMetres": "must be at most 9, not 10",
        "spec.labels.a": "must be a string, not the number 1.1; write it in quotes",
        "spec.labels['b c']": "must be a string, not null",
        "spec.drawnAt": "'noon' is not a time in RFC 3339, such as 2026-03-01T09:00:00Z",
        "spec.share": '\'101%\' is not a quantity; allowed is a whole number such as 3, or a percentage from "0%" to "100%"',
        "spec.anything.x[0]": "must be a finite number, not nan",
        "spec.isPublic": "must be true or false, not the number 1",
    }


def test_rules_between_fields_are_checked_even_when_another_field_is_wrong() -> None:
    found = problems_of({"titleText": "darn", "isPublic": True})
    assert found == {"spec.titleText": "must be polite", "spec.colour": "must not be red in public"}


@pytest.mark.parametrize("value", [True, 1.5, "3", None, 2**63])
def test_only_whole_numbers_within_64_bits_are_integers(value: object) -> None:
    with pytest.raises(Rejected):
        documents.read(Square, {"sideMetres": value})


@pytest.mark.parametrize("text", ["a\x00b", "half \ud800"])
def test_text_that_no_store_could_hold_is_refused(text: str) -> None:
    assert "spec.titleText" in problems_of({"titleText": text})


def test_a_document_that_is_no_map_says_what_it_is() -> None:
    assert problems_of([1]) == {"spec": "must be a map, not a list"}


def test_nesting_has_a_limit() -> None:
    deep: Any = 1
    for _ in range(1000):
        deep = [deep]
    [message] = problems_of({"titleText": "x", "anything": deep}).values()
    assert message == "is nested more than 64 levels deep"


SHAPES = st.one_of(
    st.builds(Circle, st.floats(0.1, 100, allow_nan=False)),
    st.builds(Square, st.integers(1, 9)),
)
DRAWINGS = st.builds(
    Drawing,
    st.text("abc"),
    st.sampled_from(["red", "green"]),
    st.lists(SHAPES, max_size=3).map(tuple),
    st.dictionaries(st.text("ab"), st.text("ab")),
    st.none() | st.integers(0, 4 * 10**15),
    st.builds(Quantity, st.integers(0, 100), st.booleans()),
    st.none() | st.lists(st.integers(0, 9)),
)


@given(DRAWINGS, st.booleans())
def test_what_is_written_reads_back(drawing: Drawing, omit_defaults: bool) -> None:
    assert documents.read(Drawing, documents.write(drawing, omit_defaults=omit_defaults)) == drawing
