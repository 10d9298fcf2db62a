"""What a scenario says, step by step, and what comes of playing it."""
