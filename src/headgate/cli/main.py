"""The `headgate` command. Commands are imported when they are called: it has to start fast."""

import importlib
import os
import sys
from typing import NoReturn

import click
from click.shell_completion import CompletionItem

from headgate.cli import exit_codes

_COMMANDS = {
    "up": ("headgate.cli.commands.up", "Runs the service: API, engine and local agents in one process."),
    "apply": ("headgate.cli.commands.apply", "Creates and changes objects as manifests say."),
    "diff": ("headgate.cli.commands.diff", "Shows what applying manifests would change."),
    "plan": ("headgate.cli.commands.plan", "Shows what would change and how the rollout would go."),
    "publish": ("headgate.cli.commands.publish", "Publishes a version of a deployment."),
    "get": ("headgate.cli.commands.get", "Lists objects, or shows one."),
    "delete": ("headgate.cli.commands.delete", "Deletes objects."),
    "export": ("headgate.cli.commands.export", "Prints all objects as manifests."),
    "discover": ("headgate.cli.commands.discover", "Hands in what a cluster has as resources."),
    "status": ("headgate.cli.commands.status", "Shows every deployment in every environment."),
    "watch": ("headgate.cli.commands.watch", "Follows rollouts as they go."),
    "wait": ("headgate.cli.commands.wait", "Waits until what was asked for runs where it should."),
    "explain": ("headgate.cli.commands.explain", "Says why a target has not changed yet."),
    "history": ("headgate.cli.commands.history", "Shows how it was at a past moment."),
    "policy": ("headgate.cli.commands.policies", "Says what policies ask for, in words."),
    "logs": ("headgate.cli.commands.logs", "Prints what a job printed."),
    "approve": ("headgate.cli.commands.votes:approve", "Approves a version for an environment."),
    "reject": ("headgate.cli.commands.votes:reject", "Rejects a version for an environment."),
    "withdraw-vote": ("headgate.cli.commands.votes:withdraw", "Takes back your own vote on a version."),
    "reject-version": (
        "headgate.cli.commands.reject_version",
        "Marks a version as bad: it starts nowhere any more.",
    ),
    "pause-version": ("headgate.cli.commands.pauses:pause", "Lets a version start nowhere for now."),
    "unpause-version": ("headgate.cli.commands.pauses:unpause", "Makes a paused version ready again."),
    "skip": ("headgate.cli.commands.skip", "Lets something pass one rule."),
    "freeze": ("headgate.cli.commands.freezes:freeze", "Stops the line."),
    "unfreeze": ("headgate.cli.commands.freezes:unfreeze", "Ends a freeze."),
    "retry": ("headgate.cli.commands.targets:retry", "Tries failed targets or a failed group again."),
    "rollback": (
        "headgate.cli.commands.targets:rollback",
        "Takes targets back to a version that ran before.",
    ),
    "redeploy": ("headgate.cli.commands.targets:redeploy", "Runs the version of targets once more."),
    "adopt": ("headgate.cli.commands.targets:adopt", "Records which version runs on targets already."),
    "abort": ("headgate.cli.commands.groups:abort", "Ends a group of a bracket."),
    "release-slot": (
        "headgate.cli.commands.groups:release_slot",
        "Frees the slot that a failed group holds.",
    ),
    "skip-member": (
        "headgate.cli.commands.groups:skip_member",
        "Goes on in a group without one of its members.",
    ),
    "resume": ("headgate.cli.commands.resume", "Goes on after a failure budget stopped the line."),
    "api": ("headgate.cli.commands.api_server", "Runs an API server alone."),
    "engine": ("headgate.cli.commands.engine", "Runs an engine worker alone."),
    "simulate": (
        "headgate.cli.commands.simulate",
        "Plays a scenario in virtual time and shows what happens.",
    ),
    "test": ("headgate.cli.commands.test", "Runs scenario files with their expectations."),
    "validate": ("headgate.cli.commands.validate", "Checks manifests and scenarios without applying them."),
    "cel": ("headgate.cli.commands.cel", "Checks a CEL expression; shows its value, type, reads and cost."),
    "agent": ("headgate.cli.commands.agent", "Runs jobs on this machine."),
    "operator": ("headgate.cli.commands.operator", "Runs and installs graphs and workloads on a cluster."),
    "workload": ("headgate.cli.commands.workload", "Shows and steers PodCliqueSets of a cluster."),
    "graph": ("headgate.cli.commands.graph", "Shows and steers resource graphs of a cluster."),
    "doctor": ("headgate.cli.commands.doctor", "Says what is wrong with the server, and what to do."),
    "token": ("headgate.cli.commands.tokens", "Creates, lists and deletes API tokens."),
    "workspace": ("headgate.cli.commands.workspaces", "Creates, lists and deletes workspaces."),
    "context": ("headgate.cli.commands.context", "Keeps the servers that commands talk to."),
    "login": ("headgate.cli.commands.login", "Stores a server and a token, and uses them."),
    "console": ("headgate.cli.commands.console", "Prints a link that opens the console and logs in once."),
    "whoami": ("headgate.cli.commands.whoami", "Shows who you are and what you may do."),
    "completion": ("headgate.cli.commands.completion", "Prints the completion script of a shell."),
    "version": ("headgate.cli.commands.version", "Prints the version."),
    "help": ("headgate.cli.commands.help", "Shows the help of a command."),
}
"""Each with its module, the name of the command in it unless that is `command`, and its line of help."""

