"""How many may move at a time, given how many have landed."""


def linear_limit(landed: int, size: int) -> int:
    if size < 1:
        raise ValueError(f"a wave has at least 1 member, not {size}")
    return (landed // size + 1) * size


def exponential_limit(landed: int) -> int:
    """1, 2, 4, 8, ...: each wave doubles what has landed, so waves are of 1, 1, 2, 4, 8."""
    return 1 << landed.bit_length()


def exponential_wave_of(position: int) -> int:
    return position.bit_length()


def may_go(rank_among_not_updated: int, landed: int, in_flight: int, limit: int) -> bool:
    """Rank and not index: members that need no change, or have it already, leave no gap in the wave."""
    return rank_among_not_updated < limit - landed - in_flight
