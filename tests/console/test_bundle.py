"""What is built in the package is what its source gives, and as small as it must be."""

import filecmp
import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "src" / "headgate" / "api" / "console_files"
PAGE = ROOT / "src" / "headgate" / "screens" / "page_files"
FIRST_LOAD_BYTES = 250_000


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="the console is built with Node, which is not here")
def test_the_bundle_is_what_its_source_gives(tmp_path: Path) -> None:
    """Types are generated from the API's description, so a change of the API that the console does not know fails here."""
    types = ROOT / "console" / "src" / "api" / "schema.ts"
    before = types.read_text()
    try:
        done = subprocess.run(
            [ROOT / "scripts" / "console", tmp_path / "built"], capture_output=True, text=True, timeout=900
        )
        made_types = types.read_text()
    finally:
        types.write_text(before)
    assert done.returncode == 0, done.stdout + done.stderr
    assert made_types == before, "the API has changed: run scripts/console and commit what it builds"
    for made, kept in ((tmp_path / "built" / "console", BUILT), (tmp_path / "built" / "page", PAGE)):
        assert files(made) == files(kept), "run scripts/console and commit what it builds"
        _, changed, unread = filecmp.cmpfiles(made, kept, files(kept), shallow=False)
        assert not changed + unread, "run scripts/console and commit what it builds"


def test_the_first_load_is_within_its_budget() -> None:
    page = (BUILT / "index.html").read_text()
    first = [path for path in (BUILT / "assets").glob("*.js") if path.name in page]
    assert first
    assert sum(len(gzip.compress(path.read_bytes())) for path in first) <= FIRST_LOAD_BYTES
