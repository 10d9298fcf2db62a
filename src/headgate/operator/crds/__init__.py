"""The CustomResourceDefinitions of the operator's own kinds. Those of graphs' instances come from their definitions."""

from collections.abc import Sequence
from typing import Any

from headgate.operator.crds import graphs, workloads
from headgate.operator.crds.kinds import CustomKind

ALL: tuple[CustomKind, ...] = (*workloads.KINDS, *graphs.KINDS)


def documents(kinds: Sequence[CustomKind] = ALL) -> list[dict[str, Any]]:
    """As they are applied to a cluster."""
    return [kind.document() for kind in kinds]
