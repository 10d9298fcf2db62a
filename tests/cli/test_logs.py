"""`headgate logs`: page by page, or as it comes."""

import json
from collections.abc import Iterator
from typing import Any

from .conftest import Command
from .fake_api import FakeApi, Reply, Request

JOB = "0d1f9f5e-0000-4000-8000-000000000001"


def page(first: int, *texts: str, has_ended: bool = False) -> dict[str, Any]:
    items = [
        {"line": first + number, "at": "2026-03-01T09:00:00Z", "text": text}
        for number, text in enumerate(texts)
    ]
    return {"items": items, "nextOffset": first + len(texts), "hasEnded": has_ended, "isFull": False}


def streamed(document: dict[str, Any]) -> bytes:
    return f"id: {document['nextOffset']}\nevent: lines\ndata: {json.dumps(document)}\n\n".encode()


def test_all_pages_are_printed(api: FakeApi, run: Command) -> None:
    lines = ["one", "two", "three"]

    def answer(request: Request) -> Reply:
        offset = int(request.query["offset"])
        return Reply(page(offset, *lines[offset : offset + 2]))

    api.on("GET", f"jobs {JOB} log", answer)
    assert run("logs", JOB).stdout == "one\ntwo\nthree\n"
    assert run("logs", JOB, "--timestamps").stdout.splitlines()[0] == "2026-03-01T09:00:00Z  one"
    assert json.loads(run("logs", JOB, "-o", "json").stdout.splitlines()[1])["line"] == 1


def test_the_newest_job_of_a_target_is_found(api: FakeApi, run: Command) -> None:
    api.on("GET", "jobs", {"items": [{"id": JOB}], "next": None})
    api.on("GET", f"jobs {JOB} log", lambda request: Reply(page(0, *["x"][int(request.query["offset"]) :])))
    assert run("logs", "api/prod/node-1").stdout == "x\n"
    asked = api.sent("GET", "jobs")[0].query
    assert (asked["deployment"], asked["environment"], asked["resource"]) == ("api", "prod", "node-1")


def test_a_target_without_a_job_says_so(api: FakeApi, run: Command) -> None:
    api.on("GET", "jobs", {"items": [], "next": None})
    result = run("logs", "api/prod/node-1")
    assert (result.exit_code, result.stderr) == (1, "api/prod/node-1 has no job yet\n")


def test_following_goes_on_behind_what_was_seen_until_the_job_has_ended(api: FakeApi, run: Command) -> None:
    def stream(request: Request) -> Reply:
        def parts() -> Iterator[bytes]:
            if "last-event-id" not in request.headers:
                yield streamed(page(0, "one"))
            else:
                assert request.headers["last-event-id"] == "1"
                yield streamed(page(1, "two", has_ended=True))

        assert request.query["follow"] == "true"
        return Reply(stream=parts)

    api.on("GET", f"jobs {JOB} log", stream)
    result = run("logs", JOB, "-f")
    assert result.stdout == "one\ntwo\n"
    assert "taken up again" in result.stderr
