"""Who may fill which field of a job's config.

The agent's owner writes addresses, credentials and commands, and nobody else: whoever may publish a version must not be
able to have the agent's token sent to an address of their own. Deployments and versions fill what the agent opens.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping

from headgate.kernel.documents import field_path
from headgate.kernel.problems import Problem

HIDDEN = "***"
_ALWAYS = ("timeoutSeconds",)
OPEN_BY_DEFAULT: Mapping[str, tuple[str, ...]] = {
    "exec": ("parameters", *_ALWAYS),
    "http": ("parameters", *_ALWAYS),
    "github": ("ref", "inputs", *_ALWAYS),
    "argocd": ("revision", *_ALWAYS),
    "kubernetes": ("parameters", *_ALWAYS),
    "kubernetes-node": _ALWAYS,
    "graph": _ALWAYS,
    "workload": _ALWAYS,
}
"""By type of agent: what a change is about, and never where it goes or what it runs."""
OPEN_FOR_OTHERS = ("ref", "inputs", "image", "parameters", *_ALWAYS)

_ADDRESSES = {
    "address",
    "addresses",
    "allowednodes",
    "endpoint",
    "endpoints",
    "host",
    "hostname",
    "hosts",
    "kubecontext",
    "proxy",
    "server",
    "servers",
}
_ADDRESSES |= {"uri", "url", "urls", "webhook"}
_CREDENTIALS = {
    "apikey",
    "auth",
    "authorization",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "header",
    "headers",
}
_CREDENTIALS |= {"accesskey", "encryptionkey", "passphrase", "pwd", "signingkey"}
_CREDENTIALS |= {"kubeconfig", "passwd", "password", "privatekey", "secret", "secrets", "token", "tokens"}
_ALSO_SECRET = frozenset({"bearer", "connectionstring", "pat", "pem", "sas", "webhook"})
"""Hidden as credentials are. Deployments may fill them: as parts of names they also stand for other things."""
_TRUST = {"ca", "cert", "certificate", "certificates", "insecure", "ssl", "tls", "unsafe", "verify"}
_COMMANDS = {
    "args",
    "arguments",
    "command",
    "commands",
    "directory",
    "entrypoint",
    "env",
    "executable",
    "instancetemplate",
    "jobtemplate",
    "script",
    "settemplate",
    "shell",
}
_OWNERS_WORDS = frozenset(_ADDRESSES | _CREDENTIALS | _TRUST | _COMMANDS)
_SECRET_ENDINGS = ("token", "secret", "password", "headers")
_OWNERS_ENDINGS = ("url", "uri", "token", "secret", "password", "header", "headers", "command")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def is_owners(field: str) -> bool:
    """An address, a header, a credential, a name of an environment variable, an option of TLS or a command.

    Told by the words of its name, so that it holds for fields that an agent of somebody else's making reads.
    """
    if not field.isascii():
        return True
    words = [word.lower() for word in _WORD.findall(field)]
    return field.lower().endswith(_OWNERS_ENDINGS) or any(
        word in _OWNERS_WORDS for word in (field.lower(), *words)
    )


def is_secret(field: str) -> bool:
    """A credential itself, not the name of the variable that holds it."""
    words = [word.lower() for word in _WORD.findall(field)]
    pairs = [first + second for first, second in itertools.pairwise(words)]
    is_credential = field.lower().endswith(_SECRET_ENDINGS) or any(
        word in _CREDENTIALS or word in _ALSO_SECRET for word in (*words, *pairs)
    )
    return is_credential and words[-1:] != ["env"]


def is_secret_in(owner: Mapping[str, object], field: str) -> bool:
    """Also the value of an entry that has a name beside it, as variables of containers and headers are written."""
    name = owner.get("name")
    return is_secret(str(field)) or (field == "value" and isinstance(name, str) and is_secret(name))


def check_overridable(fields: Iterable[str], path: str, problems: list[Problem]) -> None:
    for index, field in enumerate(fields):
        if is_owners(field):
            problems.append(
                Problem(
                    f"{path}[{index}]",
                    f'is "{field}"; addresses, headers, credentials, environment variables, TLS options and commands '
                    "are the agent's own and cannot be opened; allowed are inputs such as ref, inputs, image, parameters",
                )
            )


def open_fields(agent_type: str, overridable: tuple[str, ...] | None) -> tuple[str, ...]:
    if overridable is None:
        return OPEN_BY_DEFAULT.get(agent_type, OPEN_FOR_OTHERS)
    return tuple(field for field in overridable if not is_owners(field))


def closed_problems(
    config: Mapping[str, object], opened: Iterable[str] | None, path: str = "spec.jobAgentConfig"
) -> list[Problem]:
    """Of a deployment's or a version's config, what it must not set; `opened` is None while no agent is known."""
    allowed = None if opened is None else sorted(opened)
    return [
        Problem(field_path(path, field), _closed(field, allowed))
        for field in config
        if is_owners(field) or (allowed is not None and field not in allowed)
    ]


def _closed(field: str, opened: list[str] | None) -> str:
    whose = "is the job agent's own and is set in its config alone"
    if opened is None:
        return whose
    if not is_owners(field):
        whose = "is not open to deployments and versions"
    return f"{whose}; allowed are {', '.join(opened) or 'no fields'} (overridable of the job agent)"
