"""What a unit does next: one target outside brackets, or the members of a bracket on one resource together."""
