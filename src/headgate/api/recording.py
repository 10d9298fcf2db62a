"""Changes of the service's own documents (systems, tokens, workspaces): remembered by key, and in the audit log."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from headgate.api.http.calls import Request
from headgate.runtime.commands import Idempotency, KeyReusedError, Reply
from headgate.runtime.recording import with_reason
from headgate.store.log import AuditEntry
from headgate.store.port import Remembered, Transaction


def once(
    call: Request,
    workspace: str,
    act: Callable[[Transaction], tuple[Reply, AuditEntry | None]],
    *,
    keeps_reply: bool = True,
) -> Reply:
    """Blocks. What `act` looks at stays as it is until what it does is stored: the workspace is locked meanwhile.

    The same request with the same Idempotency-Key gives the same reply without acting again, if the reply is kept.
    """
    with call.service.store.begin(workspace) as transaction:
        return once_in(transaction, call, act, keeps_reply=keeps_reply)


def once_in(
    transaction: Transaction,
    call: Request,
    act: Callable[[Transaction], tuple[Reply, AuditEntry | None]],
    *,
    keeps_reply: bool = True,
) -> Reply:
    """The same in a transaction that somebody else ends."""
    known = _recalled(call, transaction)
    if known is not None:
        return known
    reply, entry = act(transaction)
    if entry is not None:
        transaction.add_audit([entry])
    if call.idempotency is not None and keeps_reply:
        _remember(call, call.idempotency, reply, transaction)
    return reply


def _remember(call: Request, key: Idempotency, reply: Reply, transaction: Transaction) -> None:
    body = msgspec.json.encode((reply.body.decode(), reply.etag))
    transaction.remember(Remembered(key.key, key.fingerprint, reply.status, body, call.service.clock()))


def _recalled(call: Request, transaction: Transaction) -> Reply | None:
    if call.idempotency is None:
        return None
    recalled = transaction.recall(call.idempotency.key)
    if recalled is None:
        return None
    if recalled.fingerprint != call.idempotency.fingerprint:
        raise KeyReusedError
    body, etag = msgspec.json.decode(recalled.body)
    return Reply(recalled.status, body.encode(), etag)


def entry(
    call: Request, action: str, kind: str, name: str, before: bytes | None = None, after: bytes | None = None
) -> AuditEntry:
    caller = call.caller
    why = with_reason(after, caller.reason)
    return AuditEntry(call.service.clock(), caller.user, action, kind, name, before, why, caller.request_id)
