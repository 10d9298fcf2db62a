"""What is rewritten of the pages is what follows from the code, and nothing else."""

from pathlib import Path

import pytest

from . import fields, pages, refresh


@pytest.mark.parametrize("page", pages.all_pages(), ids=pages.name_of)
def test_tables_that_are_right_stay_as_they_are(page: Path) -> None:
    text = page.read_text("utf-8")
    assert refresh.with_tables(text) == text


def test_a_marker_without_a_table_gets_one() -> None:
    text = refresh.with_tables("## Signal\n\n<!-- fields: Signal -->\n\nWhat follows.\n")
    [match] = fields.MARKER.finditer(text)
    names = [fields.cells(line)[0].strip("`") for line in match.group(2).splitlines()[2:]]
    assert names == list(fields.rows(fields.registry()["Signal"]))
    assert text.endswith("| TODO |\n\nWhat follows.\n")


def test_a_new_field_stands_after_the_one_before_it_and_the_others_where_they_were() -> None:
    header = "| field | type | default | allowed | meaning |\n|---|---|---|---|---|\n"
    old = f"<!-- fields: VariableSet -->\n\n{header}| `priority` |  |  |  | Told. |\n| `gone` |  |  |  | Told. |\n"
    rows = refresh.with_tables(old).splitlines()[4:]
    declared = list(fields.rows(fields.registry()["VariableSet"]))
    before = declared.index("priority")
    named = [fields.cells(row)[0].strip("`") for row in rows]
    assert sorted(named) == sorted(declared)
    assert named.index(declared[before + 1]) == named.index("priority") + 1
    assert rows[named.index("priority")].endswith("| Told. |")


def test_pages_that_need_a_server_or_a_cluster_keep_their_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    text = "```console\n$ headgate version\nnot what it prints\n```\n"
    kept = [tmp_path / name for name in pages.NEEDING_A_SERVER | pages.NEEDING_A_CLUSTER]
    other = tmp_path / "docs" / "other.md"
    (tmp_path / "examples").mkdir()
    (tmp_path / "tests").mkdir()
    for page in (*kept, other):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    refresh.main([str(page) for page in (*kept, other)])
    assert [page.read_text() for page in kept] == [text] * len(kept)
    assert "not what it prints" not in other.read_text()
