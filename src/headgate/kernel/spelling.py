"""Names that somebody may have meant: looked for only where that is quick, because others wait meanwhile."""

import difflib
from collections.abc import Collection

MOST_NAMES = 2_000
MOST_COMPARED = 400_000
"""Characters of the name, times those of all that it is compared with: some hundredths of a second."""


def closest(name: str, known: Collection[str]) -> str | None:
    """The one most like it. None if there is none, or if they are too many or too long to be compared."""
    if len(known) > MOST_NAMES or len(name) * sum(map(len, known)) > MOST_COMPARED:
        return None
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)
