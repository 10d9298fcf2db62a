"""Requests to a server that fails, dawdles or talks nonsense: what is tried again, and what is said."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from aiohttp import web

from agents.support import drop, play
from headgate.kubernetes import errors
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.identities import ApiIdentity
from headgate.kubernetes.resources import PODS, ApiResource

from .imitation import Imitation, says

POD = {"metadata": {"name": "a", "namespace": "n"}}


def test_a_read_is_tried_again_with_growing_pauses_or_as_the_server_asks() -> None:
    async def story() -> None:
        server = Imitation(says(503), says(429, {}, Retry_After="7"), says(500), says(200, POD))
        async with server.client() as client:
            assert await client.get(PODS, "a", "n") == POD
        assert server.waits == [1.0, 7.0, 4.0]

    play(story())


def test_a_read_is_given_up_after_a_while() -> None:
    async def story() -> None:
        server = Imitation(says(503, {"message": "down"}))
        async with server.client() as client:
            with pytest.raises(errors.UnreachableError, match="down"):
                await client.get(PODS, "a", "n")
        assert len(server.requests) == 5

    play(story())


@pytest.mark.parametrize("answer", [says(503), says(429, {}, Retry_After="1"), drop])
def test_a_write_is_never_repeated(answer: Any) -> None:
    async def story() -> None:
        server = Imitation(answer, says(200, POD))
        async with server.client() as client:
            with pytest.raises(errors.ApiError):
                await client.create(PODS, POD)
        assert (len(server.requests), server.waits) == (1, [])

    play(story())


def test_a_server_that_cannot_be_reached_was_not_asked() -> None:
    async def story() -> None:
        server = Imitation(says(200))
        async with server.client() as client:
            client.transport.access = msgspec.structs.replace(
                client.transport.access, server="http://127.0.0.1:1"
            )
            with pytest.raises(errors.UnreachableError) as caught:
                await client.create(PODS, POD)
        assert not caught.value.was_sent
        assert "127.0.0.1 cannot be reached: " in str(caught.value)

    play(story())


def test_silence_is_an_error_and_what_was_sent_may_have_happened() -> None:
    async def story() -> None:
        silence = asyncio.Event()

        async def silent(_: web.BaseRequest) -> web.StreamResponse:
            await silence.wait()
            return web.Response()

        server = Imitation(silent)
        async with server.client() as client:
            with pytest.raises(errors.UnreachableError, match=r"is silent for 0\.05 s") as caught:
                await client.within(0.05).create(PODS, POD)
            silence.set()
        assert caught.value.was_sent

    play(story())


def test_credentials_that_are_not_taken_are_made_anew_once() -> None:
    class Renewed:
        token = 0

        async def identity(self) -> ApiIdentity:
            return ApiIdentity(str(self.token))

        def expire(self) -> None:
            self.token += 1

    async def story() -> None:
        server = Imitation(says(401), says(201, POD), says(401))
        async with server.client(Renewed()) as client:
            await client.create(PODS, POD)
            with pytest.raises(errors.UnauthorizedError):
                await client.create(PODS, POD)
        sent = [request.headers["Authorization"] for request in server.requests]
        assert sent == ["Bearer 0", "Bearer 1", "Bearer 1", "Bearer 2"]

    play(story())


@pytest.mark.parametrize("answer", ["<html>", "[]", '{"metadata": 7}'])
def test_nonsense_is_called_so(answer: str) -> None:
    async def story() -> None:
        async with Imitation(says(200, answer)).client() as client:
            with pytest.raises(errors.NonsenseError):
                await client.list(PODS, "n")

    play(story())


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        '{"type": "ADDED", "object": {}}',
        '{"type": "WHAT", "object": {"metadata": {"resourceVersion": "1"}}}',
        '{"type": "ERROR", "object": {"message": "no code"}}',
    ],
)
def test_nonsense_in_a_watch_is_called_so(line: str) -> None:
    async def story() -> None:
        async with Imitation(says(200, line + "\n")).client() as client:
            with pytest.raises(errors.NonsenseError):
                await anext(client.watch(PODS, resource_version="1"))

    play(story())


def test_a_watch_that_is_silent_for_too_long_is_taken_for_dead() -> None:
    async def story() -> None:
        end = asyncio.Event()

        async def begin_only(request: web.BaseRequest) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            await response.write(
                b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "7"}}}\n{"ty'
            )
            await end.wait()
            return response

        async with Imitation(begin_only).client() as client:
            events = client.watch(PODS, resource_version="1", read_seconds=0.1)
            assert (await anext(events)).resource_version == "7"
            with pytest.raises(errors.UnreachableError, match=r"is silent for 0\.1 s"):
                await anext(events)
            end.set()

    play(story())


def test_logs_come_as_they_are() -> None:
    async def story() -> None:
        server = Imitation(says(200, "one\ntwo\n"))
        async with server.client() as client:
            pieces = [
                piece async for piece in client.logs("a", "n", container="c", tail_lines=2, follow=True)
            ]
        assert b"".join(pieces) == b"one\ntwo\n"
        (request,) = server.requests
        assert request.path_qs == "/api/v1/namespaces/n/pods/a/log?container=c&tailLines=2&follow=true"

    play(story())


def test_what_a_status_says_is_in_the_error() -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "Invalid value: 0", "field": "spec.replicas"}]
    invalid = errors.of_answer(422, {"message": "no", "reason": "Invalid", "details": {"causes": causes}})
    assert isinstance(invalid, errors.InvalidError)
    assert [str(problem) for problem in invalid.problems] == ["spec.replicas: Invalid value: 0"]
    assert isinstance(errors.of_answer(409, {"reason": "AlreadyExists"}), errors.AlreadyExistsError)
    assert str(errors.of_answer(502, None)) == "the API server answers with status 502"
    assert isinstance(errors.of_status({"code": 410}), errors.GoneError)


def test_a_name_never_leads_to_another_path() -> None:
    assert PODS.path("n", "a/../b") == "/api/v1/namespaces/n/pods/a%2F..%2Fb"
    with pytest.raises(ValueError, match="is not the name of an object"):
        PODS.path("n", "..")
    with pytest.raises(ValueError, match="is in a namespace, and none was given"):
        PODS.path("", "a")


OLDER = {
    "/api": {"versions": ["v1"]},
    "/api/v1": {
        "resources": [
            {
                "name": "pods",
                "singularName": "pod",
                "kind": "Pod",
                "namespaced": True,
                "verbs": ["get"],
                "shortNames": ["po"],
            },
            {"name": "pods/status", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
        ]
    },
    "/apis": {
        "groups": [
            {
                "name": "g.example",
                "versions": [{"version": "v1beta1"}, {"version": "v1"}, {"version": "v9"}],
                "preferredVersion": {"version": "v1"},
            }
        ]
    },
    "/apis/g.example/v1": {"resources": [{"name": "things", "kind": "Thing", "verbs": ["get"]}]},
    "/apis/g.example/v1beta1": {"resources": [{"name": "things", "kind": "Thing", "verbs": ["get"]}]},
}


def test_an_older_server_is_asked_for_each_version_and_one_that_is_down_is_left_out() -> None:
    def answer(request: web.BaseRequest) -> web.StreamResponse:
        known = OLDER.get(request.path)
        return web.json_response(known, status=200 if known else 503)

    async def story() -> None:
        async with Imitation(answer).client() as client:
            discovery = Discovery(client.transport)
            pods = await discovery.named("po")
            assert pods == ApiResource(
                *("", "v1", "Pod", "pods", True, frozenset({"get"}), frozenset({"status"}), "pod", ("po",))
            )
            assert (await discovery.named("thing")).version == "v1"
            assert not (await discovery.find("g.example/v1beta1", "Thing")).is_namespaced

    play(story())


def test_a_kind_that_is_missing_is_looked_for_once_in_a_while() -> None:
    async def story() -> None:
        now = 0.0
        server = Imitation(says(200, {"kind": "APIGroupDiscoveryList", "items": []}, ETag='"x"'), says(304))
        server.answers.insert(1, says(200, {"kind": "APIGroupDiscoveryList", "items": []}, ETag='"y"'))
        async with server.client() as client:
            discovery = Discovery(client.transport, clock=lambda: now)
            for _ in range(3):
                with pytest.raises(UnknownKindError, match="the cluster serves no Thing of g/v1"):
                    await discovery.find("g/v1", "Thing")
            assert len(server.requests) == 2
            now = 1.0
            with pytest.raises(UnknownKindError):
                await discovery.find("g/v1", "Thing")
            tags = [request.headers.get("If-None-Match") for request in server.requests]
            assert tags == [None, None, '"x"', '"y"']

    play(story())
