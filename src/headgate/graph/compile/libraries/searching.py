"""find and findAll: what a regular expression matches in a text."""

from headgate import cel
from headgate.cel.library import regex


def find(text: str, pattern: str) -> str:
    """The first match, or an empty string."""
    match = regex.compiled(pattern).search(text)
    return str(match.group(0)) if match is not None else ""


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    matches: list[str] = []
    for match in regex.compiled(pattern).finditer(text):
        if 0 <= limit <= len(matches):
            break
        matches.append(match.group(0))
    return matches


_TEXTS = cel.list_of(cel.STRING)

FUNCTIONS = (
    cel.Function("find", (cel.STRING, cel.STRING), cel.STRING, find, member=True),
    cel.Function("findAll", (cel.STRING, cel.STRING), _TEXTS, find_all, member=True),
    cel.Function("findAll", (cel.STRING, cel.STRING, cel.INT), _TEXTS, find_all, member=True),
)
