"""Runs scenario files as tests: expectations must hold, and no promise may be broken."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from headgate.fleet.engine import manifests
from headgate.kernel.command_lines import command_line
from headgate.kernel.problems import Problem, Rejected
from headgate.promises.watch import Violation
from headgate.simulate import plan_equals_apply
from headgate.simulate import scenario as scenarios
from headgate.simulate.model.result import ExpectationResult, Result
from headgate.simulate.run import simulate

SUFFIXES = (".yaml", ".yml", ".json")
MOST_JOBS_TO_REPLAY = 2_000
"""Larger scenarios are not run a second time to compare bytes and plans: that would double the longest runs."""


class ScenarioOutcome(msgspec.Struct, frozen=True):
    """One scenario, or one file that could not be read (`problems`)."""

    file: str
    scenario: str
    expectations: tuple[ExpectationResult, ...] = ()
    violations: tuple[Violation, ...] = ()
    problems: tuple[Problem, ...] = ()
    seed: int = 0
    jobs_count: int = 0
    span: int = 0

    @property
    def passed(self) -> bool:
        return not self.problems and not self.violations and all(item.passed for item in self.expectations)

    @property
    def failures(self) -> tuple[ExpectationResult, ...]:
        return tuple(item for item in self.expectations if not item.passed)


def run(paths: Sequence[Path]) -> Iterator[ScenarioOutcome]:
    for path, is_named in find(paths):
        yield from _run_file(path, is_named)


def find(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Files in folders are looked for by their suffix; the flag says that the file was named itself."""
    seen: set[Path] = set()
    for path in paths:
        candidates: list[Path] = [path]
        if path.is_dir():
            candidates = sorted(
                item for item in path.rglob("*") if item.suffix in SUFFIXES and item.is_file()
            )
        for candidate in candidates:
            if candidate not in seen:
                seen.add(candidate)
                yield candidate, candidate == path


def _run_file(path: Path, is_named: bool) -> Iterator[ScenarioOutcome]:
    try:
        text = path.read_text("utf-8")
        if not is_named and not _may_hold_a_scenario(text, path.name):
            return
        scenarios_of_file = scenarios.load_all(path)
    except OSError as error:
        yield _unreadable(path, [Problem("", f"cannot be read: {error.strerror or error}")])
        return
    except UnicodeDecodeError:
        yield _unreadable(path, [Problem("", "cannot be read: it is not UTF-8 text")])
        return
    except Rejected as rejected:
        yield _unreadable(path, rejected.problems)
        return
    if not scenarios_of_file and is_named:
        yield _unreadable(path, [Problem("", "holds no document of kind Scenario")])
    for scenario in scenarios_of_file:
        yield _run_scenario(path, scenario)


def _may_hold_a_scenario(text: str, name: str) -> bool:
    """A file in a folder that is broken counts only if it says that it is a scenario."""
    if scenarios.KIND not in text:
        return False
    try:
        contents = manifests.read_documents(text, source=name)
    except Rejected:
        return f"kind: {scenarios.KIND}" in text
    return any(scenarios.is_scenario(document.value) for document in contents)


def _run_scenario(path: Path, scenario: scenarios.Scenario) -> ScenarioOutcome:
    """An error of our own fails the scenario that shows it, and the others are still run."""
    try:
        result = simulate(scenario)
        violations = [*result.violations, *_replay(scenario, result)]
    except Exception as error:
        again = command_line("simulate", str(path))
        message = f"internal error: {type(error).__name__}: {error}; {again} shows where"
        return ScenarioOutcome(
            str(path), scenario.name, (ExpectationResult("runs to its end", False, message),)
        )
    return ScenarioOutcome(
        file=str(path),
        scenario=scenario.name,
        expectations=tuple(result.expectations),
        violations=tuple(violations),
        seed=result.seed,
        jobs_count=len(result.jobs),
        span=result.end - result.start,
    )


def _replay(scenario: scenarios.Scenario, result: Result) -> Iterator[Violation]:
    if len(result.jobs) > MOST_JOBS_TO_REPLAY:
        return
    again, violations = plan_equals_apply.check(scenario)
    if again.to_json() != result.to_json():
        message = "the same events give the same decisions, byte for byte: a second run came out differently"
        yield Violation("ReplayEqualsDecision", result.end, message)
    yield from violations


def _unreadable(path: Path, problems: Sequence[Problem]) -> ScenarioOutcome:
    return ScenarioOutcome(file=str(path), scenario=path.stem, problems=tuple(problems))
