"""The certificates of the webhooks: an authority of our own and what it signs, kept in one Secret for all replicas.

What has to be renewed is decided by times alone; making it needs chance, and is apart. A new authority signs nothing
until those who check it have had time to hear of it: until then both are in the bundle and the old one goes on.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from headgate.kernel import instants
from headgate.kernel.instants import Instant

AUTHORITY_LIFETIME = instants.hours(24 * 3650)
SERVER_LIFETIME = instants.hours(24 * 365)
SETTLING = instants.hours(1)
"""How long a new authority is known before anything is signed by it."""
_BACKDATED = instants.hours(1)
"""For clocks that are behind ours."""
_MOST_AUTHORITIES = 3
_KEY_BLOCK = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----\n?", re.DOTALL
)


class KeyPair(msgspec.Struct, frozen=True):
    """In PEM, with the span in which the certificate is good."""

    certificate: bytes
    key: bytes
    begins_at: Instant
    ends_at: Instant

    @property
    def renew_at(self) -> Instant:
        """A third of its time is left to notice that nothing renews it."""
        return self.ends_at - (self.ends_at - self.begins_at) // 3


class Certificates(msgspec.Struct, frozen=True):
    """Authorities are the newest first."""

    authorities: tuple[KeyPair, ...]
    server: KeyPair
    names: tuple[str, ...]
    """What the server is called."""
    signed_by: bytes
    """The certificate of the authority that signed the server's."""

    @property
    def bundle(self) -> bytes:
        return b"".join(authority.certificate for authority in self.authorities)

    @property
    def ca_bundle(self) -> str:
        """As a webhook configuration has it."""
        return base64.b64encode(self.bundle).decode()


class Renewal(msgspec.Struct, frozen=True):
    authority: bool
    server: bool
    requeue_at: Instant | None = None
    """When there may be something to do, if there is nothing now."""

    @property
    def is_needed(self) -> bool:
        return self.authority or self.server


def due(held: Certificates | None, names: Sequence[str], now: Instant) -> Renewal:
    if held is None:
        return Renewal(authority=True, server=True)
    newest = held.authorities[0]
    new_authority = now >= newest.renew_at
    signer = _signer(held.authorities, now)
    new_server = (
        now >= held.server.renew_at
        or now >= signer.ends_at
        or held.signed_by != signer.certificate
        or not set(names) <= set(held.names)
    )
    times = [newest.renew_at, held.server.renew_at]
    if signer is not newest:
        times.append(newest.begins_at + _BACKDATED + SETTLING)
    return Renewal(new_authority, new_server, min(times) if not (new_authority or new_server) else None)


def _signer(authorities: Sequence[KeyPair], now: Instant) -> KeyPair:
    """The newest that has settled; while none has, the oldest that is good, which most have heard of."""
    good = [each for each in authorities if now < each.ends_at] or list(authorities)
    settled = [each for each in good if now >= each.begins_at + _BACKDATED + SETTLING]
    return settled[0] if settled else good[-1]


def renewed(held: Certificates | None, names: Sequence[str], now: Instant) -> Certificates:
    """With whatever was due; as it was if nothing is."""
    needed = due(held, names, now)
    if held is not None and not needed.is_needed:
        return held
    authorities = () if held is None else tuple(each for each in held.authorities if now < each.ends_at)
    if needed.authority:
        authorities = (_make_authority(now), *authorities)[:_MOST_AUTHORITIES]
    signer = _signer(authorities, now)
    if held is not None and not needed.server and held.signed_by == signer.certificate:
        return msgspec.structs.replace(held, authorities=authorities)
    return Certificates(authorities, _make_server(signer, names, now), tuple(names), signer.certificate)


def _make_authority(now: Instant) -> KeyPair:
    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"headgate webhooks {serial:x}"[:60])])
    builder = _builder(name, name, key.public_key(), serial, now, AUTHORITY_LIFETIME)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    return _pair(builder.sign(key, hashes.SHA256()), key)


def _make_server(signer: KeyPair, names: Sequence[str], now: Instant) -> KeyPair:
    authority = x509.load_pem_x509_certificate(signer.certificate)
    signing_key = _private_key(signer.key)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:60])])
    lifetime = min(SERVER_LIFETIME, signer.ends_at - now)
    builder = _builder(name, authority.subject, key.public_key(), x509.random_serial_number(), now, lifetime)
    alternatives = x509.SubjectAlternativeName([_general_name(each) for each in names])
    builder = builder.add_extension(alternatives, critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key())
    builder = builder.add_extension(issuer_key, critical=False)
    return _pair(builder.sign(signing_key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    serial: int,
    now: Instant,
    lifetime: int,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(serial)
        .not_valid_before(instants.to_datetime(now - _BACKDATED))
        .not_valid_after(instants.to_datetime(now + lifetime))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    written = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return _dated(certificate, written)


def _dated(certificate: x509.Certificate, key: bytes) -> KeyPair:
    return KeyPair(
        certificate.public_bytes(serialization.Encoding.PEM),
        key,
        instants.from_datetime(certificate.not_valid_before_utc),
        instants.from_datetime(certificate.not_valid_after_utc),
    )


def _private_key(text: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(text, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("the key is not one of ours")
    return key


def secret_data(held: Certificates) -> dict[str, str]:
    """The `data` of the Secret, of type kubernetes.io/tls."""
    texts = {
        "tls.crt": held.server.certificate,
        "tls.key": held.server.key,
        "ca.crt": held.bundle,
        "ca.key": b"".join(authority.key for authority in held.authorities),
    }
    return {key: base64.b64encode(text).decode() for key, text in texts.items()}


def secret(held: Certificates, namespace: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "type": "kubernetes.io/tls",
        "data": secret_data(held),
    }


def read(document: Mapping[str, Any] | None) -> Certificates | None:
    """What a Secret holds. None if it is absent, empty or damaged: then everything is made anew."""
    data = (document or {}).get("data")
    try:
        return _read(data) if isinstance(data, Mapping) else None
    except (KeyError, StopIteration, TypeError, ValueError, binascii.Error, x509.ExtensionNotFound):
        return None


def _read(data: Mapping[str, Any]) -> Certificates:
    texts = {
        key: base64.b64decode(data[key], validate=True) for key in ("tls.crt", "tls.key", "ca.crt", "ca.key")
    }
    server = x509.load_pem_x509_certificate(texts["tls.crt"])
    keys = _KEY_BLOCK.findall(texts["ca.key"])
    root_certificates = x509.load_pem_x509_certificates(texts["ca.crt"])
    if len(keys) != len(root_certificates):
        raise ValueError("there must be one key for each authority")
    for certificate, key in zip((server, *root_certificates), (texts["tls.key"], *keys)):
        if _private_key(key).public_key() != certificate.public_key():
            raise ValueError("a key does not belong to its certificate")
    authorities = tuple(_dated(certificate, key) for certificate, key in zip(root_certificates, keys))
    signed_by = next(
        pair.certificate
        for certificate, pair in zip(root_certificates, authorities)
        if _has_signed(certificate, server)
    )
    return Certificates(authorities, _dated(server, texts["tls.key"]), _names_of(server), signed_by)


def _has_signed(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except Exception:  # a wrong name, another kind of key or a signature that does not fit: not by this one
        return False
    return True


def _names_of(certificate: x509.Certificate) -> tuple[str, ...]:
    alternative_names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return (
        *alternative_names.get_values_for_type(x509.DNSName),
        *map(str, alternative_names.get_values_for_type(x509.IPAddress)),
    )
