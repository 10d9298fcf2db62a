from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from headgate.cli import main, manifest_files

if TYPE_CHECKING:
    from headgate.fleet import manifests
    from headgate.kernel.problems import Problem


@click.command("validate")
@click.option(
    "-f",
    "--file",
    "paths",
    multiple=True,
    required=True,
    metavar="PATH",
    help="A file, a folder, or - for standard input; may be given several times.",
)
@click.argument("more", nargs=-1, metavar="[PATH]...")
def command(paths: tuple[str, ...], more: tuple[str, ...]) -> None:
    """Checks manifests and scenarios without applying them.

    Manifests are one set, in which references and names have to fit; those of a scenario are a set of their own.

    Exit codes: 0 nothing is wrong; 1 every problem was printed; 2 an input cannot be read.
    """
    from headgate.fleet import manifest_checks, manifests
    from headgate.kernel.problems import Problem, Rejected
    from headgate.simulate import scenario

    problems: dict[Problem, None] = {}
    objects: dict[str, list[manifests.Document]] = {}
    used_by_scenarios: set[str] = set()
    count = 0
    for source, folder, text in manifest_files.texts([*paths, *more]):
        try:
            contents = manifests.read_documents(text, source=source)
            count += len(contents)
            objects[source] = [item for item in contents if not scenario.is_scenario(item.value)]
            scenario.read_all(contents, folder)
        except Rejected as rejected:
            problems.update(dict.fromkeys(rejected.problems))
            continue
        for document in contents:
            if scenario.is_scenario(document.value):
                brought, files = scenario.manifests_of(document, folder)
                problems.update(dict.fromkeys(manifest_checks.validate(brought)))
                problems.update(dict.fromkeys(_workload_problems(brought)))
                problems.update(dict.fromkeys(_graph_problems(brought)))
                used_by_scenarios.update(str(file) for file in files)
    together = [
        item for source, items in objects.items() if source not in used_by_scenarios for item in items
    ]
    problems.update(dict.fromkeys(manifest_checks.validate(together)))
    problems.update(dict.fromkeys(_workload_problems(together)))
    problems.update(dict.fromkeys(_graph_problems(together)))
    _report(list(problems), count, [*paths, *more])


def _workload_problems(documents: "Sequence[manifests.Document]") -> "list[Problem]":
    """PodCliqueSets are judged as the API judges them; warnings are said and change nothing."""
    from headgate.fleet import manifests
    from headgate.kernel.objects import Object
    from headgate.kernel.problems import Problem, Rejected

    problems: list[Problem] = []
    before: list[Object] = []
    for document in documents:
        value = document.value
        if not isinstance(value, dict) or value.get("kind") != "PodCliqueSet":
            continue
        from headgate.workload import manifests as objects
        from headgate.workload import validate

        try:
            checked = validate.check(objects.read(value), others=before)
            found = checked.problems
            if not found:
                before.append(checked.object)
            for warning in checked.warnings:
                path, _, message = warning.partition(": ")
                click.echo(str(manifests.located(document, Problem(path, f"warning: {message}"))), err=True)
        except Rejected as rejected:
            found = rejected.problems
        problems.extend(manifests.located(document, problem) for problem in found)
    return problems


def _graph_problems(documents: "Sequence[manifests.Document]") -> "list[Problem]":
    """Definitions are compiled, and instances of those beside them are checked against their schemas."""
    from headgate.fleet import manifests
    from headgate.kernel.problems import Problem

    values = [document.value for document in documents if isinstance(document.value, dict)]
    if not any(value.get("kind") == "ResourceGraphDefinition" for value in values):
        return []
    from headgate.graph import validate

    by_place = {
        validate.place(document.value): document for document in documents if isinstance(document.value, dict)
    }
    found = []
    for problem in validate.check(values):
        place = next((place for place in by_place if problem.path.startswith(place)), None)
        if place is None:
            found.append(problem)
        else:
            path = problem.path.removeprefix(place).lstrip(":. ")
            found.append(manifests.located(by_place[place], Problem(path, problem.message)))
    return found


def _report(problems: Sequence[object], count: int, paths: list[str]) -> None:
    if problems:
        for problem in problems:
            click.echo(str(problem))
        noun = "problem" if len(problems) == 1 else "problems"
        click.echo(f"{len(problems)} {noun}", err=True)
        raise SystemExit(main.FAILED)
    if not count:
        main.refuse(f"nothing to check in {', '.join(paths)}")
    click.echo(f"{count} {'document' if count == 1 else 'documents'}, no problem")
