"""The conditions that the objects of a set have."""

BREACHED = "MinAvailableBreached"
SCHEDULED = "PodCliqueScheduled"
PROGRESSING = "Progressing"
AVAILABLE = "Available"
TEMPLATES_FOUND = "ClaimTemplatesFound"
"""Of sets that refer to claim templates of the cluster."""
