import click

from headgate.cli import main


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Shows the help of a command, or of all of them: `headgate help token create`."""
    parent = context.find_root()
    found: click.Command = parent.command
    for word in words:
        inner = found.get_command(parent, word) if isinstance(found, click.Group) else None
        if inner is None:
            context.fail(main.unknown_command(" ".join(words)))
        parent = click.Context(inner, parent=parent, info_name=word)
        found = inner
    click.echo(found.get_help(parent))
