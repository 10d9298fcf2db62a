"""What ends a command other than well: sentences for standard error, and the exit code that says which kind it is."""

from collections.abc import Sequence

from headgate.cli import exit_codes


class CommandFailure(Exception):  # noqa: N818 - it is an ending, mostly of somebody else's making
    """Sentences say what is wrong and what to do."""

    def __init__(self, sentences: str | Sequence[object], code: int = exit_codes.FAILED) -> None:
        self.sentences = [sentences] if isinstance(sentences, str) else [str(one) for one in sentences]
        self.code = code
        super().__init__("\n".join(self.sentences))


def misused(sentence: str) -> CommandFailure:
    return CommandFailure(sentence, exit_codes.UNREADABLE)
