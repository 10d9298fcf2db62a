"""Whole printed screens, compared with files. HEADGATE_WRITE_GOLDEN=1 writes them; read the difference before you keep it."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def compare(name: str, text: str) -> None:
    file = FOLDER / f"{name}.txt"
    if os.environ.get("HEADGATE_WRITE_GOLDEN") == "1":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")
