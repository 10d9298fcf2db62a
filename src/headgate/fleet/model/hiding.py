"""Documents without the credentials in them, for those who may not write them.

The one place that says what a credential is in what goes out: fields of job agents' configs by their names, at any depth;
headers and bodies of verification providers; and in every address the user and the values of its query and its fragment.
Which fields, headers and parameters there are stays to be seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from headgate.cel import interpolation
from headgate.fleet.model.agent_fields import HIDDEN, is_secret, is_secret_in
from headgate.kernel.documents import field_path
from headgate.kernel.problems import Problem

_MARK = re.compile("\0(\\d+)\0")
"""Stands for an expression, which is no secret, while the text around it is looked at."""
_USER = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
"""To the last @ before the path, which is where the host begins for those who call it."""
_QUERY = re.compile(r"://[^\s?#]*\?([^\s#]*)")
_FRAGMENT = re.compile(r"://[^\s#]*#(\S*)")
_HIDDEN_PART = re.compile(r"://\*\*\*@|[?#&;=]\*\*\*")
_PARAMETER = re.compile(r"([^&;=]*=|)([^&;]+)")


def without_secrets(kind: str, document: Any) -> Any:
    """Of an object of the kind, flat or as a manifest, or of a part of it."""
    if kind not in _HIDING:
        return document
    if isinstance(document, list):
        return [without_secrets(kind, item) for item in document]
    if not isinstance(document, dict):
        return document
    field, hide = _HIDING[kind]
    return {
        key: hide(item) if key == field else without_secrets(kind, item) for key, item in document.items()
    }


def has_secrets(kind: str) -> bool:
    """Whether objects of the kind may have any."""
    return kind in _HIDING


def of_address(text: str) -> str:
    """Also where it stands in the midst of a longer text, such as a command."""
    if "://" not in text:
        return text
    try:
        parts = interpolation.parts_of(text)
    except interpolation.InterpolationError:
        parts = (interpolation.InterpolatedPart(text, False, 0),)
    marked = "".join(
        f"\0{number}\0" if part.is_expression else part.text.replace("\0", "")
        for number, part in enumerate(parts)
    )
    hidden = _USER.sub(HIDDEN, marked)
    for part in (_QUERY, _FRAGMENT):
        hidden = part.sub(_without_values, hidden)
    return _MARK.sub(lambda mark: f"${{{parts[int(mark[1])].text}}}", hidden)


def has_user(address: str) -> bool:
    return _USER.search(address) is not None


def _without_values(match: re.Match[str]) -> str:
    without_defaults = _PARAMETER.sub(_without_value, match[1])
    return match[0][: match.start(1) - match.start()] + without_defaults


def _without_value(parameter: re.Match[str]) -> str:
    """A value that is an expression and nothing else says what it is by itself."""
    return parameter[0] if _MARK.fullmatch(parameter[2]) else f"{parameter[1]}{HIDDEN}"


def has_hidden(value: object, *, is_secret_itself: bool = False) -> bool:
    """Whether it is, or an address in it has, what stands for a secret that was not shown."""
    if not isinstance(value, str) or HIDDEN not in value:
        return False
    return (is_secret_itself and value.startswith(HIDDEN)) or bool(
        "://" in value and _HIDDEN_PART.search(value)
    )


def _has_hidden_inside(value: object, is_secret_itself: bool) -> bool:
    if isinstance(value, Mapping):
        return any(
            _has_hidden_inside(item, is_secret_itself or is_secret_in(value, key))
            for key, item in value.items()
        )
    if isinstance(value, list | tuple):
        return any(_has_hidden_inside(item, is_secret_itself) for item in value)
    return has_hidden(value, is_secret_itself=is_secret_itself)


def check(config: Mapping[str, object], path: str, problems: list[Problem]) -> None:
    """What was read without its secrets is not written back over them."""
    for field, value in config.items():
        if _has_hidden_inside(value, is_secret(field)):
            message = f'has "{HIDDEN}", which stands for a secret that was not shown; allowed is the secret, or its variable'
            problems.append(Problem(field_path(path, field), message))


def of_config(value: Any) -> Any:
    """Of a job agent, or what a deployment or a version adds to it."""
    if isinstance(value, Mapping):
        return {
            key: _secret(item) if is_secret_in(value, key) else of_config(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [of_config(item) for item in value]
    return of_address(value) if isinstance(value, str) else value


def _secret(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _secret(item) for key, item in value.items()}
    return None if value is None else HIDDEN


def _provider(provider: Any) -> Any:
    if not isinstance(provider, dict):
        return provider
    hidden = {key: of_address(item) if isinstance(item, str) else item for key, item in provider.items()}
    if isinstance(provider.get("headers"), dict):
        hidden["headers"] = dict.fromkeys(provider["headers"], HIDDEN)
    if provider.get("body") is not None:
        hidden["body"] = HIDDEN
    return hidden


_HIDING: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "JobAgent": ("config", of_config),
    "Deployment": ("jobAgentConfig", of_config),
    "Version": ("jobAgentConfig", of_config),
    "Policy": ("provider", _provider),
}


def telling_changes(before: Any, after: Any, hidden: Any) -> Any:
    """`shown` is `after` without its secrets: one that differs from that of `before` says so, and not how."""
    if isinstance(after, dict) and isinstance(hidden, dict):
        old = before if isinstance(before, dict) else {}
        return {key: telling_changes(old.get(key), after[key], hidden[key]) for key in after}
    if isinstance(after, list) and isinstance(hidden, list):
        olds = _counterparts(before if isinstance(before, list) else [], after)
        return [telling_changes(*three) for three in zip(olds, after, hidden, strict=True)]
    is_hidden = hidden != after or has_hidden(after, is_secret_itself=True)
    return f"{hidden} (another one)" if is_hidden and before != after else hidden


def _counterparts(before: list[Any], after: list[Any]) -> list[Any]:
    """Those with ids are followed by their ids, others by their places."""
    by_id = {item["id"]: item for item in before if isinstance(item, dict) and "id" in item}
    places: list[Any] = [*before, *[None] * len(after)]
    return [
        by_id.get(item["id"]) if isinstance(item, dict) and "id" in item else places[index]
        for index, item in enumerate(after)
    ]
