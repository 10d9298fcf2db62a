from pathlib import Path
from typing import TYPE_CHECKING

import click

from headgate.cli import exit_codes, main
from headgate.cli.run_output import run_output

if TYPE_CHECKING:
    from headgate.simulate.model.result import Result


@click.command("simulate")
@click.argument("file", type=click.Path(path_type=Path))
@run_output(
    "text",
    "json",
    "html",
    about="A timeline to read (the default), the whole result, or one page with the charts.",
)
@click.option("--until", metavar="TIME", help='Stop then: a time, or "+72h" from the start.')
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Another seed gives other ids and rollout orders."
)
def command(file: Path, output: str, until: str | None, seed: int | None, output_file: str | None) -> None:
    """Plays the scenario FILE in virtual time and shows what happens.

    Exit codes: 0 the run is over, however it went; 2 the scenario cannot be read; 3 a promise was broken.
    """
    from headgate.kernel.problems import Rejected
    from headgate.simulate import run, scenario

    try:
        loaded = scenario.load(file)
        until_time = scenario.parse_until(until, loaded.start) if until is not None else None
    except Rejected as rejected:
        main.refuse(rejected.problems)
    except OSError as error:
        main.refuse(f"{file}: cannot be read: {error.strerror or error}")
    except UnicodeDecodeError:
        main.refuse(f"{file}: cannot be read: it is not UTF-8 text")
    except ValueError as error:
        main.refuse(f"--until: {error}")
    result = run.simulate(loaded, until_time, seed)
    main.write_output(_rendered(result, output), output_file)
    if result.violations:
        for violation in result.violations[:10]:
            click.echo(
                f"promise {violation.promise} broken (seed {result.seed}): {violation.message}", err=True
            )
        raise SystemExit(exit_codes.PROMISE_BROKEN)


def _rendered(result: "Result", output: str) -> str:
    if output == "json":
        return result.to_json()
    if output == "html":
        from headgate.screens import page

        return page.render(result)
    from headgate.screens import timeline_text

    return timeline_text.render(result)
