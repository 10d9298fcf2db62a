"""A driver in a test is watched by nobody: what it wrote is seen in the store."""

from collections.abc import Sequence

from headgate.cluster.cache import ObjectCache
from headgate.kernel.objects import Action, Key


class UnobservedCluster:
    def restarted(self, cache: ObjectCache) -> None: ...

    def planned(self, request: Key, plan: object, now: int) -> None: ...

    def written(self, request: Key, actions: Sequence[Action], now: int) -> None: ...
