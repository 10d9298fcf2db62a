import json
import logging
from typing import Any

import msgspec
import pytest

from headgate.api.http.calls import Answer, Refusal, Request
from headgate.kernel.documents import Moment
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import KeyReusedError, UnknownWorkspaceError
from headgate.store.port import UnavailableError

from .machinery import NOW, Handler, app_of, route, send, service


def raising(error: Exception) -> Handler:
    async def handler(call: Request) -> Answer:
        raise error

    return handler


def answering(answer: Answer) -> Handler:
    async def handler(call: Request) -> Answer:
        return answer

    return handler


def refusal(error: Exception) -> Any:
    return send(app_of(route("GET", "/v1/x", raising(error))), "GET", "/v1/x")


def test_a_refusal_is_a_problem_document() -> None:
    answer = refusal(Refusal(409, "It exists", "there is one", (("name", "is taken"),)))
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json == {
        "type": "about:blank",
        "title": "It exists",
        "status": 409,
        "detail": "there is one",
        "instance": f"urn:uuid:{answer.headers['headgate-request-id']}",
        "errors": [{"path": "name", "message": "is taken"}],
    }


def test_a_rejected_document_lists_every_problem() -> None:
    answer = refusal(Rejected([Problem("a", "is wrong"), Problem("b.c", "is wrong too")]))
    assert (answer.status, answer.json["detail"]) == (422, "a: is wrong (and 1 more)")
    assert [error["path"] for error in answer.json["errors"]] == ["a", "b.c"]


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyReusedError(), 422), (UnknownWorkspaceError("x"), 404), (UnavailableError("gone"), 503)],
)
def test_errors_of_the_runtime_have_their_statuses(error: Exception, status: int) -> None:
    assert refusal(error).status == status


def test_an_unavailable_store_says_when_to_try_again() -> None:
    assert refusal(UnavailableError("gone")).headers["retry-after"] == "2"


def test_a_refusal_may_quote_what_cannot_be_encoded() -> None:
    assert refusal(Refusal(404, "Gone", "no \ud800 here")).json["detail"] == "no \\ud800 here"


def test_an_unexpected_error_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    answer = refusal(RuntimeError("the password is swordfish"))
    assert answer.status == 500
    assert b"swordfish" not in answer.body
    assert "swordfish" in caplog.text
    assert answer.headers["headgate-request-id"] in caplog.text


def test_an_answer_that_cannot_be_encoded_is_an_error_of_the_service(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = send(app_of(route("GET", "/v1/x", answering(Answer(200, {"a": object()})))), "GET", "/v1/x")
    assert answer.status == 500


def test_a_struct_is_written_as_documents_are() -> None:
    class Thing(msgspec.Struct, rename="camel"):
        created_at: Moment
        is_new: bool = True

    app = app_of(route("GET", "/v1/x", answering(Answer(200, Thing(NOW)))))
    assert send(app, "GET", "/v1/x").json == {"createdAt": "2027-01-15T08:00:00Z", "isNew": True}


def test_bytes_are_sent_as_they_are() -> None:
    app = app_of(route("GET", "/v1/x", answering(Answer(200, b'{"a":  1}'))))
    assert send(app, "GET", "/v1/x").body == b'{"a":  1}'


def test_an_answer_without_content_has_no_type() -> None:
    answer = send(app_of(route("DELETE", "/v1/x", answering(Answer(204)))), "DELETE", "/v1/x")
    assert (answer.status, answer.body) == (204, b"")
    assert "content-type" not in answer.headers


def test_head_has_the_headers_of_get_and_no_body() -> None:
    app = app_of(route("GET", "/v1/x", answering(Answer(200, {"a": 1}, {"ETag": '"1"'}))))
    answer = send(app, "HEAD", "/v1/x")
    assert (answer.body, answer.headers["content-length"], answer.headers["etag"]) == (b"", "7", '"1"')


def test_what_a_token_may_see_is_not_kept_by_caches() -> None:
    answer = send(app_of(route("GET", "/v1/x")), "GET", "/v1/x")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_other_site_is_let_in() -> None:
    answer = send(app_of(route("GET", "/v1/x")), "GET", "/v1/x", headers={"Origin": "https://other.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_an_unknown_path_is_a_problem_document() -> None:
    answer = send(app_of(), "GET", "/v1/nothing")
    assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")


def test_a_wrong_method_has_the_header_allow() -> None:
    answer = send(app_of(route("GET", "/v1/x")), "DELETE", "/v1/x")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_what_is_not_of_the_api_goes_to_the_fallback() -> None:
    async def console(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 299, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    app = app_of(fallback=console)
    assert send(app, "GET", "/fleet").status == 299
    assert send(app, "GET", "/").status == 299
    assert send(app, "GET", "/v1/nothing").status == 404
    assert send(app, "GET", "/v1").status == 404
    assert send(app, "GET", "//v1//whoami").headers["content-type"] == "application/problem+json"
    assert send(app, "PUT", "//v1/resources").headers["content-type"] == "application/problem+json"
    assert send(app, "GET", "/%ff").status == 400


def test_the_process_is_alive_whatever_the_store_does() -> None:
    class Broken:
        def ping(self) -> None:
            raise UnavailableError("gone")

    app = app_of(service=service(Broken()))
    assert send(app, "GET", "/healthz").json == {"status": "alive"}
    assert send(app, "GET", "/readyz").status == 503


def test_it_is_ready_once_nothing_is_missing() -> None:
    assert send(app_of(), "GET", "/readyz").json == {"status": "ready"}
    answer = send(
        app_of(ready=lambda: ["the replica is 12 entries behind", "the disk is full"]), "GET", "/readyz"
    )
    assert (answer.status, answer.json["detail"]) == (
        503,
        "the replica is 12 entries behind; the disk is full",
    )


def test_the_access_log_is_one_line_of_json(caplog: pytest.LogCaptureFixture) -> None:
    app = app_of(route("GET", "/v1/x/{name}", operation="getX"))
    with caplog.at_level(logging.INFO, "headgate.access"):
        answer = send(app, "GET", "/v1/x/a%20b?workspace=default", headers={"Authorization": "viewer"})
    line = json.loads(caplog.records[-1].getMessage())
    assert line.pop("milliseconds") >= 0
    assert line == {
        "requestId": answer.headers["headgate-request-id"],
        "method": "GET",
        "path": "/v1/x/a%20b",
        "operation": "getX",
        "status": 200,
        "bytes": len(answer.body),
        "user": "viewer",
        "workspace": "default",
    }


def test_the_access_log_is_off_unless_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    send(app_of(route("GET", "/v1/x")), "GET", "/v1/x")
    assert not caplog.records
