"""Asking before something that many would notice."""

import sys

import click

from headgate.cli import exit_codes, failures, refusals

CONFIRM = "confirm"
YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


def is_asked(refused: refusals.RefusedRequest) -> bool:
    """Whether the server wants a confirmation, and nothing else."""
    return refused.status == 409 and any(problem.path == CONFIRM for problem in refused.problems)


def question(refused: refusals.RefusedRequest) -> str:
    """What the server says, without how a program answers it."""
    question_asked = next(problem.message for problem in refused.problems if problem.path == CONFIRM)
    return question_asked.partition("; if that is meant")[0]


def be_sure(question: str, *, yes: bool) -> None:
    """Ends the command unless a person says yes, or has said so on the command line."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise failures.misused(f"{question} Nobody is there to ask; give --yes")
    if not click.confirm(question, err=True):
        raise failures.CommandFailure("nothing was done", exit_codes.FAILED)
