"""Text that is written as YAML is read back as the same text, whatever it looks like."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.fleet.engine import manifests
from headgate.kernel import yaml_text

TEXT = st.text("0123.eE+-x", max_size=5) | st.text(
    st.characters(exclude_characters="\0", codec="utf-8"), max_size=12
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, JSON, min_size=1, max_size=3))
def test_yaml_is_read_back_as_it_was(document: dict[str, Any]) -> None:
    [read] = manifests.read_documents(yaml_text.write([document]), source="x")
    assert read.value == document


@pytest.mark.parametrize(
    "tag",
    [
        "12e4567",
        "0e0",
        "-.0",
        ".0e-1",
        "0o17",
        "0x1f",
        "1_000",
        "12:30",
        "yes",
        "2026-03-01",
        "1.0",
        "~",
        "on",
    ],
)
def test_a_tag_that_looks_like_something_else_stays_text(tag: str) -> None:
    [read] = manifests.read_documents(yaml_text.write([{"tag": tag, tag: 1}]), source="x")
    assert read.value == {"tag": tag, tag: 1}


def test_text_of_several_lines_is_written_as_a_block() -> None:
    assert yaml_text.write([{"script": "a\nb\n"}]) == "script: |\n  a\n  b\n"


def test_documents_are_separated() -> None:
    assert yaml_text.write([{"a": 1}, {"b": 2}]) == "a: 1\n---\nb: 2\n"
