"""The signals that gates of graphs read on a cluster: the entries of one ConfigMap in the operator's own namespace.

Whoever may write it there stops and starts propagations. What an alarm or a person last said is what counts, and a gate
that reads a signal nobody has set blocks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from headgate.cluster.port import ObjectChange
from headgate.kernel.objects import Object
from headgate.kubernetes.client import Client
from headgate.kubernetes.reflector import Reflector
from headgate.kubernetes.resources import ApiResource
from headgate.operator.installation import settings

CONFIG_MAPS = ApiResource("", "v1", "ConfigMap", "configmaps")


class ClusterSignals:
    """`changed` is called when a value is another."""

    def __init__(self, client: Client, namespace: str, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.values: Mapping[str, object] = {}
        self.reflector = Reflector(
            client, CONFIG_MAPS, self, namespace=namespace, fields=f"metadata.name={settings.SIGNALS}"
        )

    def observe(self, change: ObjectChange) -> None:
        self._take(None if change.kind == "deleted" else change.object)

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        self._take(next(iter(items), None))

    def _take(self, item: Object | None) -> None:
        values = {} if item is None else read(item)
        if values != self.values:
            self.values = values
            self._changed()


def read(item: Object) -> dict[str, object]:
    data = item.other.get("data")
    return {str(name): _value(text) for name, text in data.items()} if isinstance(data, Mapping) else {}


def _value(text: object) -> object:
    """`true`, `3` and `"3"` are what they are in JSON; any other text is itself."""
    try:
        value: object = json.loads(str(text))
    except (ValueError, RecursionError):
        return str(text)
    return value
