"""Changes of the service's own documents (systems, tokens, workspaces): remembered by key, and in the audit log."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from headgate.api.calls import Call
from headgate.runtime.commands import KeyReusedError, Reply
from headgate.store.port import AuditEntry, Remembered


def once(call: Call, workspace: str, act: Callable[[], tuple[Reply, AuditEntry | None]]) -> Reply:
    """Blocks. The same request with the same Idempotency-Key gives the same reply without acting again."""
    known = _recalled(call, workspace)
    if known is not None:
        return known
    reply, entry = act()
    record(call, workspace, entry, reply)
    return reply


def record(call: Call, workspace: str, entry: AuditEntry | None, reply: Reply | None = None) -> None:
    with call.service.store.begin(workspace) as transaction:
        if entry is not None:
            transaction.add_audit([entry])
        if reply is not None and call.idempotency is not None:
            key = call.idempotency
            transaction.remember(
                Remembered(
                    key.key,
                    key.fingerprint,
                    reply.status,
                    msgspec.json.encode((reply.body.decode(), reply.etag)),
                    call.service.clock(),
                )
            )


def _recalled(call: Call, workspace: str) -> Reply | None:
    if call.idempotency is None:
        return None
    with call.service.store.begin(workspace) as transaction:
        found = transaction.recall(call.idempotency.key)
    if found is None:
        return None
    if found.fingerprint != call.idempotency.fingerprint:
        raise KeyReusedError
    body, etag = msgspec.json.decode(found.body)
    return Reply(found.status, body.encode(), etag)


def entry(
    call: Call, action: str, kind: str, name: str, before: bytes | None = None, after: bytes | None = None
) -> AuditEntry:
    return AuditEntry(
        call.service.clock(), call.caller.user, action, kind, name, before, after, call.caller.request_id
    )
