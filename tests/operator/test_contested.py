"""What another writer changes back again and again is put right less and less often, and it is said."""

import itertools

import pytest

from headgate.kernel.objects import Key
from headgate.operator.running.contested import FREE_TIMES, ContestedError, ContestedObjects

KEY = Key("apps", "Deployment", "default", "web")
PATCH = {"metadata": {"annotations": {"deployment.kubernetes.io/revision": '"1"'}}}


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def writes(clock: Clock, contested: ContestedObjects, until: float) -> list[float]:
    """When the same is put right by somebody who tries ten times a second."""
    found = []
    while clock.seconds < until:
        try:
            contested.check(KEY, "uid", PATCH)
        except ContestedError:
            pass
        else:
            contested.wrote(KEY, "uid", PATCH)
            found.append(round(clock.seconds, 1))
        clock.seconds += 0.1
    return found


def test_the_same_again_takes_twice_as_long_each_time() -> None:
    clock = Clock()
    found = writes(clock, ContestedObjects(clock), 40)
    between = [later - before for before, later in itertools.pairwise(found)]
    assert between[: FREE_TIMES - 1] == pytest.approx([0.1] * (FREE_TIMES - 1))
    assert between[FREE_TIMES - 1 :] == pytest.approx([1, 2, 4, 8, 16], abs=0.3)


def test_who_changes_it_back_is_told_of_by_the_field() -> None:
    clock = Clock()
    contested = ContestedObjects(clock)
    for _ in range(FREE_TIMES):
        contested.wrote(KEY, "uid", PATCH)
    with pytest.raises(
        ContestedError, match=r"Deployment web was put back 3 times.* metadata\.annotations\.dep"
    ):
        contested.check(KEY, "uid", PATCH)


@pytest.mark.parametrize(
    ("uid", "patch"), [("uid", {"spec": {"replicas": 3}}), ("another", PATCH)], ids=["content", "object"]
)
def test_anything_else_is_written_at_once(uid: str, patch: dict[str, object]) -> None:
    clock = Clock()
    contested = ContestedObjects(clock)
    writes(clock, contested, 40)
    contested.check(KEY, uid, patch)
    contested.wrote(KEY, uid, patch)
    contested.check(KEY, "uid", PATCH)


def test_after_a_long_rest_it_is_the_first_time_again() -> None:
    clock = Clock()
    contested = ContestedObjects(clock)
    writes(clock, contested, 40)
    clock.seconds += 700
    contested.check(KEY, "uid", PATCH)
    contested.wrote(KEY, "uid", PATCH)
    contested.check(KEY, "uid", PATCH)
