"""A look at a cluster from outside: the same objects as the controllers hear of, the same planners, and no write but what
people order."""
