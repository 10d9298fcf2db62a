"""Shares of a runner: one agent alone gets most of its slots, and where some hang there is room for the next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from headgate.agents.agent_shares import MOST_AT_ONCE, AgentShares


def filled(most: int, agents: int) -> dict[int, int]:
    """What each gets when all of them want everything, one after the other."""
    held: list[int] = []
    for agent in range(agents):
        slots = AgentShares(most, (("home", str(one)) for one in held))
        while slots.take(("home", str(agent))):
            held.append(agent)
    return {agent: held.count(agent) for agent in range(agents)}


def test_one_agent_alone_gets_three_quarters() -> None:
    assert filled(MOST_AT_ONCE, 1) == {0: 72}


def test_four_agents_that_keep_all_they_get_leave_room_for_the_fifth() -> None:
    found = filled(MOST_AT_ONCE, 5)
    assert all(found.values())
    assert sum(found.values()) <= MOST_AT_ONCE


@given(held=some.lists(some.integers(0, 5), max_size=40), most=some.integers(1, 60))
def test_a_step_can_be_taken_by_any_one_agent_that_is_not_full(held: list[int], most: int) -> None:
    def slots() -> AgentShares:
        return AgentShares(most, (("home", str(one)) for one in held))

    full, step = slots().full, slots().step
    for agent in range(7):
        key = ("home", str(agent))
        taking = slots()
        if key in full:
            assert not taking.take(key)
        else:
            assert all(taking.take(key) for _ in range(step))
