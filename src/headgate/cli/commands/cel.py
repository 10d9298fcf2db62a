import json
from typing import TYPE_CHECKING

import click

from headgate.cli import exit_codes, main

if TYPE_CHECKING:
    from headgate import cel

_NAMES = (
    "resource",
    "environment",
    "deployment",
    "version",
    "target",
    "targets",
    "now",
    "signals",
    "jobAgent",
    "attempt",
    "result",
)
"""What expressions read in one place or another; here any of them may be named without a value."""


@click.command("cel")
@click.argument("expression")
@click.option(
    "--bind",
    "binds",
    multiple=True,
    metavar="NAME=JSON",
    help="Gives a variable its value; a text that is not JSON is taken as a string.",
)
@click.option(
    "--output", type=click.Choice(["text", "json"]), default="text", help="Lines to read, or a JSON document."
)
def command(expression: str, binds: tuple[str, ...], output: str) -> None:
    """Checks EXPRESSION; shows its value, its type, the fields that it reads and its cost in steps.

    Exit codes: 0 it has a value (or only lacks one that it reads); 1 it is malformed or fails to evaluate.
    """
    from headgate import cel
    from headgate.fleet.model import expressions

    bindings = _bindings(binds)
    variables = dict.fromkeys((*_NAMES, *bindings), cel.DYN)
    environment = cel.CelEnvironment(variables, expressions.GATE.functions)
    try:
        program = environment.compile(expression)
    except cel.CompileError as error:
        main.refuse(str(error), code=exit_codes.FAILED)
    reads = [".".join(path) for path in sorted(program.paths)]
    report: dict[str, object] = {"type": program.result_type, "reads": reads}
    missing = sorted(program.roots - bindings.keys())
    failure = None
    if missing:
        report["unbound"] = missing
    else:
        failure = _evaluate(program, bindings, report)
    click.echo(_rendered(report, output))
    if failure is not None:
        main.refuse(failure, code=exit_codes.FAILED)


def _evaluate(program: "cel.Program", bindings: dict[str, object], report: dict[str, object]) -> str | None:
    from headgate import cel

    try:
        value, cost = program.evaluate_counted(bindings)
    except cel.EvaluationError as error:
        return f"{program.text}\nfails to evaluate: {error}"
    report["value"] = value
    report["cost"] = cost
    return None


def _bindings(binds: tuple[str, ...]) -> dict[str, object]:
    bindings: dict[str, object] = {}
    for bind in binds:
        name, separator, text = bind.partition("=")
        if not separator or not name.isidentifier():
            main.refuse(f'--bind {bind}: must be NAME=JSON, such as resource={{"kind":"Node"}}')
        try:
            bindings[name] = json.loads(text)
        except ValueError:
            if text[:1] in ("{", "[", '"'):
                main.refuse(f"--bind {name}: is not JSON: {text}")
            bindings[name] = text
    return bindings


def _rendered(report: dict[str, object], output: str) -> str:
    if output == "json":
        return json.dumps(report, ensure_ascii=False, indent=2, default=str)
    lines = []
    if "value" in report:
        value = json.dumps(report["value"], ensure_ascii=False, default=str)
        lines.append(f"value  {value}")
    lines.append(f"type   {report['type']}")
    reads = report["reads"]
    assert isinstance(reads, list)
    lines.append(f"reads  {', '.join(reads) or 'nothing'}")
    if "cost" in report:
        lines.append(f"cost   {report['cost']} steps")
    missing = report.get("unbound")
    if isinstance(missing, list):
        lines.append(f"no value: give {', '.join(f'--bind {name}=JSON' for name in missing)}")
    return "\n".join(lines)
