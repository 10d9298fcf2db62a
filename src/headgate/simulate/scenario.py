"""Reads scenario files. Everything that is wrong with one is said at once, each problem with its path."""

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headgate.cluster.simulated import matching
from headgate.cluster.simulated.settings import Cluster
from headgate.fleet.engine import manifests
from headgate.fleet.model import expressions
from headgate.kernel import documents, instants
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.kernel.spans import Span
from headgate.simulate.expectation_functions import EXPECT
from headgate.simulate.model import steps
from headgate.simulate.model.times import When

API_VERSION = "headgate.dev/v1"
KIND = "Scenario"
DEFAULT_SEED = 1
LONGEST_RUN = instants.hours(90 * 24)
MOST_STEPS = 100_000

Outcome = Literal[
    "successful",
    "failure",
    "cancelled",
    "skipped",
    "invalidJobAgent",
    "invalidIntegration",
    "externalRunNotFound",
    "timedOut",
    "never",
]


class AgentEntry(msgspec.Struct, frozen=True, rename="camel"):
    """How the jobs that `match` picks behave: so long after its creation an agent comes for a job, then its time counts.
    `never` stands for a job that nobody hears of again."""

    match: str = "true"
    duration: Span = Span(instants.minutes(1))
    claimed_after: Span = Span(0)
    outcomes: Annotated[tuple[Outcome, ...], Meta(min_length=1)] = ("successful",)
    timeout: Span | None = None
    message: str | None = None
    measurements: dict[str, Annotated[tuple[object, ...], Meta(min_length=1)]] = {}


class Expectation(msgspec.Struct, frozen=True):
    name: Annotated[str, Meta(min_length=1)]
    that: Annotated[str, Meta(min_length=1)]


class ObjectSource(msgspec.Struct, frozen=True):
    """A manifest as written; it is judged when the run starts, where a refusal is part of the result."""

    place: str
    document: object


class Scenario(msgspec.Struct, frozen=True):
    name: str
    start: Instant
    until: Instant | None = None
    seed: int = DEFAULT_SEED
    objects: tuple[ObjectSource, ...] = ()
    agents: tuple[AgentEntry, ...] = ()
    cluster: Cluster = Cluster()
    timeline: tuple[steps.Step, ...] = ()
    expect: tuple[Expectation, ...] = ()


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    start: When
    until: When | None = None
    seed: Annotated[int, Meta(ge=0)] = DEFAULT_SEED
    objects: tuple[object, ...] = ()
    files: tuple[str, ...] = ()
    agents: tuple[AgentEntry, ...] = ()
    cluster: Cluster = Cluster()
    timeline: tuple[object, ...] = ()
    expect: tuple[Expectation, ...] = ()


Folder = Path | Mapping[str, str]
"""Where the files of a scenario are: on the disk, or given with it, texts by their names."""


def is_scenario(document: object) -> bool:
    return isinstance(document, dict) and document.get("kind") == KIND


def load(path: Path) -> Scenario:
    """The one scenario of a file, with the manifests of the files it names."""
    scenarios = load_all(path)
    if len(scenarios) != 1:
        message = f"holds {len(scenarios)} documents of kind Scenario; allowed is one"
        raise Rejected([Problem(str(path), message)])
    return scenarios[0]


def load_all(path: Path) -> list[Scenario]:
    """Every scenario of a file. Problems are named by file and line."""
    return read_all(manifests.read_documents(path.read_text("utf-8"), source=str(path)), path.parent)


def read_all(contents: Sequence[manifests.TextDocument], folder: Folder | None) -> list[Scenario]:
    problems: list[Problem] = []
    scenarios: list[Scenario] = []
    for document in contents:
        if is_scenario(document.value):
            try:
                scenarios.append(read(document.value, folder=folder))
            except Rejected as rejected:
                problems.extend(manifests.located(document, problem) for problem in rejected.problems)
    if problems:
        raise Rejected(problems)
    return scenarios


