"""Signed requests: who knows the secret sent exactly this body about this job, at about this time."""

from __future__ import annotations

import hashlib
import hmac

from headgate.kernel import instants
from headgate.kernel.instants import Instant

TIMESTAMP_HEADER = "Headgate-Timestamp"
SIGNATURE_HEADER = "Headgate-Signature"
TOLERANCE_SECONDS = 300
_LONGEST_TIMESTAMP = 12


def sign(secret: str, timestamp: str, job: str, body: bytes) -> str:
    """`timestamp` is in whole seconds since 1970. Without the job, what was said of one could be said of another."""
    digest = hmac.new(secret.encode(), f"{timestamp}.{job}.".encode() + body, hashlib.sha256)
    return f"v1={digest.hexdigest()}"


def headers(secret: str, now: Instant, job: str, body: bytes) -> dict[str, str]:
    timestamp = str(now // instants.MICROSECONDS_PER_SECOND)
    return {TIMESTAMP_HEADER: timestamp, SIGNATURE_HEADER: sign(secret, timestamp, job, body)}


def is_valid(
    secret: str,
    timestamp: str,
    job: str,
    body: bytes,
    signature: str,
    now: Instant,
    tolerance_seconds: int = TOLERANCE_SECONDS,
) -> bool:
    """Several signatures may be given, with commas between, so that a secret can be changed without a pause."""
    if (
        not secret
        or not timestamp.isascii()
        or not timestamp.isdigit()
        or len(timestamp) > _LONGEST_TIMESTAMP
    ):
        return False
    if abs(now - instants.seconds(int(timestamp))) > instants.seconds(tolerance_seconds):
        return False
    expected = sign(secret, timestamp, job, body).encode()
    given = [each.strip().encode("utf-8", "replace") for each in signature.split(",")[:8]]
    return any(hmac.compare_digest(expected, each) for each in given)
