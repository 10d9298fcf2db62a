"""When certificates are renewed, and that those who check them always know who signed."""

import base64
import ssl
from typing import Any

import pytest
from cryptography import x509

from headgate.kernel import instants
from headgate.operator import certificates
from headgate.operator.certificates import Certificates, Renewal

NOW = instants.parse("2026-03-02T09:00:00Z")
DAY = instants.hours(24)
NAMES = ("headgate-webhook.headgate.svc", "127.0.0.1")


@pytest.fixture(scope="module")
def fresh() -> Certificates:
    return certificates.renewed(None, NAMES, NOW)


def is_signed_by_a_known_authority(held: Certificates, bundle: bytes) -> bool:
    server = x509.load_pem_x509_certificate(held.server.certificate)
    authorities = x509.load_pem_x509_certificates(bundle)
    return any(certificates._has_signed(authority, server) for authority in authorities)


def test_without_any_all_are_made_at_once(fresh: Certificates) -> None:
    assert certificates.due(None, NAMES, NOW) == Renewal(authority=True, server=True)
    assert is_signed_by_a_known_authority(fresh, fresh.bundle)
    assert fresh.names == NAMES


def test_nothing_is_due_until_a_third_of_the_time_is_left(fresh: Certificates) -> None:
    found = certificates.due(fresh, NAMES, NOW)
    assert not found.is_needed
    assert found.requeue_at == fresh.server.renew_at
    assert certificates.renewed(fresh, NAMES, NOW) is fresh
    assert certificates.due(fresh, NAMES, fresh.server.renew_at) == Renewal(authority=False, server=True)
    assert fresh.server.ends_at - fresh.server.renew_at > 100 * DAY


def test_a_server_certificate_is_renewed_by_the_same_authority(fresh: Certificates) -> None:
    after = certificates.renewed(fresh, NAMES, fresh.server.renew_at)
    assert after.bundle == fresh.bundle
    assert after.server.certificate != fresh.server.certificate
    assert is_signed_by_a_known_authority(after, fresh.bundle)


def test_another_name_of_the_server_needs_another_certificate(fresh: Certificates) -> None:
    names = (*NAMES, "other.svc")
    assert certificates.due(fresh, names, NOW) == Renewal(authority=False, server=True)
    assert certificates.renewed(fresh, names, NOW).names == (
        "headgate-webhook.headgate.svc",
        "127.0.0.1",
        "other.svc",
    )


def test_a_new_authority_is_known_before_it_signs() -> None:
    held = certificates.renewed(None, NAMES, NOW)
    moment = held.authorities[0].renew_at
    held = certificates.renewed(held, NAMES, moment - DAY)
    changed = certificates.renewed(held, NAMES, moment)
    assert len(changed.authorities) == 2
    assert changed.server == held.server
    waiting = certificates.due(changed, NAMES, moment)
    assert not waiting.is_needed
    assert waiting.requeue_at is not None
    assert moment < waiting.requeue_at <= moment + certificates.SETTLING
    after = certificates.renewed(changed, NAMES, waiting.requeue_at)
    assert after.server != held.server
    assert after.signed_by == changed.authorities[0].certificate
    assert is_signed_by_a_known_authority(after, changed.bundle)


def test_over_thirty_years_whoever_heard_of_the_last_bundle_trusts_the_next_certificate() -> None:
    held = certificates.renewed(None, NAMES, NOW)
    now, makings = NOW, 0
    while now < NOW + 30 * 365 * DAY:
        needed = certificates.due(held, NAMES, now)
        if needed.is_needed:
            before, held = held, certificates.renewed(held, NAMES, now)
            makings += 1
            assert is_signed_by_a_known_authority(held, before.bundle)
            assert held.server.ends_at > now
            assert len(held.authorities) <= 3
        else:
            assert needed.requeue_at is not None
            assert needed.requeue_at > now
            now = needed.requeue_at
    assert 30 < makings < 100


def test_a_secret_reads_back_as_what_was_written(fresh: Certificates) -> None:
    document = certificates.secret(fresh, "headgate", "headgate-webhook")
    assert certificates.read(document) == fresh
    assert document["type"] == "kubernetes.io/tls"


def damaged(fresh: Certificates, key: str, text: str) -> dict[str, Any]:
    data = certificates.secret_data(fresh)
    return {"data": {**data, key: base64.b64encode(text.encode()).decode()}}


@pytest.mark.parametrize("key", ["tls.crt", "tls.key", "ca.crt", "ca.key"])
def test_a_secret_that_is_empty_or_damaged_holds_nothing(fresh: Certificates, key: str) -> None:
    other = certificates.secret_data(certificates.renewed(None, NAMES, NOW))
    assert certificates.read(None) is None
    assert certificates.read({"data": {}}) is None
    assert certificates.read({"data": {key: "?"}}) is None
    assert certificates.read(damaged(fresh, key, "nonsense")) is None
    assert certificates.read({"data": {**certificates.secret_data(fresh), key: other[key]}}) is None


def test_tls_accepts_them(fresh: Certificates, tmp_path: Any) -> None:
    (tmp_path / "crt").write_bytes(fresh.server.certificate)
    (tmp_path / "key").write_bytes(fresh.server.key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    client = ssl.create_default_context(cadata=base64.b64decode(fresh.ca_bundle).decode())
    assert client.cert_store_stats()["x509_ca"] == 1
