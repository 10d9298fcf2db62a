"""Access to the cluster of the pod that this runs in, by its service account."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.identities import IdentityFile, IdentityFromFiles

NAME = "in-cluster"
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def is_here(environ: Mapping[str, str], folder: Path = FOLDER) -> bool:
    return bool(environ.get(HOST) and environ.get(PORT)) and (folder / "token").exists()


def load(environ: Mapping[str, str], folder: Path = FOLDER) -> ClusterAccess:
    """The token is read again and again: it is replaced long before it ends. Raises Rejected."""
    host = environ[HOST]
    namespace = folder / "namespace"
    token = IdentityFile(folder / "token", "the service account's token")
    return ClusterAccess(
        server=f"https://{'[' + host + ']' if ':' in host else host}:{environ[PORT]}",
        identities=IdentityFromFiles(token=token),
        namespace=namespace.read_text("utf-8").strip() if namespace.exists() else "default",
        context=NAME,
        source=str(folder / "ca.crt"),
        ca=IdentityFile(folder / "ca.crt", "the service account's ca.crt").read(),
    )
