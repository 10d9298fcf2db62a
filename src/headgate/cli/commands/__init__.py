"""One file a command, or a few that belong together; imported when they are called."""
