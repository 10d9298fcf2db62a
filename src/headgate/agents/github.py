"""`github`: a workflow of GitHub Actions, dispatched once for each job.

A dispatch may be taken though its answer is lost. So the intent is kept first; afterwards the run is only looked for,
by the id that the answer gave or by the job's id in the run's name, and never dispatched again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec

from headgate.agents.credentials import Credentials
from headgate.agents.port import Agent, Assignment, JobProgress, TimeoutSeconds, TryLaterError, shortened
from headgate.agents.web import LONGEST_WAIT_SECONDS, Web, WebAnswer, segment
from headgate.fleet.model import objects as model
from headgate.fleet.rules.verification import Address
from headgate.kernel import instants
from headgate.kernel.instants import Instant

API_VERSION = "2022-11-28"
CLOCK_SKEW_SECONDS = 120
RUNS_PER_PAGE = 50
MOST_PAGES = 4
NEXT_POLL_SECONDS = 3.0

_LIVE = {
    "queued": "queued",
    "requested": "queued",
    "pending": "queued",
    "waiting": "actionRequired",
    "in_progress": "inProgress",
}
_CONCLUDED = {
    "success": "successful",
    "neutral": "successful",
    "skipped": "skipped",
    "cancelled": "cancelled",
    "timed_out": "timedOut",
    "action_required": "actionRequired",
}


class GithubConfig(msgspec.Struct, frozen=True, rename="camel"):
    owner: Annotated[str, msgspec.Meta(min_length=1)]
    repo: Annotated[str, msgspec.Meta(min_length=1)]
    workflow: Annotated[str, msgspec.Meta(min_length=1)]
    ref: Annotated[str, msgspec.Meta(min_length=1)] = "main"
    inputs: dict[str, object] = {}
    job_id_input: str = "headgate_job_id"
    token: str | None = None
    token_env: str | None = None
    api_url: Address = "https://api.github.com"
    poll_seconds: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 10
    find_seconds: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 180
    timeout_seconds: TimeoutSeconds | None = None

    @property
    def workflow_path(self) -> str:
        return f"{self.repository_path}/actions/workflows/{segment(self.workflow, 'workflow')}"

    @property
    def repository_path(self) -> str:
        return f"/repos/{segment(self.owner, 'owner')}/{segment(self.repo, 'repo')}"


class GithubAgent(Agent):
    type = "github"

    def __init__(
        self, clock: Callable[[], Instant], web: Web | None = None, credentials: Credentials | None = None
    ) -> None:
        self._clock = clock
        self._credentials = credentials or Credentials()
        self._web = web or Web()

    async def start(self, assignment: Assignment) -> JobProgress:
        config = assignment.config(GithubConfig)
        if "dispatchedAt" in assignment.state:
            return await self._followed(config, assignment)
        await assignment.keep(dispatchedAt=self._clock())
        try:
            answer = await self._dispatch(config, assignment)
        except TryLaterError as error:
            if error.was_sent:
                message = f"{error.message}; looking for the run, in case it began"
                return JobProgress("queued", message, requeue_seconds=NEXT_POLL_SECONDS)
            await assignment.keep(dispatchedAt=None)
            raise
        return await self._dispatched(config, assignment, answer)

    async def _dispatched(
        self, config: GithubConfig, assignment: Assignment, answer: WebAnswer
    ) -> JobProgress:
        if answer.is_good:
            run = answer.fields()
            if not isinstance(run.get("workflow_run_id"), int):
                return JobProgress(
                    "queued", "dispatched; looking for the run", requeue_seconds=NEXT_POLL_SECONDS
                )
            await assignment.keep(run=run["workflow_run_id"], page=run.get("html_url"))
            return JobProgress(
                "queued",
                "dispatched",
                str(run["workflow_run_id"]),
                _links(run),
                NEXT_POLL_SECONDS,
            )
        if answer.status >= 500:
            message = f"GitHub answered {answer.status}; looking for the run, in case it began"
            return JobProgress("queued", message, requeue_seconds=NEXT_POLL_SECONDS)
        await assignment.keep(dispatchedAt=None)
        self._refuse_limit(answer)
        return JobProgress("invalidIntegration", _refusal(config, assignment, answer))

    async def _dispatch(self, config: GithubConfig, assignment: Assignment) -> WebAnswer:
        """Servers that do not know `return_run_details` refuse the whole request, and begin nothing."""
        inputs = {key: _input(value) for key, value in config.inputs.items()}
        if config.job_id_input:
            inputs[config.job_id_input] = assignment.job.id
        body: dict[str, Any] = {"ref": config.ref, "inputs": inputs}
        path = f"{config.workflow_path}/dispatches"
        answer = await self._call(config, "POST", path, {**body, "return_run_details": True})
        if answer.status == 422 and "return_run_details" in answer.text():
            answer = await self._call(config, "POST", path, body)
        return answer

    async def follow(self, assignment: Assignment) -> JobProgress:
        return await self._followed(assignment.config(GithubConfig), assignment)

    async def _followed(self, config: GithubConfig, assignment: Assignment) -> JobProgress:
        run_id = assignment.state.get("run")
        if run_id is None:
            run = await self._run_of(config, assignment)
            if run is None:
                return self._not_found_yet(config, assignment)
            await assignment.keep(run=run["id"])
        else:
            answer = await self._call(config, "GET", f"{config.repository_path}/actions/runs/{run_id}")
            self._refuse_limit(answer)
            if answer.status == 404:
                return self._not_there(config, assignment, run_id)
            if not answer.is_good:
                raise TryLaterError(
                    f"GitHub answered {answer.status} for run {run_id}", answer.retry_after_seconds()
                )
            run = answer.fields()
        return _progress(config, run)

    def _not_there(self, config: GithubConfig, assignment: Assignment, run_id: object) -> JobProgress:
        """A run may not be readable yet in the first moments after its dispatch."""
        if self._clock() < self._find_until(config, assignment):
            return JobProgress(
                "queued", "dispatched; the run is not there yet", requeue_seconds=NEXT_POLL_SECONDS
            )
        return JobProgress("externalRunNotFound", f"run {run_id} of {_repository(config)} is not there")

    def _not_found_yet(self, config: GithubConfig, assignment: Assignment) -> JobProgress:
        if self._clock() < self._find_until(config, assignment):
            return JobProgress("queued", "looking for the run", requeue_seconds=NEXT_POLL_SECONDS)
        return JobProgress(
            "externalRunNotFound",
            f"no run of {config.workflow} in {_repository(config)} has the job's id in its name within "
            f"{config.find_seconds} s of the dispatch; write `run-name: ... ${{{{ inputs.{config.job_id_input} }}}}` "
            "in the workflow",
        )

    def _find_until(self, config: GithubConfig, assignment: Assignment) -> Instant:
        return int(assignment.state["dispatchedAt"]) + instants.seconds(config.find_seconds)

    async def _run_of(self, config: GithubConfig, assignment: Assignment) -> dict[str, Any] | None:
        since = int(assignment.state["dispatchedAt"]) - instants.seconds(CLOCK_SKEW_SECONDS)
        created = ">=" + instants.to_datetime(since).strftime("%Y-%m-%dT%H:%M:%SZ")
        for page in range(1, MOST_PAGES + 1):
            query = urlencode(
                {
                    "event": "workflow_dispatch",
                    "created": created,
                    "per_page": RUNS_PER_PAGE,
                    "page": page,
                }
            )
            answer = await self._call(config, "GET", f"{config.workflow_path}/runs?{query}")
            self._refuse_limit(answer)
            if not answer.is_good:
                raise TryLaterError(f"GitHub answered {answer.status} for the list of runs")
            runs = answer.fields().get("workflow_runs")
            runs = runs if isinstance(runs, list) else []
            run = _named(runs, assignment.job.id)
            if run is not None or len(runs) < RUNS_PER_PAGE:
                return run
        return None

    async def stop(self, assignment: Assignment) -> None:
        """A run that has ended refuses to be cancelled, which is as good."""
        config = assignment.config(GithubConfig)
        if "dispatchedAt" not in assignment.state:
            return
        run_id = assignment.state.get("run")
        if run_id is None:
            run = await self._run_of(config, assignment)
            if run is None and self._clock() < self._find_until(config, assignment):
                raise TryLaterError("the run is not there yet", NEXT_POLL_SECONDS)
            if run is None:
                return
            run_id = run["id"]
        answer = await self._call(config, "POST", f"{config.repository_path}/actions/runs/{run_id}/cancel")
        self._refuse_limit(answer)
        if answer.status >= 500 or answer.status in (401, 403):
            raise TryLaterError(f"GitHub answered {answer.status} to the cancelling of run {run_id}")

    async def close(self) -> None:
        await self._web.close()

    async def _call(self, config: GithubConfig, method: str, path: str, body: object = None) -> WebAnswer:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token(config)}",
            "X-GitHub-Api-Version": API_VERSION,
        }
        encoded = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            encoded = msgspec.json.encode(body)
        return await self._web.call(method, config.api_url.rstrip("/") + path, headers=headers, body=encoded)

    def _token(self, config: GithubConfig) -> str:
        return self._credentials.find(config.token, config.token_env, field="token")

    def _refuse_limit(self, answer: WebAnswer) -> None:
        """Both of GitHub's limits, the hourly one and the one against bursts, may come as 403 or 429."""
        used_up = answer.headers.get("x-ratelimit-remaining") == "0"
        wait_seconds = answer.retry_after_seconds()
        is_limit = answer.status == 429 or (answer.status == 403 and (used_up or wait_seconds is not None))
        if not is_limit:
            return
        if wait_seconds is None and used_up:
            wait_seconds = self._until_reset(answer.headers.get("x-ratelimit-reset", ""))
        raise TryLaterError("GitHub's rate limit is used up", 60.0 if wait_seconds is None else wait_seconds)

    def _until_reset(self, reset: str) -> float | None:
        if not reset.isascii() or not reset.isdigit():
            return None
        wait = (instants.seconds(int(reset[:12])) - self._clock()) / instants.MICROSECONDS_PER_SECOND
        return min(max(wait, 1.0), LONGEST_WAIT_SECONDS)


