"""What can go wrong with an expression: before it runs (CompileError) and while it runs (EvaluationError)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """One reason for which an expression is refused; line and column count from 1, in characters."""

    message: str
    line: int
    column: int


class CompileError(Exception):
    """The expression is malformed: nothing of it was accepted."""

    def __init__(self, text: str, problems: tuple[SyntaxProblem, ...]) -> None:
        super().__init__(text, problems)
        self.text = text
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(_rendered(problem, self.text) for problem in self.problems)


class EvaluationError(Exception):
    """A CEL run-time error; logic operators may absorb it, everything else passes it on."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class MissingKey(EvaluationError):  # noqa: N818
    """A key, field or variable that is not there."""


class BudgetExceeded(EvaluationError):  # noqa: N818
    """The evaluation was stopped for its cost; no operator absorbs this."""


SHOWN_CHARACTERS = 160


def _rendered(problem: SyntaxProblem, text: str) -> str:
    lines = text.splitlines() or [""]
    line = lines[min(problem.line, len(lines)) - 1].replace("\t", " ")
    column = problem.column
    if len(line) > SHOWN_CHARACTERS:
        start = max(0, min(column - SHOWN_CHARACTERS // 2, len(line) - SHOWN_CHARACTERS))
        line, column = line[start : start + SHOWN_CHARACTERS], column - start
    return f"{problem.line}:{problem.column}: {problem.message}\n | {line}\n | {' ' * (column - 1)}^"
