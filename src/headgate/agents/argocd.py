"""`argocd`: an application of Argo CD is synced to a revision; the job ends when that is healthy.

The sync carries the job's id among its infos, and Argo CD shows them on the application from the moment the request
is taken. So a start that is repeated finds its own sync there.
"""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote, urlencode

import msgspec

from headgate.agents.credentials import Credentials
from headgate.agents.port import Agent, Assignment, JobProgress, TimeoutSeconds, TryLaterError, shortened
from headgate.agents.web import Web, WebAnswer, segment
from headgate.fleet.rules.verification import Address

JOB_INFO = "headgate-job"


class ArgocdConfig(msgspec.Struct, frozen=True, rename="camel"):
    server_url: Address
    application: Annotated[str, msgspec.Meta(min_length=1)]
    app_namespace: str | None = None
    project: str | None = None
    revision: str | None = None
    prune: bool = False
    sync_options: tuple[str, ...] = ()
    token: str | None = None
    token_env: str | None = None
    insecure: bool = False
    poll_seconds: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 5
    timeout_seconds: TimeoutSeconds | None = None


class Sync(msgspec.Struct, frozen=True):
    """The newest operation of an application; `phase` is empty until a controller has taken it up."""

    job: str
    phase: str
    message: str
    asked: str
    """The revision that the sync was asked for; `revision` is the commit that this turned out to be."""
    revision: str
    finished_at: str


class ArgocdAgent(Agent):
    type = "argocd"

    def __init__(self, web: Web | None = None, credentials: Credentials | None = None) -> None:
        self._credentials = credentials or Credentials()
        self._web = web or Web()

    async def start(self, assignment: Assignment) -> JobProgress:
        config = assignment.config(ArgocdConfig)
        application = await self._application(config, assignment)
        if isinstance(application, JobProgress):
            return application
        sync = _newest(application)
        if sync is not None and sync.job == assignment.job.id:
            return await self._judged(config, assignment, application)
        if sync is not None and sync.phase in ("", "Running", "Terminating"):
            raise TryLaterError(f"{config.application} is being synced by somebody else")
        answer = await self._call(config, "POST", "/sync", body=_request(config, assignment))
        if answer.status in (400, 409) and "another operation" in answer.text():
            raise TryLaterError(f"{config.application} is being synced by somebody else")
        refused = _refused(config, assignment, answer)
        if refused is not None:
            return refused
        return JobProgress(
            "inProgress", "the sync was taken", config.application, _links(config), config.poll_seconds
        )

    async def follow(self, assignment: Assignment) -> JobProgress:
        config = assignment.config(ArgocdConfig)
        answer = await self._call(config, "GET", "")
        if answer.status == 404:
            return _ended(config, "externalRunNotFound", f"application {config.application} is not there")
        refused = _refused(config, assignment, answer)
        if refused is not None:
            raise TryLaterError(refused.message or "Argo CD refuses")
        return await self._judged(config, assignment, answer.fields())

    async def _judged(
        self, config: ArgocdConfig, assignment: Assignment, application: dict[str, Any]
    ) -> JobProgress:
        sync = _newest(application)
        if sync is None or not _is_of(sync, config, assignment):
            return _replaced(config)
        if sync.phase in ("Failed", "Error"):
            return _ended(config, "failure", f"the sync failed: {sync.message}")
        if sync.phase != "Succeeded":
            message = f"the sync is {sync.phase.lower() or 'queued'}"
            return _running(config, message + (f": {sync.message}" if sync.message else ""))
        if _is_stale(application, sync):
            refreshed = await self._application(config, assignment, refresh=True)
            application = refreshed if isinstance(refreshed, dict) else application
        if _is_stale(application, sync):
            return _running(config, "synced; its health is not known yet")
        return _healthy(config, application, sync)

    async def stop(self, assignment: Assignment) -> None:
        config = assignment.config(ArgocdConfig)
        application = await self._application(config, assignment)
        sync = _newest(application) if isinstance(application, dict) else None
        if sync is None or sync.job != assignment.job.id or sync.phase not in ("", "Running"):
            return
        answer = await self._call(config, "DELETE", "/operation")
        if answer.status >= 500 or answer.status == 429:
            raise TryLaterError(f"Argo CD answered {answer.status} to the ending of the sync")

    async def close(self) -> None:
        await self._web.close()

    def _token(self, config: ArgocdConfig) -> str:
        return self._credentials.find(config.token, config.token_env, field="token")

    async def _application(
        self, config: ArgocdConfig, assignment: Assignment, *, refresh: bool = False
    ) -> dict[str, Any] | JobProgress:
        answer = await self._call(config, "GET", "", refresh=refresh)
        refused = _refused(config, assignment, answer)
        if refused is not None:
            return refused
        return answer.fields()

    async def _call(
        self, config: ArgocdConfig, method: str, path: str, *, body: object = None, refresh: bool = False
    ) -> WebAnswer:
        given = {
            "appNamespace": config.app_namespace,
            "project": config.project,
            "refresh": "normal" if refresh else None,
        }
        query = urlencode({key: value for key, value in given.items() if value})
        name = segment(config.application, "application")
        url = f"{config.server_url.rstrip('/')}/api/v1/applications/{name}{path}"
        headers = {"Authorization": f"Bearer {self._token(config)}", "Accept": "application/json"}
        encoded = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            encoded = msgspec.json.encode(body)
        return await self._web.call(
            method,
            url + (f"?{query}" if query else ""),
            headers=headers,
            body=encoded,
            verify=not config.insecure,
        )