COMPLETES = "_HEADGATE_COMPLETE"
"""The variable by which a shell's script asks for what can stand next."""

_OTHER_WORDS = {
    "create": "apply",
    "deploy": "publish",
    "describe": "explain",
    "list": "get",
    "log": "logs",
    "ls": "get",
    "pause": "freeze",
    "promote": "approve",
    "release": "publish",
    "server": "up",
    "undo": "rollback",
    "unpause": "unfreeze",
    "why": "explain",
}
"""What the same is called by the tools that people come from."""


class LazyGroup(click.Group):
    """Knows the names and one line of help of its commands without importing them."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute or "command")
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            context.fail(unknown_command(name))
        return super().resolve_command(context, args)

    def invoke(self, context: click.Context) -> object:
        from headgate.cli.failures import CommandFailure

        try:
            return super().invoke(context)
        except CommandFailure as failure:
            refuse(failure.sentences, code=failure.code)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names alone: importing every command for its help would take longer than a person waits for a key."""
        options = click.Command.shell_complete(self, context, incomplete)
        return [
            *(
                CompletionItem(name, help=line)
                for name, (_, line) in _COMMANDS.items()
                if name.startswith(incomplete)
            ),
            *options,
        ]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


def unknown_command(name: str) -> str:
    import difflib

    other = _OTHER_WORDS.get(name.lower())
    meant = [other] if other else difflib.get_close_matches(name.lower(), _COMMANDS, n=3, cutoff=0.65)
    guess = f"; did you mean {' or '.join(meant)}?" if meant else ""
    return f'there is no command "{name}"{guess}'


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all is well; 1 a test or a check failed, or the server refused; 2 the input cannot "
    "be read, or the command was called wrongly; 3 a promise was broken; 4 the server cannot be reached; "
    "5 you are not allowed to.",
)
@click.version_option(package_name="headgate", prog_name="headgate", message="%(prog)s %(version)s")
@click.option("--server", metavar="URL", help="The server, for every command that asks one.")
@click.option("--token", metavar="TOKEN", help="Who you are there.")
@click.option("--workspace", metavar="NAME", help="The workspace there.")
@click.option("--context", "context", metavar="NAME", help="A stored server, by its name.")
def headgate(server: str | None, token: str | None, workspace: str | None, context: str | None) -> None:
    """Decides when each piece of production may change, and says why it has not changed yet.

    The options of the server may stand before the command or behind it; behind it they win.
    """


def main() -> NoReturn:
    """Never a traceback: what a person cannot act on is said in one line (HEADGATE_DEBUG=1 shows all)."""
    if COMPLETES in os.environ:
        _learn_to_complete()
    if os.environ.get("HEADGATE_DEBUG") == "1":
        headgate(prog_name="headgate")
        raise SystemExit(exit_codes.OK)
    try:
        headgate(prog_name="headgate")
    except Exception as error:
        click.echo(f"headgate: internal error: {type(error).__name__}: {error}", err=True)
        click.echo("Set HEADGATE_DEBUG=1 to see where it comes from.", err=True)
        raise SystemExit(exit_codes.FAILED) from None
    raise SystemExit(exit_codes.OK)


def _learn_to_complete() -> None:
    from click import shell_completion

    from headgate.cli.bash_completion import BashCompletion

    shell_completion.add_completion_class(BashCompletion)


def refuse(problems: object, *, code: int = exit_codes.UNREADABLE) -> NoReturn:
    """Says every problem on stderr and ends the command."""
    items = problems if isinstance(problems, list | tuple) else [problems]
    for problem in items:
        click.echo(str(problem), err=True)
    raise SystemExit(code)


def write_output(text: str, file: str | None) -> None:
    if file is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as output:
            output.write(text)
    except OSError as error:
        refuse(f"{file}: cannot be written: {error.strerror or error}")
