"""ip and cidr: addresses and ranges of them."""

from __future__ import annotations

import ipaddress
from typing import Any

from headgate import cel
from headgate.cel.core import values
from headgate.graph.compile.libraries.comparing import is_read_by, method

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Address:
    __slots__ = ("address",)

    def __init__(self, address: _Address) -> None:
        self.address = address

    def __cel_string__(self) -> str:
        return str(self.address)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and other.address == self.address

    def __hash__(self) -> int:
        return hash(self.address)

    def cel_family(self) -> int:
        return self.address.version

    def cel_is_unspecified(self) -> bool:
        return self.address.is_unspecified

    def cel_is_loopback(self) -> bool:
        return self.address.is_loopback

    def cel_is_link_local_unicast(self) -> bool:
        return self.address.is_link_local and not self.address.is_multicast

    def cel_is_link_local_multicast(self) -> bool:
        link_local = "224.0.0.0/24" if self.address.version == 4 else "ff02::/16"
        return self.address in ipaddress.ip_network(link_local)

    def cel_is_global_unicast(self) -> bool:
        """Not the notion of "public": private ranges are global unicast as well."""
        is_broadcast = self.address == ipaddress.IPv4Address("255.255.255.255")
        return not (
            is_broadcast
            or self.address.is_unspecified
            or self.address.is_loopback
            or self.address.is_multicast
            or self.cel_is_link_local_unicast()
        )


class Range:
    __slots__ = ("address", "network")

    def __init__(self, address: _Address, prefix_length: int) -> None:
        self.address = address
        self.network = ipaddress.ip_network((address, prefix_length), strict=False)

    def __cel_string__(self) -> str:
        return f"{self.address}/{self.network.prefixlen}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and other.address == self.address and other.network == self.network

    def __hash__(self) -> int:
        return hash((self.address, self.network))

    def cel_ip(self) -> Address:
        return Address(self.address)

    def cel_prefix_length(self) -> int:
        return self.network.prefixlen

    def cel_masked(self) -> Range:
        return Range(self.network.network_address, self.network.prefixlen)

    def cel_contains_ip(self, other: Any) -> bool:
        address = parse_ip(other) if isinstance(other, str) else other
        if not isinstance(address, Address):
            raise cel.EvaluationError(f"containsIP needs an ip or a string, not {values.kind(other)}")
        return address.address in self.network

    def cel_contains_cidr(self, other: Any) -> bool:
        inner = parse_cidr(other) if isinstance(other, str) else other
        if not isinstance(inner, Range):
            raise cel.EvaluationError(f"containsCIDR needs a cidr or a string, not {values.kind(other)}")
        if inner.network.version != self.network.version:
            return False
        return inner.network.subnet_of(self.network)  # type: ignore[arg-type]


def parse_ip(text: str) -> Address:
    """Without zones, and without IPv4 addresses dressed up as IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f"{values.render_key(text)} is not an IP address") from None
    if isinstance(address, ipaddress.IPv6Address) and (address.scope_id or address.ipv4_mapped):
        raise ValueError(f"{values.render_key(text)}: no zone and no IPv4 inside IPv6 is allowed")
    return Address(address)


def parse_cidr(text: str) -> Range:
    address, slash, length = text.partition("/")
    if not slash or not length.isascii() or not length.isdigit() or (length[0] == "0" and length != "0"):
        raise ValueError(f"{values.render_key(text)} is not a range such as 10.0.0.0/8")
    parsed = parse_ip(address).address
    if int(length[:4]) > parsed.max_prefixlen:
        raise ValueError(f"{values.render_key(text)}: a prefix has 0 to {parsed.max_prefixlen} bits")
    return Range(parsed, int(length))


def _is_canonical(text: str) -> bool:
    return str(parse_ip(text).address) == text


FUNCTIONS = (
    cel.Function("ip", (cel.STRING,), cel.DYN, parse_ip),
    cel.Function("isIP", (cel.STRING,), cel.BOOL, is_read_by(parse_ip)),
    cel.Function("ip.isCanonical", (cel.STRING,), cel.BOOL, _is_canonical),
    cel.Function("cidr", (cel.STRING,), cel.DYN, parse_cidr),
    cel.Function("isCIDR", (cel.STRING,), cel.BOOL, is_read_by(parse_cidr)),
    method("family", result=cel.INT),
    method("isUnspecified", result=cel.BOOL),
    method("isLoopback", result=cel.BOOL),
    method("isLinkLocalUnicast", result=cel.BOOL),
    method("isLinkLocalMulticast", result=cel.BOOL),
    method("isGlobalUnicast", result=cel.BOOL),
    method("ip"),
    method("prefixLength", result=cel.INT),
    method("masked"),
    method("containsIP", arguments=1, result=cel.BOOL),
    method("containsCIDR", arguments=1, result=cel.BOOL),
)
