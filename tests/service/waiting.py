"""Waiting for what will be true."""

import time
from collections.abc import Callable

MOST_SECONDS = 60.0
"""What takes longer hangs. How long it takes otherwise is for `bench` to say: machines are shared."""


def until(condition: Callable[[], bool], seconds: float = MOST_SECONDS) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not come true in time"
        time.sleep(0.05)
