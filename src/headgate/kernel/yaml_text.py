"""YAML that every reader takes for the same values, those of YAML 1.1 and of YAML 1.2 alike."""

import re
from collections.abc import Iterable
from typing import Any

import yaml

LINE_LENGTH = 110
_MAY_BE_A_NUMBER = re.compile(r"[-+.]?\.?[0-9]", re.ASCII)


class _PlainDumper(yaml.SafeDumper):
    """Never anchors: a reader should not have to look elsewhere."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """What begins like a number is quoted: `12e4567` is a commit to one reader and infinity to another."""
    style = None
    if "\n" in text and _fits_a_block(text):
        style = "|"
    elif not text.isprintable():
        style = '"'
    elif _MAY_BE_A_NUMBER.match(text):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _fits_a_block(text: str) -> bool:
    return all(line.isprintable() and line == line.strip() for line in text.removesuffix("\n").split("\n"))


_PlainDumper.add_representer(str, _text)


def write(documents: Iterable[Any]) -> str:
    """Several documents are separated by `---`."""
    texts = [
        yaml.dump(document, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=LINE_LENGTH)
        for document in documents
    ]
    return "---\n".join(texts)
