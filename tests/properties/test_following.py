"""Whoever takes the log in decides what was decided, from wherever it was loaded: the same ids, the same rows."""

from functools import partial
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.simulate import run, scenario

from . import fleets, following, running
from .effort import examples
from .objects import Document

FOUND = sorted((Path(__file__).parents[1] / "scenarios/found").glob("*.yaml"))


@pytest.mark.parametrize("share", [0.1, 1.0], ids=["loaded now and then", "loaded after every decision"])
@examples(60)
@given(document=fleets.scenarios(), seed=st.integers(0, 2**32))
def test_a_follower_that_is_loaded_in_mid_history_decides_what_was_decided(
    share: float, document: Document, seed: int
) -> None:
    check = partial(following.stays_together, seed=seed, share=share)
    running.holds(check, document, f"A follower that is loaded anew parts with seed {seed}.")


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.stem)
def test_a_follower_decides_the_same_in_every_case_that_chance_has_found(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loaded anew after every decision."""
    monkeypatch.setattr(run, "Engine", following.followed(Random(1), 1.0))
    for one in scenario.load_all(file):
        calm = tuple(step for step in one.timeline if step.kind != "crash")
        run.simulate(msgspec.structs.replace(one, timeline=calm))
