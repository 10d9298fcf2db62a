"""From a definition to a graph that can be reconciled: types, expressions, schemas."""
