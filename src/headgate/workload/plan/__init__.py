"""One pass over a set: what is there, which budget is left, what is done next, and what the status says."""
