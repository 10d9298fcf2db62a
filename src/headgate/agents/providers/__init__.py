"""Where measurements come from, one module a provider."""
