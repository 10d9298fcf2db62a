"""From a kubeconfig, or from the pod one runs in, to the access to a cluster. Errors name the file and the field."""

from __future__ import annotations

import base64
import binascii
import os
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes import in_cluster, kubeconfig_files
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.exec_plugins import IdentityFromPlugin
from headgate.kubernetes.identities import (
    ApiIdentity,
    ClientCertificate,
    FixedIdentity,
    IdentityFile,
    IdentityFromFiles,
    IdentitySource,
)
from headgate.kubernetes.kubeconfig_files import (
    Kubeconfig,
    KubeconfigCluster,
    KubeconfigContext,
    KubeconfigEntry,
    KubeconfigUser,
)

VARIABLE = "KUBECONFIG"


def load(
    *,
    path: str | None = None,
    context: str | None = None,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> ClusterAccess:
    """By `path`, else by the files in KUBECONFIG, else by ~/.kube/config, else by the pod this runs in.

    `context` is the name of one; without it the current context counts. Raises Rejected.
    """
    given = os.environ if environ is None else environ
    files = _files(path, given, home)
    config = kubeconfig_files.read_all(files)
    if not config.files:
        if path is None and in_cluster.is_here(given):
            return in_cluster.load(given)
        message = "there is no such file; allowed is a kubeconfig, as kubectl reads it"
        raise Rejected([Problem(os.pathsep.join(str(file) for file in files), message)])
    return _Loading(config, given).access(context)


def _files(path: str | None, environ: Mapping[str, str], home: Path | None) -> list[Path]:
    if path is not None:
        return [Path(path).expanduser().absolute()]
    listed = [Path(name).absolute() for name in environ.get(VARIABLE, "").split(os.pathsep) if name]
    return listed or [(home or Path.home()) / ".kube" / "config"]


class _Loading:
    def __init__(self, config: Kubeconfig, environ: Mapping[str, str]) -> None:
        self._config = config
        self._environ = environ
        self._problems: list[Problem] = []

    def access(self, name: str | None) -> ClusterAccess:
        context = self._context(name)
        cluster = self._named(context, "cluster", self._config.clusters, KubeconfigCluster())
        user = self._named(context, "user", self._config.users, KubeconfigUser())
        self._stop()
        access = ClusterAccess(
            server=self._server(cluster),
            identities=self._identities(user, cluster),
            namespace=context.value.namespace or "default",
            context=name if name is not None else self._config.current_context,
            source=str(cluster.file),
            ca=self._ca(cluster),
            is_insecure=cluster.value.insecure_skip_tls_verify,
            server_name=cluster.value.tls_server_name,
            proxy=self._proxy(cluster),
            is_compressed=not cluster.value.disable_compression,
            headers=_impersonation(user.value),
        )
        self._stop()
        return access

    def _stop(self) -> None:
        if self._problems:
            raise Rejected(self._problems)

    def _refuse(self, field: str, message: str) -> None:
        self._problems.append(Problem(field, message))

    def _context(self, name: str | None) -> KubeconfigEntry[KubeconfigContext]:
        files = os.pathsep.join(str(file) for file in self._config.files)
        wanted = name if name is not None else self._config.current_context
        known = ", ".join(sorted(self._config.contexts)) or "none"
        if not wanted:
            raise Rejected([Problem(f"{files}: current-context", f"is required; there are {known}")])
        chosen_context = self._config.contexts.get(wanted)
        if chosen_context is None:
            message = f'has no context "{wanted}"; there are {known}'
            raise Rejected([Problem(f"{files}: contexts", message)])
        return chosen_context

    def _named(
        self,
        context: KubeconfigEntry[KubeconfigContext],
        key: str,
        known: Mapping[str, KubeconfigEntry[kubeconfig_files.EntryT]],
        nothing: kubeconfig_files.EntryT,
    ) -> KubeconfigEntry[kubeconfig_files.EntryT]:
        wanted = getattr(context.value, key)
        if wanted in known:
            return known[wanted]
        if wanted or key == "cluster":
            listed = ", ".join(sorted(known)) or "none"
            message = f'is "{wanted}", and there is no such {key}; there are {listed}'
            self._refuse(context.field(key), message)
        return KubeconfigEntry(context.file, context.place, nothing)

    def _server(self, cluster: KubeconfigEntry[KubeconfigCluster]) -> str:
        server = cluster.value.server.rstrip("/")
        parts = urlsplit(server)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            message = f'is "{server}"; allowed is an address that begins with https:// or http://'
            self._refuse(cluster.field("server"), message)
        return server

    def _ca(self, cluster: KubeconfigEntry[KubeconfigCluster]) -> bytes:
        value = cluster.value
        if value.insecure_skip_tls_verify and (
            value.certificate_authority or value.certificate_authority_data
        ):
            message = "is true beside a certificate-authority; allowed is one of them"
            self._refuse(cluster.field("insecure-skip-tls-verify"), message)
            return b""
        return self._content(cluster, "certificate_authority")

    def _content(self, entry: KubeconfigEntry[Any], name: str) -> bytes:
        """What a field says itself (`...-data`, in base64), or the file it names; the first counts."""
        field = name.replace("_", "-")
        data: str = getattr(entry.value, f"{name}_data")
        if data:
            try:
                return base64.b64decode(data, validate=True)
            except binascii.Error:
                self._refuse(entry.field(f"{field}-data"), "is not base64")
                return b""
        path: str = getattr(entry.value, name)
        if not path:
            return b""
        try:
            return IdentityFile(entry.beside(path), entry.field(field)).read()
        except Rejected as rejected:
            self._problems.extend(rejected.problems)
            return b""

    def _proxy(self, cluster: KubeconfigEntry[KubeconfigCluster]) -> str:
        proxy = cluster.value.proxy_url
        if not proxy:
            return proxy_of_environment(cluster.value.server, self._environ)
        if urlsplit(proxy).scheme not in ("http", "https"):
            message = f'is "{proxy}"; allowed is an address that begins with http:// or https://'
            self._refuse(cluster.field("proxy-url"), message)
        return proxy

    def _identities(
        self, user: KubeconfigEntry[KubeconfigUser], cluster: KubeconfigEntry[KubeconfigCluster]
    ) -> IdentitySource:
        value = user.value
        if value.auth_provider is not None:
            message = "is not supported, as in kubectl since 1.26; allowed is exec"
            self._refuse(user.field("auth-provider"), message)
        certificate = self._certificate(user)
        if value.exec_plugin is not None:
            self._problems.extend(value.exec_plugin.problems(user.field("exec")))
            return IdentityFromPlugin(
                value.exec_plugin,
                field=user.field("exec"),
                folder=user.file.parent,
                cluster=self._for_plugin(cluster),
                certificate=certificate,
                environ=self._environ,
            )
        basic = (value.username, value.password) if value.username else None
        fixed = ApiIdentity(value.token, basic, certificate)
        in_files = bool(value.client_certificate and value.client_key) and not value.client_certificate_data
        if not value.token_file and not in_files:
            return FixedIdentity(fixed)
        return IdentityFromFiles(
            token=self._file(user, value.token_file, "tokenFile"),
            certificate=self._file(user, value.client_certificate, "client-certificate")
            if in_files
            else None,
            key=self._file(user, value.client_key, "client-key") if in_files else None,
            fixed=fixed,
        )

    def _file(self, user: KubeconfigEntry[KubeconfigUser], path: str, field: str) -> IdentityFile | None:
        return IdentityFile(user.beside(path), user.field(field)) if path else None

    def _certificate(self, user: KubeconfigEntry[KubeconfigUser]) -> ClientCertificate | None:
        certificate, key = self._content(user, "client_certificate"), self._content(user, "client_key")
        if bool(certificate) == bool(key):
            return ClientCertificate(certificate, key) if key else None
        if not self._problems:
            missing, given = (
                ("client-key", "client-certificate") if certificate else ("client-certificate", "client-key")
            )
            self._refuse(user.field(missing), f"is required beside {given}")
        return None

    def _for_plugin(self, cluster: KubeconfigEntry[KubeconfigCluster]) -> dict[str, Any]:
        value = cluster.value
        environment = {
            "server": value.server,
            "tls-server-name": value.tls_server_name,
            "insecure-skip-tls-verify": value.insecure_skip_tls_verify,
            "certificate-authority-data": base64.b64encode(self._ca(cluster)).decode(),
            "proxy-url": value.proxy_url,
            "disable-compression": value.disable_compression,
        }
        return {name: given for name, given in environment.items() if given}


def _impersonation(user: KubeconfigUser) -> tuple[tuple[str, str], ...]:
    """Whom one acts for: what has several values is sent as several headers of one name."""
    headers = [("Impersonate-User", user.as_user), ("Impersonate-Uid", user.as_uid)]
    headers += [("Impersonate-Group", group) for group in user.as_groups or ()]
    for key, values in (user.as_user_extra or {}).items():
        headers += [(f"Impersonate-Extra-{quote(key, safe='')}", value) for value in values]
    return tuple((name, value) for name, value in headers if value)


def proxy_of_environment(server: str, environ: Mapping[str, str]) -> str:
    """HTTPS_PROXY and HTTP_PROXY in upper or lower case, and NO_PROXY, as other programs read them."""
    parts = urlsplit(server)
    name = f"{parts.scheme}_proxy"
    proxy = environ.get(name) or environ.get(name.upper()) or ""
    excepted = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if not proxy or not parts.hostname:
        return ""
    if urllib.request.proxy_bypass_environment(parts.netloc, {"no": excepted}):  # type: ignore[attr-defined]  # typeshed lacks it
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"