def read(document: object, *, folder: Folder | None = None) -> Scenario:
    """`folder` is where `files` are looked for."""
    problems: list[Problem] = []
    result = _read(document, folder, problems)
    if problems or result is None:
        raise Rejected(problems)
    return result


def manifests_of(
    document: manifests.TextDocument, folder: Path | None
) -> tuple[list[manifests.TextDocument], set[Path]]:
    """The manifests that a readable scenario brings, with their lines, and the files some of them are from."""
    spec = document.value["spec"]
    text_documents: list[manifests.TextDocument] = []
    for source in _inline(spec.get("objects") or ()):
        prefix = f"{document.prefix}.spec.{source.place}".lstrip(".")
        line = document.lines.get(prefix, document.line)
        text_documents.append(
            manifests.TextDocument(source.document, document.source, line, document.lines, prefix)
        )
    files = {folder / name for name in spec.get("files") or ()} if folder is not None else set()
    for file in sorted(files):
        text_documents.extend(manifests.read_documents(file.read_text("utf-8"), source=str(file)))
    return text_documents, files


def parse_until(text: str, start: Instant) -> Instant:
    return When.from_document(text).resolve(start)


def _read(document: object, folder: Folder | None, problems: list[Problem]) -> Scenario | None:
    if not isinstance(document, dict):
        problems.append(Problem("", f"must be a map, not {documents.describe(document)}"))
        return None
    documents.refuse_unknown_keys(document, ("apiVersion", "kind", "metadata", "spec"), "", problems)
    for key, value in (("apiVersion", API_VERSION), ("kind", KIND)):
        if document.get(key) != value:
            given = documents.describe(document.get(key))
            problems.append(Problem(key, f"is {given}; allowed is {value}"))
    name = _name(document.get("metadata"), "metadata", problems)
    place = "spec"
    spec = _read_spec(document.get("spec"), place, problems)
    if not isinstance(spec, _Spec):
        return None
    start = spec.start.absolute
    if start is None:
        problems.append(Problem(f"{place}.start", "must be an absolute time such as 2026-03-01T09:00:00Z"))
        return None
    until = spec.until.resolve(start) if spec.until is not None else None
    if until is not None and until < start:
        problems.append(Problem(f"{place}.until", f"is before the start, {instants.show(start)}"))
    _check_expressions(spec, place, problems)
    return Scenario(
        name=name,
        start=start,
        until=until,
        seed=spec.seed,
        objects=(*_inline(spec.objects), *_from_files(spec.files, folder, place, problems)),
        agents=spec.agents,
        cluster=spec.cluster,
        timeline=_timeline(spec.timeline, start, f"{place}.timeline", problems),
        expect=spec.expect,
    )


def _read_spec(value: object, place: str, problems: list[Problem]) -> object:
    """With a bad field elsewhere the timeline is still looked at: a person wants all problems in one go."""
    spec = documents.read_into(_Spec, value, place, problems)
    if not isinstance(spec, _Spec) and isinstance(value, dict) and isinstance(value.get("timeline"), list):
        _timeline(value["timeline"], 0, f"{place}.timeline", problems)
    return spec


def _name(metadata: object, path: str, problems: list[Problem]) -> str:
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if isinstance(name, str) and name.strip():
        return name
    problems.append(Problem(f"{path}.name", "is required: a scenario is reported by its name"))
    return ""


def _inline(objects: Sequence[object]) -> list[ObjectSource]:
    """A list among the objects is several policies in the source document's own form."""
    sources: list[ObjectSource] = []
    for index, item in enumerate(objects):
        path = f"objects[{index}]"
        several = item if isinstance(item, list) else None
        if several is None:
            sources.append(ObjectSource(path, item))
        else:
            sources.extend(ObjectSource(f"{path}[{n}]", one) for n, one in enumerate(several))
    return sources


