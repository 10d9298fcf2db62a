"""Commands that somebody is offered, to be pasted into a shell: whatever a name is called, it is one word there, and
never an option.

What is quoted means the same to bash, zsh and fish: backslashes stand outside of quotes, because fish reads them inside.
"""

import re
from collections.abc import Sequence

PROGRAM = "headgate"
END_OF_OPTIONS = "--"
_PLAIN = re.compile(r"[\w\-./:@%+=,]+")
_EXPANDED_AT_THE_START = ("=", "%")
"""By zsh to the place of a command, by old versions of fish to that of a job."""
_SPECIAL_IN_QUOTES = re.compile(r"['\\]")
_WORD = re.compile(r"(?:[^\s'\\]|\\.|'[^']*')+")


def command_line(action: str, *names: str, options: Sequence[str] = ()) -> str:
    """With the names first, as people write it, unless one of them looks like an option."""
    words = [word(name) for name in names]
    ahead = [word(option) for option in options]
    if any(name.startswith("-") for name in names):
        return " ".join([PROGRAM, action, *ahead, END_OF_OPTIONS, *words])
    return " ".join([PROGRAM, action, *words, *ahead])


def with_options(command: str, options: Sequence[str]) -> str:
    """A command that was composed here, with more options."""
    if not options:
        return command
    words = _WORD.findall(command)
    place = words.index(END_OF_OPTIONS) if END_OF_OPTIONS in words else len(words)
    return " ".join([*words[:place], *map(word, options), *words[place:]])


def word(text: str) -> str:
    """As a shell takes it: as it is where that can be typed. What no terminal should be given is shown as it is escaped in
    Python, and names nothing."""
    if is_plain(text):
        return text
    printable = "".join(_printable(character) for character in text)
    return "'" + _SPECIAL_IN_QUOTES.sub(lambda special: f"'\\{special[0]}'", printable) + "'"


def is_plain(text: str) -> bool:
    """Whether a shell takes it as it is."""
    return (
        _PLAIN.fullmatch(text) is not None
        and text != END_OF_OPTIONS
        and not text.startswith(_EXPANDED_AT_THE_START)
    )


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
