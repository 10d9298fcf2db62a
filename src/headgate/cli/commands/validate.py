from typing import TYPE_CHECKING

import click

from headgate.cli import exit_codes, main, manifest_files

if TYPE_CHECKING:
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
    from headgate import validation
    from headgate.fleet.engine import manifests
    from headgate.kernel.problems import Rejected

    unreadable: list[Problem] = []
    sources: list[validation.Source] = []
    for name, folder, text in manifest_files.texts([*paths, *more]):
        try:
            sources.append(validation.Source(name, manifests.read_documents(text, source=name), folder))
        except Rejected as rejected:
            unreadable += rejected.problems
    report = validation.check(sources)
    for warning in report.warnings:
        click.echo(str(warning), err=True)
    count = sum(len(source.documents) for source in sources)
    _report([*unreadable, *report.problems], count, [*paths, *more])


def _report(problems: "list[Problem]", count: int, paths: list[str]) -> None:
    if problems:
        for problem in problems:
            click.echo(str(problem))
        noun = "problem" if len(problems) == 1 else "problems"
        click.echo(f"{len(problems)} {noun}", err=True)
        raise SystemExit(exit_codes.FAILED)
    if not count:
        main.refuse(f"nothing to check in {', '.join(paths)}")
    click.echo(f"{count} {'document' if count == 1 else 'documents'}, no problem")
