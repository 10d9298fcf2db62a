"""random.*: what looks like chance and is the same for the same seed, on every machine and for ever."""

import hashlib

from headgate import cel

_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST = 10_000


def seeded_string(length: int, seed: str) -> str:
    """Each character is chosen by four bytes of the seed's SHA-256, which are used in turn."""
    if not 1 <= length <= LONGEST:
        raise ValueError(f"the length is {length}; allowed are 1 to {LONGEST}")
    digest = hashlib.sha256(seed.encode()).digest()
    words = [int.from_bytes(digest[place : place + 4], "big") for place in range(0, len(digest), 4)]
    return "".join(_CHARACTERS[words[place % len(words)] % len(_CHARACTERS)] for place in range(length))


def seeded_int(least: int, end: int, seed: str) -> int:
    """From `least` up to and without `end`."""
    if least >= end:
        raise ValueError(f"the least value {least} must be below the end {end}")
    word = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    return least + word % (end - least)


FUNCTIONS = (
    cel.Function("random.seededString", (cel.INT, cel.STRING), cel.STRING, seeded_string),
    cel.Function("random.seededInt", (cel.INT, cel.INT, cel.STRING), cel.INT, seeded_int),
)
