"""Measurements after a job that say whether the change is good."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from headgate import cel
from headgate.fleet.model import careful_addresses, expressions, hiding
from headgate.fleet.model import objects as model
from headgate.fleet.model.agent_fields import HIDDEN
from headgate.fleet.rules.spec import RuleSpec, Traits
from headgate.kernel import instants
from headgate.kernel.documents import Checked
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem

Status = Literal["running", "passed", "failed"]
Finding = Literal["passed", "failed", "inconclusive"]


class MetricFinding(msgspec.Struct, frozen=True):
    """What one measurement says, by which condition, in a sentence."""

    finding: Finding
    message: str
    condition: str = ""


_NOT_SHOWN = f'has "{HIDDEN}", which stands for a value that was not shown; allowed is the value'


def _check_body(text: str, path: str, problems: list[Problem]) -> None:
    if text.startswith(HIDDEN):
        problems.append(Problem(path, _NOT_SHOWN))


def _check_address(text: str, path: str, problems: list[Problem]) -> None:
    scheme, separator, rest = text.partition("://")
    if hiding.has_hidden(text):
        problems.append(Problem(path, _NOT_SHOWN))
    if scheme not in ("http", "https") or not separator or not rest or any(c.isspace() for c in text):
        problems.append(
            Problem(
                path,
                f'is "{hiding.of_address(text)[:80]}"; allowed are addresses that begin with http:// or https://',
            )
        )


_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OF_THE_CONNECTION = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
)


def check_headers(headers: dict[str, str], path: str, problems: list[Problem]) -> None:
    """What would make another request of it, or several."""
    for name, value in headers.items():
        if value.startswith(HIDDEN):
            problems.append(Problem(f"{path}[{name!r}]", _NOT_SHOWN))
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OF_THE_CONNECTION:
            reserved = ", ".join(sorted(_OF_THE_CONNECTION))
            allowed = f"names of headers other than {reserved}"
            problems.append(Problem(f"{path}[{name!r}]", f"is not allowed; allowed are {allowed}"))
        if any((ord(character) < 32 and character != "\t") or ord(character) == 127 for character in value):
            problems.append(
                Problem(f"{path}[{name!r}]", "has a control character; allowed is one line of text")
            )


Address = Annotated[str, Checked(_check_address)]


class Http(msgspec.Struct, frozen=True, rename="camel", tag="http", tag_field="type"):
    url: Address
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] = "GET"
    headers: Annotated[dict[str, str], Checked(check_headers)] = {}
    body: Annotated[str, Checked(_check_body)] | None = None
    timeout_seconds: Annotated[int, msgspec.Meta(ge=1, le=300)] = 30

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        """Headers may hold a credential, so with them nobody else may say where the request goes."""
        url, headers = given.get("url"), given.get("headers")
        if not isinstance(url, str) or not isinstance(headers, dict) or not headers:
            return
        careful_addresses.check(url, f"{path}.url", problems)
        if hiding.has_user(url) and any(str(name).lower() == "authorization" for name in headers):
            problems.append(
                Problem(f"{path}.url", "has a user beside a header Authorization; allowed is one of them")
            )


class Prometheus(msgspec.Struct, frozen=True, rename="camel", tag="prometheus", tag_field="type"):
    address: Address
    query: Annotated[str, msgspec.Meta(min_length=1)]
    timeout_seconds: Annotated[int, msgspec.Meta(ge=1, le=300)] = 30


class Sleep(msgspec.Struct, frozen=True, rename="camel", tag="sleep", tag_field="type"):
    duration_seconds: Annotated[int, msgspec.Meta(ge=0, le=7 * 86_400)]


class Metric(msgspec.Struct, frozen=True, rename="camel"):
    """It passes after `success_threshold` passes in a row, or without one after `count` measurements, and fails with
    more than `failure_threshold` failures. A measurement that neither condition decides is a failure, unless there is a
    `failure_condition`: then it decides nothing."""

    name: model.Name
    provider: Http | Prometheus | Sleep
    success_condition: expressions.ConditionText | None = None
    interval_seconds: Annotated[int, msgspec.Meta(ge=1, le=7 * 86_400)] = 60
    count: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1
    success_threshold: Annotated[int, msgspec.Meta(ge=1)] | None = None
    failure_condition: expressions.ConditionText | None = None
    failure_threshold: Annotated[int, msgspec.Meta(ge=0)] = 0

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        count, threshold = given.get("count"), given.get("success_threshold")
        if isinstance(count, int) and isinstance(threshold, int) and threshold > count:
            problems.append(
                Problem(
                    f"{path}.successThreshold",
                    f"is {threshold}, more than count ({count}): it could never pass",
                )
            )
        provider = given.get("provider")
        if (
            provider is not None
            and not isinstance(provider, Sleep)
            and given.get("success_condition", "") is None
        ):
            problems.append(Problem(f"{path}.successCondition", "is required for this provider"))

    def in_words(self) -> str:
        """Without addresses and what is sent there, which may hold a secret."""
        if isinstance(self.provider, Sleep):
            return f"waits {instants.show_duration(instants.seconds(self.provider.duration_seconds))}"
        source = "prometheus" if isinstance(self.provider, Prometheus) else "http"
        every = instants.show_duration(instants.seconds(self.interval_seconds))
        often = f", {self.count} times every {every}" if self.count > 1 else ""
        passes = f", passes when `{self.success_condition}`" if self.success_condition else ""
        fails = f", fails when `{self.failure_condition}`" if self.failure_condition else ""
        most = f", {self.failure_threshold} failures allowed" if self.failure_threshold else ""
        return f"{source}{often}{passes}{fails}{most}"


def _check_metric_names(metrics: Sequence[Metric], path: str, problems: list[Problem]) -> None:
    names: set[str] = set()
    for index, metric in enumerate(metrics):
        if metric.name in names:
            problems.append(Problem(f"{path}[{index}].name", f'is "{metric.name}" a second time'))
        names.add(metric.name)


class Verification(RuleSpec, frozen=True, rename="camel"):
    traits = Traits(is_ended_by_people=True, acts_inside_cycle=True, is_of_any_version=True)

    metrics: Annotated[tuple[Metric, ...], msgspec.Meta(min_length=1), Checked(_check_metric_names)]
    trigger_on: Literal["jobCreated", "jobStarted", "jobSuccess", "jobFailure"] = "jobSuccess"

    def in_words(self) -> str:
        when = {
            "jobCreated": "When its job is created",
            "jobStarted": "When its job starts",
            "jobSuccess": "After its job has succeeded",
            "jobFailure": "After its job has failed",
        }[self.trigger_on]
        names = " and ".join(f"{metric.name} ({metric.in_words()})" for metric in self.metrics)
        return f"{when}, a version is measured by {names}."


class ProviderError(msgspec.Struct, frozen=True):
    """The provider gave no result."""

    message: str


class MetricState(msgspec.Struct, frozen=True):
    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    passed_in_a_row: int = 0
    last_measured_at: Instant | None = None
    message: str = ""


def after(metric: Metric, state: MetricState, measured: MetricFinding, now: Instant) -> MetricState:
    """The state after one more measurement."""
    if status(metric, state) != "running":
        return state
    finding = measured.finding
    return MetricState(
        passed=state.passed + (finding == "passed"),
        failed=state.failed + (finding == "failed"),
        inconclusive=state.inconclusive + (finding == "inconclusive"),
        passed_in_a_row=state.passed_in_a_row + 1 if finding == "passed" else 0,
        last_measured_at=now,
        message=measured.message,
    )


def find(metric: Metric, result: object) -> MetricFinding:
    """`result` is what the provider gave, or a ProviderError."""
    success, failure = metric.success_condition or "", metric.failure_condition
    if isinstance(result, ProviderError):
        return MetricFinding("inconclusive", f"{metric.name}: no result: {result.message}", success)
    try:
        if failure is not None and _holds(failure, result):
            return MetricFinding("failed", f"{metric.name}: {failure} is true", failure)
        if _holds(success or "true", result):
            return MetricFinding("passed", f"{metric.name}: {success or 'waited'}", success)
    except cel.EvaluationError as error:
        return MetricFinding("inconclusive", f"{metric.name}: {error}", success)
    if failure is not None:
        return MetricFinding("inconclusive", f"{metric.name}: neither condition is true", success)
    return MetricFinding("failed", f"{metric.name}: {success} is false", success)


def _holds(condition: str, result: object) -> bool:
    program = expressions.RESULT.compile(condition, expect=cel.BOOL)
    value = program.evaluate({"result": result}, steps=cel.SELECTOR_STEPS)
    if not isinstance(value, bool):
        raise cel.EvaluationError(f"{condition} is not true or false")
    return value


def status(metric: Metric, state: MetricState) -> Status:
    """What decides nothing does not use up `count`, but there are no more than `count` of those either."""
    if state.failed > metric.failure_threshold:
        return "failed"
    if metric.success_threshold is not None and state.passed_in_a_row >= metric.success_threshold:
        return "passed"
    if state.inconclusive >= metric.count:
        return "failed"
    if state.passed + state.failed >= metric.count:
        return "failed" if metric.success_threshold is not None or state.passed == 0 else "passed"
    return "running"


def next_measurement_at(metric: Metric, state: MetricState, started_at: Instant) -> Instant | None:
    if status(metric, state) != "running":
        return None
    if state.last_measured_at is not None:
        return state.last_measured_at + instants.seconds(metric.interval_seconds)
    wait = metric.provider.duration_seconds if isinstance(metric.provider, Sleep) else 0
    return started_at + instants.seconds(wait)
