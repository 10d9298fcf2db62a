"""The conditions that the objects of a set have."""

BREACHED = "MinAvailableBreached"
SCHEDULED = "PodCliqueScheduled"
PROGRESSING = "Progressing"
AVAILABLE = "Available"
