"""From a set to its objects: revisions, gangs, what starts after what."""
