"""The operator as a process: who it is, what it is told by signals, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import uuid

from headgate.cli import clusters
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.transport import Transport
from headgate.operator.running.process import Operator, OperatorOptions


def run(
    *,
    kubeconfig: str | None,
    context: str | None,
    namespace: str,
    lease_namespace: str | None,
    lease_seconds: int,
    health_port: int,
    webhook_port: int | None,
    log_level: str,
) -> None:
    logging.basicConfig(level=log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    access = clusters.access(kubeconfig, context)
    options = OperatorOptions(
        lease_namespace=lease_namespace or access.namespace,
        identity=_identity(),
        namespace=namespace,
        lease_seconds=lease_seconds,
        health_port=health_port,
        webhook_port=webhook_port,
    )
    asyncio.run(_run(access, options))


def _identity() -> str:
    """Never used again: a process that starts anew is another candidate."""
    return f"{os.environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4()}"


async def _run(access: ClusterAccess, options: OperatorOptions) -> None:
    async with Client(Transport(access, user_agent="headgate-operator")) as client:
        task = asyncio.create_task(Operator(client, options).run())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task