def _request(config: ArgocdConfig, assignment: Assignment) -> dict[str, Any]:
    request: dict[str, Any] = {
        "name": config.application,
        "prune": config.prune,
        "infos": [{"name": JOB_INFO, "value": assignment.job.id}],
    }
    if config.app_namespace:
        request["appNamespace"] = config.app_namespace
    if config.project:
        request["project"] = config.project
    if config.revision:
        request["revision"] = config.revision
    if config.sync_options:
        request["syncOptions"] = {"items": list(config.sync_options)}
    return request


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _newest(application: dict[str, Any]) -> Sync | None:
    """A request that was taken stands in `operation`; once a controller works on it, in `operationState` too."""
    state = _map(_map(application.get("status")).get("operationState"))
    waiting = _map(application.get("operation"))
    operation = _map(state.get("operation"))
    if waiting and _job(waiting) != _job(operation):
        return _requested(waiting)
    if not state:
        return _requested(waiting) if waiting else None
    result = _map(state.get("syncResult"))
    return Sync(
        _job(operation),
        str(state.get("phase") or ""),
        str(state.get("message") or ""),
        _asked(operation),
        str(result.get("revision") or _asked(operation)),
        str(state.get("finishedAt") or ""),
    )


def _requested(operation: dict[str, Any]) -> Sync:
    return Sync(_job(operation), "", "", _asked(operation), "", "")


def _asked(operation: dict[str, Any]) -> str:
    return str(_map(operation.get("sync")).get("revision") or "")


def _job(operation: dict[str, Any]) -> str:
    infos = operation.get("info")
    for info in infos if isinstance(infos, list) else []:
        if isinstance(info, dict) and info.get("name") == JOB_INFO:
            return str(info.get("value", ""))
    return ""


def _is_of(sync: Sync, config: ArgocdConfig, assignment: Assignment) -> bool:
    """A later sync to the very revision that the job wants stands for it as well."""
    return sync.job == assignment.job.id or (
        config.revision in (sync.asked, sync.revision) and bool(config.revision)
    )


def _is_stale(application: dict[str, Any], sync: Sync) -> bool:
    """Health that was found before the sync ended says nothing about what was synced."""
    reconciled_at = str(_map(application.get("status")).get("reconciledAt") or "")
    return bool(sync.finished_at and reconciled_at) and reconciled_at <= sync.finished_at


def _healthy(config: ArgocdConfig, application: dict[str, Any], sync: Sync) -> JobProgress:
    status = _map(application.get("status"))
    health = _map(status.get("health"))
    health_word, comment = str(health.get("status") or "Unknown"), str(health.get("message") or "")
    revision = f" at {sync.revision}" if sync.revision else ""
    detail = f": {comment}" if comment else ""
    if health_word == "Healthy":
        return _ended(config, "successful", f"synced{revision} and healthy")
    if health_word == "Degraded":
        return _ended(config, "failure", f"synced{revision}, but degraded{detail}")
    if health_word == "Suspended":
        message = f"synced{revision}; suspended, which somebody must resume{detail}"
        return JobProgress("actionRequired", message, config.application, _links(config), config.poll_seconds)
    return _running(config, f"synced{revision}; its health is {health_word.lower()}{detail}")


def _replaced(config: ArgocdConfig) -> JobProgress:
    return _ended(config, "failure", "another sync took the place of this one before its end was seen")


def _running(config: ArgocdConfig, message: str) -> JobProgress:
    return JobProgress(
        "inProgress", shortened(message), config.application, _links(config), config.poll_seconds
    )


def _ended(config: ArgocdConfig, status: str, message: str) -> JobProgress:
    return JobProgress(status, shortened(message), config.application, _links(config))


def _links(config: ArgocdConfig) -> dict[str, str]:
    names = [config.app_namespace, config.application] if config.app_namespace else [config.application]
    path = "/".join(quote(name, safe="") for name in names)
    return {"application": f"{config.server_url.rstrip('/')}/applications/{path}"}


def _refused(config: ArgocdConfig, assignment: Assignment, answer: WebAnswer) -> JobProgress | None:
    if answer.is_good:
        return None
    if answer.status in (408, 429) or answer.status >= 500:
        raise TryLaterError(f"Argo CD answered {answer.status}", answer.retry_after_seconds())
    fields = answer.fields()
    comment = assignment.scrubber.text(str(fields.get("message") or fields.get("error") or ""))[:300]
    reasons = {
        401: "config.token is not valid",
        403: "it is not there, or config.token has no permission for it",
        404: "it is not there",
    }
    reason = reasons.get(answer.status, f"Argo CD answered {answer.status}")
    message = f"application {config.application}: {reason}" + (f" ({comment})" if comment else "")
    return JobProgress("invalidIntegration", shortened(message))
