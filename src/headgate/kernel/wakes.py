"""What can end a wait, beside the clock. A wake is built by one constructor, where it is waited for and where it happens."""

from typing import NewType

Wake = NewType("Wake", tuple[str, ...])
"""A topic and the names that narrow it down. Cheap to build and to look up: decisions make millions of them."""
