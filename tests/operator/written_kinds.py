"""Documents of the operator's kinds, as people have written them: the shared manifests and the examples."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from headgate.operator import crds

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data" / "manifests"


def files() -> list[Path]:
    found = [*SHARED.rglob("*.yaml"), *(ROOT / "examples").rglob("*.yaml")]
    return sorted(file for file in found if "assert" not in file.name)


def documents(file: Path) -> Iterator[dict[str, Any]]:
    """Also those inside a scenario."""
    for document in yaml.safe_load_all(file.read_text("utf-8")):
        yield from _ours(document)


def _ours(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        known = {(kind.api_version, kind.kind) for kind in crds.ALL}
        if (value.get("apiVersion"), value.get("kind")) in known and "spec" in value:
            yield value
            return
        for item in value.values():
            yield from _ours(item)
    elif isinstance(value, list):
        for item in value:
            yield from _ours(item)
