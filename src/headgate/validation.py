"""Judges documents of all levels without applying them: manifests of the fleet, workloads, graphs, and scenarios.

The command line and the library ask here, so that neither accepts what the other refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headgate.fleet.engine import manifest_checks, manifests
from headgate.fleet.engine.manifests import TextDocument
from headgate.kernel.problems import Problem, Rejected
from headgate.simulate import scenario

if TYPE_CHECKING:
    from headgate.kernel.objects import Object

_AGENT = "JobAgent"
_SET = "PodCliqueSet"
_DEFINITION = "ResourceGraphDefinition"


class Source(msgspec.Struct, frozen=True):
    """Documents that were read from one place; `folder` is where the files that scenarios name are looked for."""

    name: str
    documents: Sequence[TextDocument]
    folder: Path | None = None


class Findings(msgspec.Struct, frozen=True):
    """Warnings change nothing: what has only warnings is accepted."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def validate(given: str | Path | Iterable[Mapping[str, Any]]) -> list[Problem]:
    """What is wrong with documents of any kind: a text in YAML or JSON, a file, or the documents themselves."""
    if isinstance(given, str | Path):
        text, name = (given, "text") if isinstance(given, str) else (given.read_text("utf-8"), str(given))
        folder = given.parent if isinstance(given, Path) else None
        try:
            source = Source(name, manifests.read_documents(text, source=name), folder)
        except Rejected as rejected:
            return list(rejected.problems)
        return list(check([source]).problems)
    documents = [TextDocument(dict(value), f"documents[{index}]", 0) for index, value in enumerate(given)]
    return list(check([Source("documents", documents)]).problems)


def check(sources: Iterable[Source]) -> Findings:
    """Manifests are one set, in which references and names have to fit; those of a scenario are a set of their own."""
    given = list(sources)
    judged = _Judgement()
    used_by_scenarios: set[str] = set()
    for source in given:
        used_by_scenarios |= judged.add_scenarios(source)
    judged.add_set(
        [
            document
            for source in given
            if source.name not in used_by_scenarios
            for document in source.documents
            if not scenario.is_scenario(document.value)
        ]
    )
    return Findings(tuple(judged.problems), tuple(judged.warnings))


class _Judgement:
    """Collects in order, each problem once: two scenarios may bring the same file."""

    def __init__(self) -> None:
        self.problems: dict[Problem, None] = {}
        self.warnings: dict[Problem, None] = {}

    def add_scenarios(self, source: Source) -> set[str]:
        """The files that the scenarios of the source bring."""
        try:
            scenario.read_all(source.documents, source.folder)
        except Rejected as rejected:
            self.problems.update(dict.fromkeys(rejected.problems))
            return set()
        used: set[str] = set()
        for document in source.documents:
            if scenario.is_scenario(document.value):
                brought, files = scenario.manifests_of(document, source.folder)
                self.add_set(brought)
                used.update(str(file) for file in files)
        return used

    def add_set(self, documents: Sequence[TextDocument]) -> None:
        self.problems.update(dict.fromkeys(manifest_checks.validate(documents)))
        self._add_agents([document for document in documents if _kind(document) == _AGENT])
        self._add_workloads([document for document in documents if _kind(document) == _SET])
        if any(_kind(document) == _DEFINITION for document in documents):
            self._add_graphs(documents)

    def _add_agents(self, documents: Sequence[TextDocument]) -> None:
        """Configs of agents that a server runs are judged as a job would read them."""
        if not documents:
            return
        from headgate.agents import config_checks

        for document in documents:
            spec = document.value.get("spec")
            given: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {}
            config, opened = given.get("config", {}), given.get("overridable")
            if isinstance(config, Mapping):
                names = [str(name) for name in opened] if isinstance(opened, list) else None
                self._say(
                    document, config_checks.problems_of(str(given.get("type")), config, names, "spec.config")
                )

    def _add_workloads(self, documents: Sequence[TextDocument]) -> None:
        """PodCliqueSets are judged as the API judges them, each beside those before it."""
        if not documents:
            return
        from headgate.workload.checks import validate
        from headgate.workload.expand import manifests as objects

        before: list[Object] = []
        for document in documents:
            try:
                checked = validate.check(objects.read(document.value), others=before)
            except Rejected as rejected:
                self._say(document, rejected.problems)
                continue
            self._say(document, checked.problems)
            if not checked.problems:
                before.append(checked.object)
            for warning in checked.warnings:
                path, _, message = warning.partition(": ")
                self.warnings[manifests.located(document, Problem(path, f"warning: {message}"))] = None

    def _add_graphs(self, documents: Sequence[TextDocument]) -> None:
        """Definitions are compiled, and instances of those beside them are checked against their schemas."""
        from headgate.graph.compile import validate

        maps = [document for document in documents if isinstance(document.value, dict)]
        by_place = {validate.place(document.value): document for document in maps}
        for problem in validate.check([document.value for document in maps]):
            place = next((place for place in by_place if problem.path.startswith(place)), None)
            if place is None:
                self.problems[problem] = None
            else:
                path = problem.path.removeprefix(place).lstrip(":. ")
                self._say(by_place[place], [Problem(path, problem.message)])

    def _say(self, document: TextDocument, problems: Iterable[Problem]) -> None:
        self.problems.update(dict.fromkeys(manifests.located(document, problem) for problem in problems))


def _kind(document: TextDocument) -> object:
    return document.value.get("kind") if isinstance(document.value, dict) else None
