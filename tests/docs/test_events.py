"""Every type of event is on the page, and nothing else is; what is recorded is one of them."""

import re

from . import event_types, pages

PAGE = pages.ROOT / "docs" / "service" / "api.md"


def test_the_page_lists_every_type_of_event() -> None:
    text = PAGE.read_text("utf-8")
    part = text[text.index("### Every type of event") :]
    part = part[: part.index("\n## ")]
    listed = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", part, re.MULTILINE))
    assert listed == event_types.all_types()
