"""hash.*: digests of a text, as bytes."""

import hashlib

from headgate import cel

_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def fnv64a(text: str) -> bytes:
    state = _FNV_OFFSET
    for octet in text.encode():
        state = ((state ^ octet) * _FNV_PRIME) & 0xFFFFFFFFFFFFFFFF
    return state.to_bytes(8, "big")


def sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def md5(text: str) -> bytes:
    return hashlib.md5(text.encode(), usedforsecurity=False).digest()


FUNCTIONS = tuple(
    cel.Function(f"hash.{call.__name__}", (cel.STRING,), cel.BYTES, call) for call in (fnv64a, sha256, md5)
)
