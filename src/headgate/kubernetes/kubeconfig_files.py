"""Kubeconfig files as they are written, and several of them put together as kubectl does it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import yaml

from headgate.kernel.documents import describe
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.exec_plugins import ExecPlugin

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MISPLACED = re.compile(r"(?P<reason>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?", re.DOTALL)


class KubeconfigCluster(msgspec.Struct, frozen=True, rename="kebab"):
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False


class KubeconfigUser(msgspec.Struct, frozen=True, rename="kebab"):
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    as_user: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: list[str] | None = None
    as_user_extra: dict[str, list[str]] | None = None
    auth_provider: dict[str, Any] | None = None
    exec_plugin: ExecPlugin | None = msgspec.field(default=None, name="exec")


class KubeconfigContext(msgspec.Struct, frozen=True, rename="kebab"):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


EntryT = TypeVar("EntryT", bound=msgspec.Struct)


class KubeconfigEntry(msgspec.Struct, Generic[EntryT], frozen=True):
    """A cluster, user or context with the file it is from, beside which its relative paths are."""

    file: Path
    place: str
    value: EntryT

    def field(self, name: str) -> str:
        return f"{self.file}: {self.place}.{name}"

    def beside(self, path: str) -> Path:
        return self.file.parent / path


class Kubeconfig(msgspec.Struct, frozen=True):
    """All files together: of two entries with the same name the one of the earlier file counts, whole."""

    files: tuple[Path, ...]
    current_context: str = ""
    clusters: Mapping[str, KubeconfigEntry[KubeconfigCluster]] = {}
    users: Mapping[str, KubeconfigEntry[KubeconfigUser]] = {}
    contexts: Mapping[str, KubeconfigEntry[KubeconfigContext]] = {}


def read_all(files: Sequence[Path]) -> Kubeconfig:
    """Files that are not there are left out. Raises Rejected with every problem of those that are."""
    problems: list[Problem] = []
    documents: list[tuple[Path, Mapping[str, Any]]] = []
    for file in dict.fromkeys(files):
        document = _document(file, problems)
        if document is not None:
            documents.append((file, document))
    current = [
        text for file, document in documents if (text := _text(file, document, "current-context", problems))
    ]
    merged = Kubeconfig(
        files=tuple(file for file, _ in documents),
        current_context=current[0] if current else "",
        clusters=_merged(documents, "clusters", "cluster", KubeconfigCluster, problems),
        users=_merged(documents, "users", "user", KubeconfigUser, problems),
        contexts=_merged(documents, "contexts", "context", KubeconfigContext, problems),
    )
    if problems:
        raise Rejected(problems)
    return merged


def _document(file: Path, problems: list[Problem]) -> Mapping[str, Any] | None:
    try:
        document = yaml.load(file.read_text("utf-8"), Loader=_LOADER)
    except FileNotFoundError:
        return None
    except OSError as error:
        problems.append(
            Problem(str(file), f"cannot be read: {(error.strerror or type(error).__name__).lower()}")
        )
        return None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        problems.append(Problem(str(file), f"is not YAML: {' '.join(str(error).split())}"))
        return None
    if document is None:
        return {}
    if not isinstance(document, dict):
        problems.append(
            Problem(str(file), f"must be a map with clusters, users and contexts, not {describe(document)}")
        )
        return None
    return document


def _text(file: Path, document: Mapping[str, Any], key: str, problems: list[Problem]) -> str:
    text = document.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        problems.append(Problem(f"{file}: {key}", f"must be text, not {describe(text)}"))
        return ""
    return text


def _merged(
    documents: Sequence[tuple[Path, Mapping[str, Any]]],
    section: str,
    key: str,
    kind: type[EntryT],
    problems: list[Problem],
) -> dict[str, KubeconfigEntry[EntryT]]:
    merged: dict[str, KubeconfigEntry[EntryT]] = {}
    for file, document in documents:
        for name, place, value in _named(file, document, section, key, problems):
            if name in merged:
                continue
            try:
                read = msgspec.convert({} if value is None else value, kind)
            except msgspec.ValidationError as error:
                problems.append(_problem(file, place, error))
                continue
            merged[name] = KubeconfigEntry(file, place, read)
    return merged


def _named(
    file: Path, document: Mapping[str, Any], section: str, key: str, problems: list[Problem]
) -> Iterator[tuple[str, str, Any]]:
    """Of two entries with the same name in one file kubectl takes the first."""
    items = document.get(section)
    if items is None:
        return
    if not isinstance(items, list):
        problems.append(Problem(f"{file}: {section}", f"must be a list, not {describe(items)}"))
        return
    for index, item in enumerate(items):
        place = f"{section}[{index}]"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            problems.append(Problem(f"{file}: {place}", f"must be a map with a name and a {key}"))
            continue
        yield item["name"], f"{place}.{key}", item.get(key)


def _problem(file: Path, place: str, error: msgspec.ValidationError) -> Problem:
    match = _MISPLACED.fullmatch(str(error))
    path = match.group("path") if match else None
    reason = match.group("reason") if match else str(error)
    return Problem(
        f"{file}: {place}{'.' + path if path else ''}", f"does not fit: {reason[:1].lower()}{reason[1:]}"
    )
