"""One word, one meaning: a class name that several packages have is in the glossary, with the reason; no package has one
twice."""

import re
import runpy

from . import pages

MEASURE = runpy.run_path(str(pages.ROOT / "scripts" / "measure"))
ROW = re.compile(r"^\| `(\w+)` \| ([\w, ]+) \| (.+) \|$", re.MULTILINE)


def said_twice() -> dict[str, str]:
    _, _, table = (pages.ROOT / "docs" / "glossary.md").read_text("utf-8").partition("## Said twice")
    return {name: packages for name, packages, _ in ROW.findall(table)}


def found_twice() -> dict[str, str]:
    shared = MEASURE["shared_class_names"](MEASURE["modules"]())
    return {name: ", ".join(sorted({home.split("/")[0] for home in homes})) for name, homes in shared.items()}


def test_every_class_name_of_two_packages_has_its_reason_in_the_glossary() -> None:
    listed = said_twice()
    assert {name: where for name, where in found_twice().items() if listed.get(name) != where} == {}


def test_what_is_said_once_has_left_the_table() -> None:
    assert sorted(said_twice().keys() - found_twice().keys()) == []


def test_no_package_has_a_name_of_a_class_or_an_alias_with_two_meanings() -> None:
    assert MEASURE["class_names_twice_in_a_package"](MEASURE["modules"]()) == {}
