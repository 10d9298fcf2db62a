"""Which addresses agents and verification providers may reach, as the operator of the server says.

Whoever may write an address must not be able to look around in the network of the server. A name is resolved here, what
it resolves to is judged, and the connection is made to exactly that.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import Literal, get_args

import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from headgate.kernel.problems import Problem, Rejected

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Kind = Literal["public", "private", "loopback", "link-local", "special"]

OPTION = "--allow-address"
ANY = "any"
OUTSIDE = ("public",)
"""What a server reaches if its operator says nothing."""
OF_ONE_MACHINE = ("public", "private", "loopback")
"""What `headgate up` reaches: not the addresses on which clouds tell machines their credentials."""

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")
_THIS_HOST = ipaddress.IPv4Network("0.0.0.0/8")
_NAME = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_ALLOWED = (
    "any, public, private, loopback, link-local, a host name, *.domain, an IP address or a network such as 10.0.0.0/8; "
    "each may have :port, an IPv6 address then in brackets"
)


class AddressRefusedError(Exception):
    """The operator does not allow it; the sentence says what and how to."""


class _AllowedAddress(msgspec.Struct, frozen=True):
    """One of the three says what it is about; without a port it is about all of them."""

    kind: str | None = None
    name: str | None = None
    network: Network | None = None
    port: int | None = None

    def permits(self, host: str, port: int, address: IpAddress) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.kind is not None:
            return self.kind in (ANY, kind_of(address))
        if self.network is not None:
            return address in self.network
        name = self.name or ""
        return host.endswith(name[1:]) if name.startswith("*.") else host == name


class Addresses:
    """Raises Rejected for entries that cannot be read."""

    def __init__(self, allowed: Iterable[str]) -> None:
        problems: list[Problem] = []
        self._entries = tuple(
            entry for text in allowed if (entry := _entry(text.strip(), problems)) is not None
        )
        if problems:
            raise Rejected(problems)

    def permits(self, host: str, port: int, address: IpAddress) -> bool:
        plain = _unwrapped(address)
        name = host.lower().rstrip(".")
        return any(entry.permits(name, port, plain) for entry in self._entries)

    def check_literal(self, address: URL) -> None:
        """A host that is an IP address is not resolved, so it is judged here."""
        host = address.host or ""
        try:
            literal = ipaddress.ip_address(host.partition("%")[0])
        except ValueError:
            return
        if not self.permits(host, address.port or 0, literal):
            raise refused(host, address.port or 0, literal)


class CheckedResolver(AbstractResolver):
    """Gives the addresses of a name that may be reached, and never any other."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        addresses = await loop.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
        results: list[ResolveResult] = []
        last: IpAddress | None = None
        for kind, _, protocol, _, place in addresses:
            address = last = ipaddress.ip_address(str(place[0]).partition("%")[0])
            if self._addresses.permits(host, port, address):
                results.append(
                    {
                        "hostname": host,
                        "host": str(place[0]),
                        "port": port,
                        "family": kind,
                        "proto": protocol,
                        "flags": socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
                    }
                )
        if last is not None and not results:
            raise refused(host, port, last)
        return results

    async def close(self) -> None:
        return


def refused(host: str, port: int, address: IpAddress) -> AddressRefusedError:
    plain = _unwrapped(address)
    what = "" if host == str(plain) else f" is {plain}, which"
    return AddressRefusedError(
        f"the address {host}:{port}{what} is {kind_of(plain)} and may not be reached from this server; whoever runs "
        f"the server can allow it with {OPTION}"
    )


def kind_of(address: IpAddress) -> Kind:
    address = _unwrapped(address)
    if address.is_loopback or address.is_unspecified or address in _THIS_HOST:
        return "loopback"
    if address.is_link_local:
        return "link-local"
    if address.is_multicast or address == ipaddress.IPv4Address("255.255.255.255"):
        return "special"
    if address.is_private or address in _SHARED or getattr(address, "is_site_local", False):
        return "private"
    return "public" if address.is_global else "special"


def _unwrapped(address: IpAddress) -> IpAddress:
    """An IPv6 address may be another way of writing an IPv4 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if inner is not None:
        return inner
    high, low = divmod(int(address), 2**32)
    return ipaddress.IPv4Address(low) if high == 0 and low > 1 else address


def _entry(text: str, problems: list[Problem]) -> _AllowedAddress | None:
    body, port = _split_port(text)
    if port is None or 0 < port < 65_536:
        if body == ANY or body in get_args(Kind):
            return _AllowedAddress(kind=body, port=port)
        try:
            return _AllowedAddress(network=ipaddress.ip_network(body.strip("[]"), strict=False), port=port)
        except ValueError:
            name = body.lower().rstrip(".")
            if _NAME.fullmatch(name):
                return _AllowedAddress(name=name, port=port)
    problems.append(Problem(OPTION, f'is "{text[:80]}"; allowed are {_ALLOWED}'))
    return None


def _split_port(text: str) -> tuple[str, int | None]:
    body, separator, port = text.rpartition(":")
    is_port = separator and port.isascii() and port.isdigit() and len(port) <= 5
    if is_port and (":" not in body or body.endswith("]")):
        return body, int(port)
    return text, None


ANYWHERE = Addresses((ANY,))
