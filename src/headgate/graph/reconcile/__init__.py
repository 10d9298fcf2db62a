"""One pass over the instances of a graph: what is desired, what may change, what is written."""