def _from_files(
    files: Sequence[str], folder: Folder | None, place: str, problems: list[Problem]
) -> list[ObjectSource]:
    sources: list[ObjectSource] = []
    for index, name in enumerate(files):
        path = f"{place}.files[{index}]"
        if folder is None:
            problems.append(Problem(path, "cannot be read: this scenario does not come from a file"))
            continue
        try:
            contents = manifests.read_documents(_text_of(name, folder), source=name)
        except OSError as error:
            problems.append(Problem(path, f"cannot read {name}: {error.strerror or error}"))
            continue
        except UnicodeDecodeError:
            problems.append(Problem(path, f"cannot read {name}: it is not UTF-8 text"))
            continue
        except Rejected as rejected:
            problems.extend(Problem(path, str(problem)) for problem in rejected.problems)
            continue
        sources.extend(ObjectSource(f"{name}:{document.line}", document.value) for document in contents)
    return sources


def _text_of(name: str, folder: Folder) -> str:
    """Files that came along have lost the folders they were in: the last part of a name is enough there."""
    if isinstance(folder, Path):
        return (folder / name).read_text("utf-8")
    given_text = folder.get(name, folder.get(PurePosixPath(name).name))
    if given_text is None:
        raise FileNotFoundError(errno.ENOENT, "it was not given together with the scenario")
    return given_text


def _timeline(
    items: Sequence[object], start: Instant, path: str, problems: list[Problem]
) -> tuple[steps.Step, ...]:
    if len(items) > MOST_STEPS:
        problems.append(Problem(path, f"has {len(items)} steps; allowed are {MOST_STEPS}"))
        return ()
    read = [_step(item, start, f"{path}[{index}]", index, problems) for index, item in enumerate(items)]
    return tuple(step for step in read if step is not None)


def _step(item: object, start: Instant, path: str, index: int, problems: list[Problem]) -> steps.Step | None:
    if not isinstance(item, dict):
        problems.append(Problem(path, f"must be a map with `at` and a step, not {documents.describe(item)}"))
        return None
    documents.refuse_unknown_keys(item, ("at", *steps.KINDS), path, problems)
    at = _step_time(item, start, path, problems)
    kinds = [key for key in item if key in steps.KINDS]
    if len(kinds) != 1:
        given = ", ".join(kinds) or "none"
        allowed = ", ".join(steps.KINDS)
        problems.append(
            Problem(path, f"needs exactly one step beside `at`, has {given}; allowed are {allowed}")
        )
        return None
    kind = kinds[0]
    payload = documents.read_into(steps.KINDS[kind], item[kind], f"{path}.{kind}", problems)
    if at is None or payload is documents.INVALID:
        return None
    return steps.Step(at, kind, payload, f"timeline[{index}].{kind}")


def _step_time(item: dict[object, object], start: Instant, path: str, problems: list[Problem]) -> When | None:
    if "at" not in item:
        problems.append(Problem(f"{path}.at", "is required"))
        return None
    try:
        at = When.from_document(item["at"])
    except ValueError as error:
        problems.append(Problem(f"{path}.at", str(error)))
        return None
    if at.resolve(start) < start:
        problems.append(Problem(f"{path}.at", f"is before the start, {instants.show(start)}"))
    return at


def _check_expressions(spec: _Spec, place: str, problems: list[Problem]) -> None:
    for index, agent in enumerate(spec.agents):
        expressions.check(expressions.SCENARIO_MATCH, agent.match, f"{place}.agents[{index}].match", problems)
    for index, behavior in enumerate(spec.cluster.behaviors):
        path = f"{place}.cluster.behaviors[{index}].match"
        expressions.check(matching.MATCH, behavior.match, path, problems)
    names: set[str] = set()
    for index, expectation in enumerate(spec.expect):
        expressions.check(EXPECT, expectation.that, f"{place}.expect[{index}].that", problems)
        if expectation.name in names:
            path = f"{place}.expect[{index}].name"
            problems.append(Problem(path, f'"{expectation.name}" is taken; names of expectations are unique'))
        names.add(expectation.name)
