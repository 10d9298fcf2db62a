"""What bash puts on the line when a name is completed. It takes words as they come: one that a shell would take apart, or run,
is quoted here. zsh and fish quote by themselves.
"""

from __future__ import annotations

import os
import re

from click import shell_completion
from click.shell_completion import CompletionItem

from headgate.kernel import command_lines

_NAME = "plain"
_READ_BY_THE_SCRIPT = re.compile(r"['\\*?\[]")
"""Click's script reads backslashes away, and looks for files where it finds these."""
_BEGUN = re.compile(r"'?[^'\"\\$`]*")
"""A word with nothing special in it so far, or with one quote before all of it, which bash does not double."""


class BashCompletion(shell_completion.BashComplete):
    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        offered = super().get_completions(args, incomplete)
        is_simple = _BEGUN.fullmatch(_typed()) is not None
        return [item for item in offered if _is_one_word(item, is_simple=is_simple)]

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Files and folders are found by bash itself."""
        value = command_lines.word(item.value) if item.type == _NAME else item.value
        return f"{item.type},{value}"


def _is_one_word(item: CompletionItem[str], *, is_simple: bool) -> bool:
    """Whether it can be put there so that it is; who wants another one types it."""
    if item.type != _NAME or command_lines.is_plain(item.value):
        return True
    return is_simple and _READ_BY_THE_SCRIPT.search(item.value) is None


def _typed() -> str:
    """From the word that is completed on, as it stands there: with its quotes."""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    return "\n".join(words[int(os.environ.get("COMP_CWORD", "0")) :] if len(words) > 1 else words)
