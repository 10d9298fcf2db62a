"""Which server a command talks to: options, the environment, the configuration file, or a local server's own note."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from headgate.cli import exit_codes, failures

LOCAL_NOTE = Path(".headgate") / "local.json"
"""Written by `headgate up` beside its data, so that commands in the same folder and below it find it."""


class Connection(msgspec.Struct, frozen=True):
    url: str
    token: str | None = None
    workspace: str | None = None


class ServerContext(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    server: str
    token: str | None = None
    workspace: str | None = None


class Contexts(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    current: str | None = None
    contexts: dict[str, ServerContext] = {}


def path(environment: Mapping[str, str] = os.environ) -> Path:
    if environment.get("HEADGATE_CONFIG"):
        return Path(environment["HEADGATE_CONFIG"])
    base = environment.get("XDG_CONFIG_HOME")
    folder = Path(base) if base else Path.home() / ".config"
    return folder / "headgate" / "config.yaml"


def load() -> Contexts:
    import yaml

    file = path()
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return Contexts()
    except (OSError, UnicodeDecodeError) as error:
        raise failures.misused(f"{file}: cannot be read: {error}") from None
    try:
        contexts = msgspec.convert(yaml.safe_load(text) or {}, Contexts)
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        problem = " ".join(str(error).split())
        raise failures.misused(f"{file}: is not a configuration of headgate: {problem}") from None
    _warn_if_others_can_read(file, contexts)
    return contexts


def _warn_if_others_can_read(file: Path, contexts: Contexts) -> None:
    mode = stat.S_IMODE(file.stat().st_mode)
    if mode & 0o077 and any(context.token for context in contexts.contexts.values()):
        click.echo(
            f"{file}: others can read the tokens in it (mode {mode:04o}); run: chmod 600 {file}", err=True
        )


def save(contexts: Contexts) -> None:
    """The file is there whole or not at all, and never readable by others, not even for a moment."""
    import yaml

    file = path()
    text = yaml.safe_dump(msgspec.to_builtins(contexts), sort_keys=False, allow_unicode=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        beside.unlink(missing_ok=True)
        with open(
            os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as output:
            output.write(text)
        os.replace(beside, file)
    except OSError as error:
        raise failures.CommandFailure(f"{file}: cannot be written: {error.strerror or error}") from None


def resolve(
    server: str | None = None,
    token: str | None = None,
    workspace: str | None = None,
    context: str | None = None,
) -> Connection:
    """Options win over the environment, the environment over the file, the file over a local server's note.

    A context that is asked for by option silences the environment. A token is only sent to the server it was stored for.
    """
    settings: Mapping[str, str] = {} if context else os.environ
    chosen = _chosen(server or settings.get("HEADGATE_URL"), context or settings.get("HEADGATE_CONTEXT"))
    given = server or settings.get("HEADGATE_URL")
    url = address(given or chosen.server, "--server" if server else "HEADGATE_URL" if given else "server")
    stored = chosen if not given or url == chosen.server.rstrip("/") else ServerContext("")
    secret = token or settings.get("HEADGATE_TOKEN") or stored.token
    return Connection(
        url,
        checked_token(secret) if secret else None,
        workspace or settings.get("HEADGATE_WORKSPACE") or stored.workspace,
    )


def _chosen(given_url: str | None, name: str | None) -> ServerContext:
    if given_url and not name:
        known = [] if not path().exists() else list(load().contexts.values())
        same = [one for one in known if one.server.rstrip("/") == given_url.rstrip("/")]
        return same[0] if same else _local_note() or ServerContext("")
    contexts = load()
    name = name or contexts.current
    if name:
        return named(contexts, name)
    note = _local_note()
    if note is None:
        raise failures.misused(
            "no server is configured: give --server URL or HEADGATE_URL, store one with "
            "`headgate login --server URL`, or start one here with `headgate up`"
        )
    return note


def named(contexts: Contexts, name: str) -> ServerContext:
    if name not in contexts.contexts:
        known = ", ".join(sorted(contexts.contexts)) or "none; add one with `headgate context add`"
        raise failures.misused(f"there is no context {name} in {path()}; known are {known}")
    return contexts.contexts[name]


def _local_note() -> ServerContext | None:
    file = _nearest_note(Path.cwd())
    if file is None:
        return None
    try:
        note: Any = json.loads(file.read_text("utf-8"))
        return ServerContext(note["url"], note.get("token"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise failures.misused(
            f"{file}: cannot be read; `headgate up` writes it anew, or give --server URL"
        ) from None


def _nearest_note(folder: Path) -> Path | None:
    """In this folder or one above it. Somebody else's note is passed by: it would lead commands, and the token of the
    environment with them, to a server of their choice."""
    for place in (folder, *folder.parents):
        file = place / LOCAL_NOTE
        try:
            if file.stat().st_uid == os.getuid():
                return file if place != folder else LOCAL_NOTE
        except OSError:
            continue
    return None


def address(text: str, field: str) -> str:
    """Without a slash at its end, because paths are put behind it."""
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine or not plain:
        raise failures.CommandFailure(
            f'{field}: is "{text}"; allowed are addresses such as https://headgate.example.com '
            "or http://127.0.0.1:8080",
            exit_codes.UNREADABLE,
        )
    return text.rstrip("/")


def checked_token(token: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise failures.misused(
            "the token has characters that no token has; copy it again without spaces or line breaks"
        )
    return token
