"""The graph level: resource graphs whose changes propagate object by object under gates."""
