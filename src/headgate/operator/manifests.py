"""Everything that the operator needs on a cluster, in the order in which it can be applied."""

from __future__ import annotations

from typing import Any

from headgate.operator import crds
from headgate.operator.installation import deployment, roles, webhooks
from headgate.operator.installation.settings import Settings


def documents(given: Settings) -> list[dict[str, Any]]:
    """The webhooks come last: from then on our kinds are refused until the operator answers for them."""
    return [
        deployment.namespace(given),
        *crds.documents(),
        *roles.documents(given),
        *deployment.documents(given),
        *webhooks.documents(given),
    ]
