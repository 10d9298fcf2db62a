"""Whole printed screens, compared with files. HEADGATE_WRITE_GOLDEN=1 writes them; read the difference before you keep it."""

import os
from collections.abc import Sequence
from pathlib import Path

from headgate.screens.styled_text import Line

FOLDER = Path(__file__).parent / "golden"


def plain(lines: Sequence[Line]) -> str:
    """A screen without its colours."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines) + "\n"


def compare(name: str, text: str) -> None:
    file = FOLDER / f"{name}.txt"
    if os.environ.get("HEADGATE_WRITE_GOLDEN") == "1":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")
