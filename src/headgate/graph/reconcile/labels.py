"""Labels, annotations and finalizers by which a graph knows its objects again."""

OWNED = "kro.run/owned"
DEFINITION_NAME = "kro.run/resource-graph-definition-name"
DEFINITION_ID = "kro.run/resource-graph-definition-id"
INSTANCE_ID = "kro.run/instance-id"
INSTANCE_NAME = "kro.run/instance-name"
INSTANCE_NAMESPACE = "kro.run/instance-namespace"
INSTANCE_KIND = "kro.run/instance-kind"
NODE_ID = "kro.run/node-id"
COLLECTION_INDEX = "kro.run/collection-index"
COLLECTION_SIZE = "kro.run/collection-size"
MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "headgate"

FINALIZER = "kro.run/finalizer"
RECONCILE = "kro.run/reconcile"
SUSPENDED = ("suspended", "disabled")

REVISION = "headgate.dev/revision"
"""On an object: the number of the revision that last wrote it. As a label on a revision: its own."""
CONTENT = "headgate.dev/content"
"""On an object: the hash of the content that was last written into it."""
STARTED_ON = "headgate.dev/started-on"
"""On an instance: the graph revision that it was created on, which no propagation brought it to."""
PROPAGATION = "headgate.dev/propagation"
PAUSED = "paused"
ABORT = "headgate.dev/abort"
"""On a definition: the graph revision that was given up. On an instance: the revision of its own."""
DELETION = "headgate.dev/deletion"
"""On a definition: what becomes of its instances when it is deleted."""
CASCADE = "cascade"
"""They are deleted, and the definition goes after them; its kind stays."""
CASCADE_WITH_KIND = "cascade-with-kind"
"""And its kind goes too."""
APPLY_ORDER = "internal.kro.run/apply-order"


def is_paused(annotations: dict[str, str]) -> bool:
    return annotations.get(PROPAGATION, "").lower() == PAUSED


def is_given_up(annotations: dict[str, str], number: int) -> bool:
    """A number comes once, so an order is about what it was given for and nothing later."""
    return annotations.get(ABORT) == str(number)


def is_suspended(annotations: dict[str, str]) -> bool:
    return annotations.get(RECONCILE, "").lower() in SUSPENDED
