"""A scenario played in the server, for those who have a browser and no command line. Nothing of it is kept."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import msgspec

from headgate.api import rehearsing
from headgate.api.documents import bodies, views
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.routes.plans import LONGEST_SECONDS
from headgate.fleet.engine import manifests
from headgate.kernel import documents
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.screens import page
from headgate.simulate import run, scenario
from headgate.simulate.scenario import Scenario

LONGEST_TEXT = 1024 * 1024


async def simulate(call: Request) -> Answer:
    given = await asyncio.to_thread(documents.read, bodies.SimulationInput, call.body)
    loaded = await asyncio.to_thread(_read, given.scenario, given.files)
    until = _until(given.until, loaded)
    try:
        return Answer(200, await rehearsing.run(partial(_played, loaded, until, given.seed)))
    except MemoryError:
        raise Rejected([Problem("scenario", "takes more memory than one may; play less at once")]) from None


def _read(text: str, files: dict[str, str]) -> Scenario:
    """Files that it names are not looked for here, where they would be the server's: they come with it."""
    length = len(text) + sum(len(name) + len(content) for name, content in files.items())
    if length > LONGEST_TEXT:
        with_files = " with its files" if files else ""
        raise Rejected(
            [Problem("scenario", f"has {length:,} characters{with_files}; allowed are {LONGEST_TEXT:,}")]
        )
    scenarios = scenario.read_all(manifests.read_documents(text, source="scenario"), files or None)
    if len(scenarios) != 1:
        raise Rejected(
            [Problem("scenario", f"holds {len(scenarios)} documents of kind Scenario; allowed is one")]
        )
    return scenarios[0]


def _until(text: str | None, loaded: Scenario) -> Instant | None:
    if text is None:
        return None
    try:
        return scenario.parse_until(text, loaded.start)
    except ValueError as error:
        raise Rejected([Problem("until", str(error))]) from None


def _played(loaded: Scenario, until: Instant | None, seed: int | None) -> bytes:
    patience = time.monotonic() + LONGEST_SECONDS
    result = run.simulate(loaded, until, seed, is_enough=lambda: time.monotonic() > patience)
    return msgspec.json.encode(
        {
            "scenario": result.scenario,
            "seed": result.seed,
            "converged": result.converged,
            "wasCut": result.was_cut,
            "violations": [f"{one.promise}: {one.message}" for one in result.violations],
            "failedExpectations": [one.message for one in result.expectations if not one.passed],
            "page": page.render(result),
        }
    )


ROUTES = (
    Route(
        "POST", "/v1/simulate", "simulate", "Play a scenario in virtual time",
        simulate, "read", "manifests", {200: views.SimulationResult}, body=bodies.SimulationInput, lane="simulations",
        description=(
            "`page` is what `headgate simulate -o html` writes. It concerns no workspace and stores nothing. One that takes "
            f"more than {LONGEST_SECONDS:g} seconds is cut, and `wasCut` says so; files that the scenario names come with it, under `files`."
        ),
    ),
)  # fmt: skip
