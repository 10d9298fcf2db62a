"""The HTTP API: routes, schemas, authentication, events."""
