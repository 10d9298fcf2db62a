"""A proxy between a client and its cluster that cuts the line when it is told to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from headgate.kubernetes import kubeconfig
from headgate.kubernetes.client import Client
from headgate.kubernetes.transport import Transport
from kube import ControlPlane


class CuttingProxy:
    """An HTTP proxy for encrypted connections, of which it sees nothing but that they are there."""

    def __init__(self) -> None:
        self.url = ""
        self.connections_count = 0
        self._open: set[asyncio.StreamWriter] = set()

    def client(self, plane: ControlPlane) -> Client:
        access = kubeconfig.load(path=str(plane.kubeconfig), environ={})
        return Client(Transport(msgspec.structs.replace(access, proxy=self.url)))

    def cut(self) -> None:
        for writer in tuple(self._open):
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        host, _, port = head.split()[1].decode().rpartition(":")
        self.connections_count += 1
        onward_reader, onward = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        pair = {writer, onward}
        self._open |= pair
        try:
            await asyncio.gather(_copy(reader, onward), _copy(onward_reader, writer))
        finally:
            self._open -= pair
            for each in pair:
                each.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one of them is cut; the other is then too."""
    with contextlib.suppress(OSError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    writer.transport.abort()


@asynccontextmanager
async def cutting_proxy() -> AsyncIterator[CuttingProxy]:
    proxy = CuttingProxy()
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        await asyncio.sleep(0)
        await server.wait_closed()
