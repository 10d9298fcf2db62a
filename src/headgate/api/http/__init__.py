"""From bytes to a checked call, and from what a handler says to an answer; OpenAPI and pages about it."""
