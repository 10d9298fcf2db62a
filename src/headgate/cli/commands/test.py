from pathlib import Path

import click

from headgate.cli import exit_codes, main
from headgate.cli.run_output import run_output


@click.command("test")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@run_output(
    "text",
    "json",
    "junit",
    about="Lines to read (the default), a JSON document, or JUnit XML for a build server.",
)
def command(paths: tuple[Path, ...], output: str, output_file: str | None) -> None:
    """Runs the scenarios in files and folders and checks what they expect.

    A scenario also fails when it breaks a promise. In folders, files that hold no scenario are passed over.

    Exit codes: 0 everything holds; 1 something does not; 2 an input cannot be read, or there is no scenario.
    """
    from headgate.screens import suite_report
    from headgate.simulate import suite

    outcomes = list(suite.run(paths))
    if not outcomes:
        main.refuse(f"no scenario in {', '.join(str(path) for path in paths)}")
    render = {
        "text": suite_report.to_text,
        "json": suite_report.to_json,
        "junit": suite_report.to_junit,
    }[output]
    main.write_output(render(outcomes), output_file)
    if any(outcome.problems for outcome in outcomes):
        raise SystemExit(exit_codes.UNREADABLE)
    if not all(outcome.passed for outcome in outcomes):
        raise SystemExit(exit_codes.FAILED)
