"""The console: files of the wheel for a browser.

Every path that is no file is a page of it for whoever asks for a page, as browsers do when a person goes there. Programs
that mistook an address hear that there is nothing: a page with status 200 would be taken for an answer.
"""

from __future__ import annotations

import functools
import gzip
from importlib import resources
from pathlib import PurePosixPath

from starlette.types import Receive, Scope, Send

from headgate.screens import page

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_POLICY = (
    "default-src 'none'; script-src 'self' {script}; style-src 'self' {style}; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
"""Beside the console's own files, the script and the style of a simulation's page, which is shown in a frame that can
reach nothing."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_PAGE = "index.html"
_FOR_EVER = "public, max-age=31536000, immutable"


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Names of files have a digest in them, so they may be kept; the page that names them may not."""
    if scope["method"] not in ("GET", "HEAD"):
        await _answer(scope, send, 405, b"", {"Allow": "GET, HEAD"})
        return
    path = scope["path"].lstrip("/")
    content = _files().get(path)
    if content is None and (path.startswith("assets/") or (path and not _asks_for_a_page(scope))):
        nothing = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
        await _answer(scope, send, 404, b"There is nothing at this address.\n", nothing)
        return
    caching = _FOR_EVER if content is not None and path.startswith("assets/") else "no-cache"
    name = path if content is not None else _PAGE
    kind = _TYPES.get(PurePosixPath(name).suffix, "application/octet-stream")
    headers = {"Content-Type": kind, "Cache-Control": caching, "Vary": "Accept-Encoding"}
    if _asks_for(scope, b"accept-encoding", b"gzip"):
        await _answer(scope, send, 200, _packed(name), {**headers, "Content-Encoding": "gzip"})
    else:
        await _answer(scope, send, 200, _files()[name], headers)


def _asks_for_a_page(scope: Scope) -> bool:
    return _asks_for(scope, b"accept", b"text/html")


def _asks_for(scope: Scope, header: bytes, wanted: bytes) -> bool:
    return any(name == header and wanted in value.lower() for name, value in scope["headers"])


async def _answer(scope: Scope, send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    written = {"Content-Security-Policy": _policy(), **_HEADERS, **headers, "Content-Length": str(len(body))}
    lines = [(name.lower().encode(), value.encode()) for name, value in written.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


@functools.cache
def _policy() -> str:
    return _POLICY.format(script=page.script_hash(), style=page.style_hash())


@functools.cache
def _packed(name: str) -> bytes:
    """Once: the files do not change, and most who ask for them are on the other end of a network."""
    return gzip.compress(_files()[name], mtime=0)


@functools.cache
def _files() -> dict[str, bytes]:
    """Read once: they are few, and nothing that a path says reaches the disk."""
    root = resources.files("headgate.api").joinpath("console_files")
    files = {}
    for entry in root.iterdir():
        if entry.is_file():
            files[entry.name] = entry.read_bytes()
    assets = root.joinpath("assets")
    if assets.is_dir():
        files |= {f"assets/{entry.name}": entry.read_bytes() for entry in assets.iterdir()}
    return files
