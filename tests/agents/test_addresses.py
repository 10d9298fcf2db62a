"""Only addresses that the operator allows are reached, whichever way they are written."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

import pytest
from aiohttp import web

from agents.support import play, serving
from headgate.agents import addresses
from headgate.agents.addresses import Addresses
from headgate.agents.web import Web
from headgate.kernel.problems import Rejected

KINDS = {
    "8.8.8.8": "public",
    "2606:4700::1111": "public",
    "10.1.2.3": "private",
    "172.16.0.1": "private",
    "192.168.1.1": "private",
    "100.64.0.1": "private",
    "fd00::1": "private",
    "fec0::1": "private",
    "127.0.0.1": "loopback",
    "127.9.9.9": "loopback",
    "0.0.0.0": "loopback",
    "0.1.2.3": "loopback",
    "::1": "loopback",
    "::": "loopback",
    "169.254.169.254": "link-local",
    "fe80::1": "link-local",
    "224.0.0.1": "special",
    "255.255.255.255": "special",
    "ff02::1": "special",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:169.254.169.254": "link-local",
    "::127.0.0.1": "loopback",
    "64:ff9b::7f00:1": "loopback",
    "2002:7f00:1::": "loopback",
    "2002:a9fe:a9fe::": "link-local",
}


@pytest.mark.parametrize("text", KINDS)
def test_an_address_has_a_kind_also_where_it_is_wrapped_in_another(text: str) -> None:
    assert addresses.kind_of(ipaddress.ip_address(text)) == KINDS[text]


@pytest.mark.parametrize(
    ("allowed", "host", "port", "address", "is_permitted"),
    [
        ((), "a.example", 443, "8.8.8.8", False),
        (("public",), "a.example", 443, "8.8.8.8", True),
        (("public",), "a.example", 443, "10.0.0.1", False),
        (("10.0.0.0/8",), "a.example", 443, "10.9.9.9", True),
        (("10.0.0.0/8",), "a.example", 443, "8.8.8.8", False),
        (("10.0.0.0/8:443",), "a.example", 80, "10.9.9.9", False),
        (("a.example",), "A.Example.", 443, "10.0.0.1", True),
        (("a.example",), "a.example.evil", 443, "10.0.0.1", False),
        (("a.example:443",), "a.example", 8443, "10.0.0.1", False),
        (("*.example",), "a.b.example", 443, "127.0.0.1", True),
        (("*.example",), "example", 443, "127.0.0.1", False),
        (("*.example",), "evilexample", 443, "127.0.0.1", False),
        (("[::1]:8080",), "::1", 8080, "::1", True),
        (("127.0.0.1",), "::ffff:127.0.0.1", 80, "::ffff:127.0.0.1", True),
        (("any",), "anything", 1, "169.254.169.254", True),
    ],
)
def test_entries_are_kinds_networks_and_names(
    allowed: tuple[str, ...], host: str, port: int, address: str, is_permitted: bool
) -> None:
    assert Addresses(allowed).permits(host, port, ipaddress.ip_address(address)) is is_permitted


@pytest.mark.parametrize(
    "text", ["", "http://a.example", "a.example/x", "*", "a.example:0", "a b", "10.0.0.0/99"]
)
def test_an_entry_that_cannot_be_read_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(Rejected, match="allowed are any, public, private"):
        Addresses((text,))


async def _hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


HOSTS = [
    "127.0.0.1",
    "localhost",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "0x7f000001",
    "127.1",
    "0.0.0.0",
    "ⓛocalhost",
]


@pytest.mark.parametrize("host", HOSTS)
def test_this_machine_is_not_reached_under_any_of_its_names(host: str) -> None:
    seen: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.path)
        return web.Response()

    async def scene() -> None:
        async with serving(handler) as url:
            port = url.rpartition(":")[2].strip("/")
            client = Web(Addresses(("public",)))
            with pytest.raises(Rejected):
                await client.call("GET", f"http://{host}:{port}/x")
            await client.close()

    play(scene())
    assert seen == []


def test_the_refusal_names_the_address_and_the_option() -> None:
    async def scene() -> None:
        client = Web(Addresses(("public",)))
        with pytest.raises(Rejected) as refused:
            await client.call("GET", "http://localhost:1/x?token=hush")
        await client.close()
        text = str(refused.value)
        assert "localhost:1" in text
        assert "is loopback" in text
        assert "--allow-address" in text
        assert "hush" not in text

    play(scene())


def test_a_name_is_resolved_once_and_connected_to_where_it_was_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that answers something else the second time gains nothing by it."""
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        place = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, port))]

    async def scene() -> None:
        async with serving(_hello) as url:
            port = url.rpartition(":")[2].strip("/")
            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
            client = Web(Addresses(("loopback",)))
            answer = await client.call("GET", f"http://rebinding.example:{port}/")
            assert answer.text() == "hello"
            await client.close()
            with pytest.raises(Rejected):
                await client.call("GET", f"http://rebinding.example:{port}/")
            await client.close()

    play(scene())
    assert asked == ["rebinding.example"] * 2


def test_of_several_addresses_only_those_that_may_be_reached_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        places = ["169.254.169.254", "127.0.0.1"]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, port)) for place in places]

    async def scene() -> None:
        async with serving(_hello) as url:
            port = url.rpartition(":")[2].strip("/")
            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
            client = Web(Addresses(("loopback",)))
            assert (await client.call("GET", f"http://both.example:{port}/")).status == 200
            await client.close()

    play(scene())


def test_a_redirect_to_another_place_is_an_answer_and_is_not_followed() -> None:
    seen: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.Response()

    async def scene() -> None:
        async with serving(elsewhere) as other:

            async def here(request: web.Request) -> web.Response:
                return web.Response(status=307, headers={"Location": other})

            async with serving(here) as url:
                client = Web(addresses.ANYWHERE)
                answer = await client.call("GET", url, headers={"Authorization": "Bearer hush"})
                assert answer.status == 307
                await client.close()

    play(scene())
    assert seen == []
