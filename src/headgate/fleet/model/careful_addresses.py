"""Addresses with expressions in them: what others wrote cannot say where a request goes."""

from __future__ import annotations

import re

from headgate.cel.interpolation import OPENING
from headgate.fleet.model import job_configs
from headgate.fleet.model.careful_texts import MARK, Problems, parts_of, render, template_of
from headgate.fleet.model.job_configs import ConfigBindings
from headgate.kernel.problems import Problem

_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")
_PRIVATE_DOMAINS = frozenset({"internal", "local", "localhost", "test", "example", "invalid", "lan", "svc"})
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_AFTER_THE_HOST = re.compile(r"[/?#\\]")


def check(text: str, path: str, problems: Problems, *, host_is_free: bool = False) -> None:
    """What is wrong with the places of expressions, whatever they give."""
    parts = parts_of(text, path, problems)
    if not any(part.is_expression for part in parts):
        return
    template = template_of(parts)
    scheme, separator, rest = template.partition("://")
    authority = _AFTER_THE_HOST.split(rest, maxsplit=1)[0]
    if not separator or MARK in scheme:
        problems.append(
            Problem(path, "begins with an expression; allowed is one that begins with http:// or https://")
        )
    elif MARK in authority and not host_is_free and not _is_below_a_domain(authority):
        problems.append(
            Problem(
                path,
                "has an expression in its host; allowed is one label in front of a domain that is written out, as in "
                "https://${resource.name}.deploy.example.com, so that nobody else can say where the request goes",
            )
        )
    elif MARK in authority and "@" in authority:
        problems.append(Problem(path, "has a user in its host beside an expression; allowed is a host alone"))


def _is_below_a_domain(authority: str) -> bool:
    host, _, port = authority.partition(":")
    domain = host.rpartition(MARK)[2].partition(".")[2]
    labels = domain.split(".")
    is_private = len(labels) == 1 and labels[0].lower() in _PRIVATE_DOMAINS
    return (
        MARK not in port
        and "@" not in authority
        and all(labels)
        and bool(domain)
        and (len(labels) > 1 or is_private)
    )


def resolve(
    text: str, bindings: ConfigBindings, path: str, problems: Problems, *, host_is_free: bool = False
) -> str:
    """The address; a value is one label of its host, or stands percent-encoded in one segment or in the query."""
    count_before = len(problems)
    check(text, path, problems, host_is_free=host_is_free)
    parts = parts_of(text, path, problems)
    if len(problems) > count_before:
        return text
    so_far = marked = ""
    for part in parts:
        if not part.is_expression:
            so_far, marked = so_far + part.text, marked + part.text
            continue
        value = job_configs.text_of(part, bindings, path, problems)
        is_in_host = not _AFTER_THE_HOST.search(marked.partition("://")[2])
        pattern = _HOST if host_is_free else _LABEL
        if is_in_host and not pattern.fullmatch(value):
            what = "a host name" if host_is_free else "one label of a host name"
            problems.append(
                Problem(path, f"${{{part.text}}}: gives {render(value)}; in a host {what} is allowed")
            )
        so_far += value if is_in_host else _encoded(value)
        marked += MARK
    _refuse_steps(text, so_far, path, problems)
    return so_far


def _refuse_steps(text: str, result: str, path: str, problems: Problems) -> None:
    """A segment that is empty, one dot or two leads to another place than the one that was written."""
    if OPENING not in text:
        return
    written = re.split(r"[?#]", result.partition("://")[2], maxsplit=1)[0]
    if any(segment in (".", "..") for segment in written.split("/")[1:]):
        problems.append(
            Problem(path, "would have a segment . or .. in its path, by what an expression gives")
        )
    if "//" in written:
        problems.append(Problem(path, "would have an empty segment in its path, by what an expression gives"))


def _encoded(value: str) -> str:
    return "".join(
        chr(byte) if byte in _UNRESERVED else f"%{byte:02X}"
        for byte in value.encode("utf-8", "surrogatepass")
    )
