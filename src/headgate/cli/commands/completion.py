import click

from headgate.cli import main


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def command(shell: str) -> None:
    """Prints the script that completes commands, kinds and names in SHELL: bash, zsh or fish.

    Exit codes: 0 printed; 2 called wrongly.
    """
    from click import shell_completion

    known = shell_completion.get_completion_class(shell)
    assert known is not None
    script = known(main.headgate, {}, "headgate", main.COMPLETES)
    click.echo(script.source_template % script.source_vars())
