"""What stands at an index and may have to change: a pod, a replica of a group or of a set.

It is made anew for every pass and only counted, by `budgets`; units that stay and wait are the business of their level.
"""

import msgspec


class Unit(msgspec.Struct, frozen=True, gc=False):
    index: int
    is_available: bool
    is_outdated: bool = False
    is_going: bool = False
    """On its way out: it holds its index and is otherwise gone."""
    may_move: bool = True
    """Below the partition a unit keeps its revision; it is then as good as new."""
    age_rank: int = 0
    """Among available units the smaller goes first; equal ones go by index."""
