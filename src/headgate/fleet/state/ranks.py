"""Ranks of a bracket's resources, counted over the whole bracket."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headgate.fleet.state.units import Site
from headgate.kernel import identifiers


class BracketRanks:
    """One bracket rule's order: by hash of the resource's id and the rule's id, ties by resource id.

    The members of a resource share one position even when deployments target different sets of resources.
    """

    def __init__(self) -> None:
        self._ranks: dict[tuple[str, ...], dict[str, int]] = {}

    def position(
        self,
        site: Site,
        scope: tuple[str, ...],
        sites: Iterable[Site],
        concerns: Callable[[Site], bool],
    ) -> tuple[int, int]:
        """Rank of the site's resource, and how many there are. `scope` names the set that `concerns` picks out."""
        ranks = self._ranks.get(scope)
        if ranks is None:
            hashes = {
                other.resource.object.id: identifiers.fnv1a_64(other.resource.object.id + other.rule.id)
                for other in sites
                if concerns(other)
            }
            ranks = self._ranks[scope] = identifiers.rank(hashes.items())
        return ranks.get(site.resource.object.id, len(ranks)), len(ranks)
