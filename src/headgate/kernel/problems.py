"""Why a document is refused: every reason at once, each with the place it is about.

Whoever has to mend a document wants to do it once.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec


class Problem(msgspec.Struct, frozen=True, order=True):
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Rejected(Exception):  # noqa: N818 - it reads as what happened to the document
    """Nothing of the document was taken: `problems` is never empty."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(_printable(problem) for problem in problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def renamed(self, rename: Callable[[str], str]) -> "Rejected":
        """The same by other paths: those of the document that its author wrote."""
        return Rejected(Problem(rename(one.path), one.message) for one in self.problems)


@contextmanager
def renamed(rename: Callable[[str], str]) -> Iterator[None]:
    """What is refused inside is named by other paths."""
    try:
        yield
    except Rejected as rejected:
        raise rejected.renamed(rename) from None


def below(path: str) -> Callable[[str], str]:
    """Paths of a part of a document, as paths of the whole."""
    return lambda rest: f"{path}{rest}" if not path or not rest or rest.startswith("[") else f"{path}.{rest}"


def _printable(problem: Problem) -> Problem:
    """A problem may quote the very text that cannot be encoded; the answer must be encodable all the same."""
    return Problem(
        problem.path.encode("utf-8", "backslashreplace").decode(),
        problem.message.encode("utf-8", "backslashreplace").decode(),
    )
