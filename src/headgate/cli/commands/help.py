import click

from headgate.cli import main


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Shows the help of a command, or of all of them: `headgate help token create`."""
    parent = context.find_root()
    described: click.Command = parent.command
    for word in words:
        inner = described.get_command(parent, word) if isinstance(described, click.Group) else None
        if inner is None:
            context.fail(main.unknown_command(" ".join(words)))
        parent = click.Context(inner, parent=parent, info_name=word)
        described = inner
    click.echo(described.get_help(parent))
