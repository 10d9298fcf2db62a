"""How a command ended, for whoever called it."""

OK = 0
FAILED = 1
UNREADABLE = 2
PROMISE_BROKEN = 3
UNREACHABLE = 4
NOT_ALLOWED = 5
INTERRUPTED = 130
"""As shells say it of a command that was ended with Ctrl-C."""
