"""What an audit log says of a story is in the order in which it took effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from headgate.kernel import instants
from kube import ControlPlane

from . import audit

START = instants.parse("2026-03-02T09:00:00Z")
READY, ROLLED = "2026-03-02T09:00:30Z", "2026-03-02T09:10:00Z"


def entry(
    verb: str, name: str, version: int, agent: str, seconds: tuple[float, float], **metadata: str
) -> dict[str, Any]:
    """`seconds` are those of the request and of its answer."""
    asked, answered = (f"2026-11-18T19:54:{each:09.6f}Z" for each in seconds)
    own = {"name": name, "namespace": "world", "uid": f"of-{name}", "resourceVersion": str(version)}
    document = {
        "kind": "Pod",
        "metadata": {**own, "creationTimestamp": "2026-11-18T19:54:00Z", **metadata},
    }
    return {
        "verb": verb,
        "stage": "ResponseComplete",
        "userAgent": agent,
        "requestReceivedTimestamp": asked,
        "stageTimestamp": answered,
        "objectRef": {
            "resource": "pods",
            "namespace": "world",
            "name": name,
            "apiVersion": "v1",
            **({"subresource": "status"} if verb == "patch" else {}),
        },
        "responseStatus": {"code": 200},
        "responseObject": document,
    }


def read(folder: Path, *entries: dict[str, Any]) -> list[tuple[str, str, str]]:
    (folder / "audit.log").write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in entries))
    writes = audit.writes(ControlPlane(folder, 0), "world", "mark", START)
    return [(instants.show(write.at), write.verb, write.object.name) for write in writes]


def test_what_two_delete_together_is_deleted_when_they_do(tmp_path: Path) -> None:
    """The one who comes second is answered with the version of before, which is that of another instant."""
    going = {"deletionTimestamp": "2026-11-18T19:54:46Z"}
    found = read(
        tmp_path,
        entry("patch", "a", 10, f"story/{READY}", (10, 10.1)),
        entry("patch", "b", 12, f"story/{READY}", (11, 11.1)),
        entry("delete", "b", 13, f"operator/{ROLLED}", (20, 20.1), **going),
        entry("delete", "a", 14, "kwok", (20.2, 20.4), **going),
        entry("delete", "a", 10, f"operator/{ROLLED}", (20.3, 20.5), **going),
    )
    assert found == [
        (READY, "status", "a"),
        (READY, "status", "b"),
        (ROLLED, "delete", "b"),
        (ROLLED, "delete", "a"),
    ]


def test_an_entry_that_comes_late_is_put_where_it_belongs(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        entry("patch", "b", 12, f"story/{ROLLED}", (20, 20.1)),
        entry("patch", "a", 10, f"story/{READY}", (10, 10.1)),
    )
    assert found == [(READY, "status", "a"), (ROLLED, "status", "b")]
