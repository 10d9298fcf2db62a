"""Credentials from a program (`exec` in a kubeconfig), as cloud providers ship them."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.identities import ApiIdentity, ClientCertificate

TIMEOUT_SECONDS = 60.0
LEEWAY = instants.seconds(10)
"""A token that ends within this time is made anew: it must outlive the request it is sent with."""
INFORMATION = "KUBERNETES_EXEC_INFO"
VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_SHOWN_OUTPUT = 300


class ExecVariable(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class ExecPlugin(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of a kubeconfig."""

    command: Annotated[str, msgspec.Meta(min_length=1)]
    api_version: str = ""
    args: list[str] | None = None
    env: list[ExecVariable] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: Literal["", "Never", "IfAvailable", "Always"] = ""

    def problems(self, field: str) -> list[Problem]:
        problems = []
        if self.api_version not in VERSIONS:
            message = f'is "{self.api_version}"; allowed are {" and ".join(VERSIONS)}'
            problems.append(Problem(f"{field}.apiVersion", message))
        if self.interactive_mode == "Always":
            message = 'is "Always", and there is nobody to ask; allowed are Never and IfAvailable'
            problems.append(Problem(f"{field}.interactiveMode", message))
        return problems


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: Literal["ExecCredential"]
    status: _Status


class IdentityFromPlugin:
    """Asks the program when there is nothing yet, when what it gave ends, and when a server does not take it."""

    def __init__(
        self,
        plugin: ExecPlugin,
        *,
        field: str,
        folder: Path,
        cluster: Mapping[str, Any] | None = None,
        certificate: ClientCertificate | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000,
    ) -> None:
        """`folder` is where a relative command is looked for, `cluster` what the program may know of the cluster."""
        self._plugin = plugin
        self._field = field
        self._folder = folder
        self._cluster = cluster
        self._certificate = certificate
        self._environ = dict(os.environ if environ is None else environ)
        self._clock = clock
        self._known: ApiIdentity | None = None
        self._ends_at: Instant | None = None
        self._lock = asyncio.Lock()

    async def identity(self) -> ApiIdentity:
        async with self._lock:
            is_over = self._ends_at is not None and self._clock() >= self._ends_at - LEEWAY
            if self._known is None or is_over:
                self._known, self._ends_at = self._understood(await self._output())
            return self._known

    def expire(self) -> None:
        self._known = None

    async def _output(self) -> bytes:
        environ = self._environ | {each.name: each.value for each in self._plugin.env or ()}
        spec: dict[str, Any] = {"interactive": False}
        if self._plugin.provide_cluster_info and self._cluster is not None:
            spec["cluster"] = self._cluster
        information = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        environ[INFORMATION] = msgspec.json.encode(information).decode()
        process = await self._started(environ)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                output, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise self._refused(f"did not answer within {TIMEOUT_SECONDS:g} s") from None
        if process.returncode != 0:
            printed = errors.decode("utf-8", "replace").strip()[-_SHOWN_OUTPUT:]
            raise self._refused(f"ended with {process.returncode}{': ' + printed if printed else ''}")
        return output

    async def _started(self, environ: Mapping[str, str]) -> asyncio.subprocess.Process:
        command = self._plugin.command
        if os.sep in command:
            program: str | None = str(self._folder / command)
        else:
            program = shutil.which(command, path=environ.get("PATH"))
        try:
            if program is None:
                raise FileNotFoundError
            return await asyncio.create_subprocess_exec(
                program,
                *(self._plugin.args or ()),
                env=environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            reason = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be run: {error}"
            hint = f"; {self._plugin.install_hint.strip()}" if self._plugin.install_hint else ""
            raise self._refused(f"{reason}{hint}") from None

    def _understood(self, output: bytes) -> tuple[ApiIdentity, Instant | None]:
        try:
            credential = msgspec.json.decode(output, type=_ExecCredential)
            status = credential.status
            ends_at = instants.parse(status.expiration_timestamp) if status.expiration_timestamp else None
        except (msgspec.DecodeError, ValueError):
            raise self._refused("did not answer with an ExecCredential") from None
        if credential.api_version != self._plugin.api_version:
            raise self._refused(
                f"answers with {credential.api_version} when asked for {self._plugin.api_version}"
            )
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._refused(
                "gives a client certificate without its key, or a key without its certificate"
            )
        certificate = self._certificate
        if status.client_certificate_data:
            certificate = ClientCertificate(
                status.client_certificate_data.encode(), status.client_key_data.encode()
            )
        if not status.token and not status.client_certificate_data:
            raise self._refused("gives neither a token nor a client certificate")
        return ApiIdentity(status.token, certificate=certificate), ends_at

    def _refused(self, reason: str) -> Rejected:
        return Rejected([Problem(f"{self._field}.command", f'"{self._plugin.command}" {reason}')])