def _repository(config: GithubConfig) -> str:
    return f"{config.owner}/{config.repo}"


def _input(value: object) -> str:
    """GitHub takes inputs as strings only."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _named(runs: Iterable[object], job: str) -> dict[str, Any] | None:
    for run in runs:
        if isinstance(run, dict) and isinstance(run.get("id"), int):
            names = (run.get("display_title"), run.get("name"))
            if any(isinstance(name, str) and job in name for name in names):
                return run
    return None


def _progress(config: GithubConfig, run: dict[str, Any]) -> JobProgress:
    status, conclusion = str(run.get("status")), str(run.get("conclusion"))
    number, links = str(run.get("id")), _links(run)
    if status != "completed":
        live = _LIVE.get(status, "inProgress")
        message = f"run {number} is {status.replace('_', ' ')}"
        return JobProgress(live, message, number, links, config.poll_seconds)
    message = f"run {number} ended: {conclusion.replace('_', ' ')}"
    ended = _CONCLUDED.get(conclusion, "failure")
    return JobProgress(ended, message, number, links, config.poll_seconds)


def _links(run: dict[str, Any]) -> dict[str, str]:
    page = run.get("html_url")
    return {"run": page} if isinstance(page, str) and model.is_web_address(page) else {}


def _refusal(config: GithubConfig, assignment: Assignment, answer: WebAnswer) -> str:
    comment = str(answer.fields().get("message") or answer.text().strip())
    comment = assignment.scrubber.text(comment)[:200]
    where = f"{config.workflow} of {_repository(config)} at {config.ref}"
    reasons = {
        401: "config.token is not valid",
        403: "config.token has no permission to write actions there",
        404: "it is not there, or config.token may not see it",
    }
    reason = reasons.get(answer.status, f"GitHub answered {answer.status}")
    message = f"{where} cannot be dispatched: {reason}" + (f" ({comment})" if comment else "")
    return shortened(message)
