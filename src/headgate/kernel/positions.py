"""A place in line that looks random, is the same everywhere, and needs no coordination: rank by hash."""

from collections.abc import Iterable

OFFSET_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = 0xFFFFFFFFFFFFFFFF


def fnv1a_64(text: str, state: int = OFFSET_BASIS) -> int:
    """FNV-1a reads from left to right: the hash of a shared prefix is the `state` for each of its endings."""
    for byte in text.encode("utf-8"):
        state = ((state ^ byte) * _PRIME) & _MASK
    return state


def rank(keys_and_hashes: Iterable[tuple[str, int]]) -> dict[str, int]:
    """0-based places by hash; equal hashes are ordered by key, so the order never depends on the input's."""
    in_order = sorted(keys_and_hashes, key=lambda pair: (pair[1], pair[0]))
    return {key: place for place, (key, _) in enumerate(in_order)}
