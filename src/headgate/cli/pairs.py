"""Values on the command line: `KEY=VALUE` pairs, moments and lengths of time."""

import json
import time
from collections.abc import Iterable

from headgate.cli import failures
from headgate.kernel import instants
from headgate.kernel.instants import Instant


def split(option: str, texts: Iterable[str]) -> dict[str, str]:
    by_key: dict[str, str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise failures.misused(f'{option}: is "{text}"; allowed is KEY=VALUE')
        if key in by_key:
            raise failures.misused(f"{option}: {key} is given twice")
        by_key[key] = value
    return by_key


def values(option: str, texts: Iterable[str]) -> dict[str, object]:
    """A value that is JSON is taken as that, anything else as a string."""
    return {key: _value(text) for key, text in split(option, texts).items()}


def _value(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def now() -> Instant:
    return instants.seconds(time.time())


def expiry(length: str | None, until: str | None) -> str | None:
    """`--for` and `--until` as the moment when it is over."""
    if length is not None and until is not None:
        raise failures.misused("--for and --until: allowed is one of them")
    if length is not None:
        return instants.show(now() + duration("--for", length))
    if until is not None:
        end = moment("--until", until)
        if end <= now():
            raise failures.misused(f'--until: is "{until}", which is over; allowed is a time to come')
        return instants.show(end)
    return None


def duration(option: str, text: str) -> int:
    try:
        return instants.parse_duration(text)
    except ValueError as error:
        raise failures.misused(f"{option}: {error}") from None


def moment(option: str, text: str) -> Instant:
    try:
        return instants.parse(text)
    except ValueError as error:
        raise failures.misused(f"{option}: {error}") from None
