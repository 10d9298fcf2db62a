"""The outcomes of a suite, for a person, for a program, and for a build server (JUnit XML)."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

from headgate.kernel import instants
from headgate.simulate.suite import ScenarioOutcome

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_text(outcomes: Sequence[ScenarioOutcome]) -> str:
    lines: list[str] = []
    width = max((len(outcome.scenario) for outcome in outcomes), default=0)
    for outcome in outcomes:
        lines.extend(_lines(outcome, min(width, 48)))
    failed = sum(1 for outcome in outcomes if not outcome.passed)
    noun = "scenario" if len(outcomes) == 1 else "scenarios"
    lines.append(f"{len(outcomes)} {noun}: {len(outcomes) - failed} passed, {failed} failed")
    return "\n".join(lines) + "\n"


def _lines(outcome: ScenarioOutcome, width: int) -> Iterator[str]:
    mark = "ok  " if outcome.passed else "FAIL"
    yield f"{mark}  {outcome.scenario:<{width}}  {_summary(outcome)}"
    if outcome.passed:
        return
    yield f"      {outcome.file}"
    for problem in outcome.problems:
        yield from _indented(str(problem), 6)
    for failure in outcome.failures:
        yield f"      expected: {failure.name}"
        yield from _indented(failure.message, 8)
    for violation in outcome.violations:
        yield f"      promise {violation.promise} broken at {instants.show(violation.at)}, seed {outcome.seed}"
        yield from _indented(violation.message, 8)


def _summary(outcome: ScenarioOutcome) -> str:
    if outcome.problems:
        return "cannot be read"
    met = len(outcome.expectations) - len(outcome.failures)
    held = f"{met} of {len(outcome.expectations)} expectations" if outcome.expectations else "promises only"
    return f"{held}, {outcome.jobs_count} jobs, {instants.show_duration(outcome.span)}"


def _indented(text: str, by: int) -> Iterator[str]:
    for line in text.splitlines():
        yield " " * by + line


def to_json(outcomes: Sequence[ScenarioOutcome]) -> str:
    document = {
        "passed": all(outcome.passed for outcome in outcomes),
        "scenarios": [_document(outcome) for outcome in outcomes],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _document(outcome: ScenarioOutcome) -> dict[str, Any]:
    return {
        "file": outcome.file,
        "scenario": outcome.scenario,
        "seed": outcome.seed,
        "passed": outcome.passed,
        "expectations": [
            {"name": item.name, "passed": item.passed, "message": item.message}
            for item in outcome.expectations
        ],
        "violations": [
            {"promise": item.promise, "at": instants.show(item.at), "message": item.message}
            for item in outcome.violations
        ],
        "problems": [{"path": problem.path, "message": problem.message} for problem in outcome.problems],
    }


def to_junit(outcomes: Sequence[ScenarioOutcome]) -> str:
    """A suite for each scenario, a case for each expectation, one more for the promises."""
    root = ElementTree.Element("testsuites", name="headgate")
    for outcome in outcomes:
        _suite(root, outcome)
    suites = list(root)
    for total in ("tests", "failures", "errors"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in suites)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, outcome: ScenarioOutcome) -> None:
    suite = ElementTree.SubElement(
        root, "testsuite", name=_clean(outcome.scenario), file=_clean(outcome.file)
    )
    if outcome.problems:
        case = _case(suite, outcome, "can be read")
        _fault(case, "error", "cannot be read", "\n".join(str(problem) for problem in outcome.problems))
    else:
        for item in outcome.expectations:
            case = _case(suite, outcome, item.name)
            if not item.passed:
                _fault(case, "failure", item.message.splitlines()[0], item.message)
        case = _case(suite, outcome, "promises hold")
        if outcome.violations:
            details = "\n".join(
                f"{item.promise} at {instants.show(item.at)}: {item.message}" for item in outcome.violations
            )
            _fault(case, "failure", f"{outcome.violations[0].promise} broken", details)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))


def _case(suite: ElementTree.Element, outcome: ScenarioOutcome, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=_clean(outcome.scenario), name=_clean(name), file=_clean(outcome.file)
    )


def _fault(case: ElementTree.Element, kind: str, message: str, details: str) -> None:
    fault = ElementTree.SubElement(case, kind, message=_clean(message))
    fault.text = _clean(details)


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
