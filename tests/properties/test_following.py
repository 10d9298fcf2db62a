"""Whoever takes the log in decides what was decided, from wherever it was loaded: the same ids, the same rows."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from . import fleets, following, running
from .effort import examples
from .objects import Document


@pytest.mark.parametrize("share", [0.1, 1.0], ids=["loaded now and then", "loaded after every decision"])
@examples(60)
@given(document=fleets.scenarios(), seed=st.integers(0, 2**32))
def test_a_follower_that_is_loaded_in_mid_history_decides_what_was_decided(
    share: float, document: Document, seed: int
) -> None:
    check = partial(following.stays_together, seed=seed, share=share)
    running.holds(check, document, f"A follower that is loaded anew parts with seed {seed}.")
