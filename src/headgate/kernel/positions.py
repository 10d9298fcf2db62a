"""A place in line that looks random, is the same everywhere, and needs no coordination: rank by hash."""

import struct
from collections.abc import Iterable, Sequence

OFFSET_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = 0xFFFFFFFFFFFFFFFF


def fnv1a_64(text: str, state: int = OFFSET_BASIS) -> int:
    """FNV-1a reads from left to right: the hash of a shared prefix is the `state` for each of its endings."""
    for byte in text.encode("utf-8"):
        state = ((state ^ byte) * _PRIME) & _MASK
    return state


def fnv1a_64_of_each(text: str, states: Sequence[int]) -> tuple[int, ...]:
    """As `fnv1a_64` of each state, in a quarter of the time where there are many.

    They stand side by side in one large number, each in 128 bits, of which the upper half takes what a multiplication
    carries over until it is masked away: a byte then costs three operations for all of them.
    """
    count = len(states)
    ones = int.from_bytes((b"\x01" + bytes(15)) * count, "little")
    mask = ones * _MASK
    lanes = int.from_bytes(b"".join([state.to_bytes(16, "little") for state in states]), "little")
    octets = text.encode("utf-8")
    in_each = {byte: ones * byte for byte in set(octets)}
    for byte in octets:
        lanes = ((lanes ^ in_each[byte]) * _PRIME) & mask
    return struct.unpack(f"<{2 * count}Q", lanes.to_bytes(16 * count, "little"))[::2]


def rank(keys_and_hashes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """0-based places by hash; equal hashes are ordered by key, so the order never depends on the input's."""
    in_order = sorted(keys_and_hashes, key=lambda pair: (pair[1], pair[0]))
    return {key: place for place, (key, _) in enumerate(in_order)}
