"""How a cluster is reached: address, trust, identity, proxy. What a kubeconfig says, or the pod one runs in."""

from __future__ import annotations

import ssl
import tempfile

import msgspec

from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.identities import ClientCertificate, IdentitySource


class ClusterAccess(msgspec.Struct, frozen=True):
    """`source` and the names of fields are for sentences; `ca` is in PEM, and without it the system's are trusted."""

    server: str
    identities: IdentitySource
    namespace: str = "default"
    context: str = ""
    """What the kubeconfig calls it."""
    source: str = ""
    ca: bytes = b""
    is_insecure: bool = False
    server_name: str = ""
    """The name in the server's certificate, where it is not that of the address."""
    proxy: str = ""
    is_compressed: bool = True
    headers: tuple[tuple[str, str], ...] = ()
    """Whom one acts for, if not for oneself."""

    @property
    def is_encrypted(self) -> bool:
        return self.server.startswith("https://")

    def trust(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """Raises Rejected for an authority or a certificate that is none."""
        context = ssl.create_default_context(cafile=None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.is_insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif self.ca:
            context = self._of_own_authority()
        if certificate is not None:
            self._present(context, certificate)
        return context

    def _of_own_authority(self) -> ssl.SSLContext:
        """Its own authority alone is trusted: another could speak for the cluster otherwise."""
        try:
            context = ssl.create_default_context(cadata=self.ca.decode("ascii", "replace"))
        except (ssl.SSLError, ValueError):
            raise Rejected(
                [Problem(self.source, "certificate-authority holds no certificate in PEM")]
            ) from None
        # Authorities of clusters are often made without the extensions that newer versions of Python ask for.
        context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
        return context

    def _present(self, context: ssl.SSLContext, certificate: ClientCertificate) -> None:
        """The library reads files only; this one is there for a moment and for nobody else."""
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate.certificate.rstrip() + b"\n" + certificate.key)
            file.flush()
            try:
                context.load_cert_chain(file.name)
            except (ssl.SSLError, ValueError):
                message = "client-certificate and client-key are no pair of a certificate and its key in PEM"
                raise Rejected([Problem(self.source, message)]) from None
