"""Our own routing and recurrences beside the libraries that could take their place: the same question to both."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from dateutil import rrule
from starlette.routing import Match as StarletteMatch
from starlette.routing import Route as StarletteRoute
from starlette.routing import Router as StarletteRouter

from headgate.api import routes
from headgate.api.http.routing import Router
from headgate.fleet.rules.recurrence import Recurrence
from headgate.kernel import instants

ROUNDS = 400
PATHS = (
    "/v1/deployments/api/versions",
    "/v1/release-targets/api/prod/host-1/explain",
    "/v1/events",
)
RULES = (
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
    "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=22;BYMINUTE=30",
)
BEGUN = datetime(2020, 1, 1, tzinfo=UTC)


def run() -> Iterator[str]:
    ours, theirs = _routing()
    yield f"a path to its route: {ours:.1f} us ours, {theirs:.1f} us starlette's router"
    for rule in RULES:
        ours, theirs = _recurrence(rule)
        yield f"the next window of {rule.split(';')[0]}: {ours:.1f} us ours, {theirs:.1f} us dateutil (begun in 2020)"


def _routing() -> tuple[float, float]:
    router = Router(routes.ALL)
    other = StarletteRouter(
        [StarletteRoute(route.path, _nothing, methods=[route.method]) for route in routes.ALL]
    )

    def ours() -> None:
        for path in PATHS:
            router.match("GET", path.encode())

    def theirs() -> None:
        for path in PATHS:
            scope = {"type": "http", "method": "GET", "path": path, "root_path": ""}
            next((route for route in other.routes if route.matches(scope)[0] is StarletteMatch.FULL), None)

    return _microseconds(ours) / len(PATHS), _microseconds(theirs) / len(PATHS)


def _recurrence(text: str) -> tuple[float, float]:
    """At ever later moments, as rollouts ask."""
    ours = Recurrence(text, "UTC", 60)
    theirs = rrule.rrulestr(text, dtstart=BEGUN)
    moments = [datetime(2026, 3, 2, tzinfo=UTC) + timedelta(hours=7 * number) for number in range(ROUNDS)]
    walls = iter(moments)
    at = iter([int(moment.timestamp()) * instants.seconds(1) for moment in moments])
    return _microseconds(lambda: ours.next_start(next(at))), _microseconds(lambda: theirs.after(next(walls)))


def _microseconds(ask: Callable[[], object]) -> float:
    started = time.process_time()
    for _ in range(ROUNDS):
        ask()
    return (time.process_time() - started) / ROUNDS * 1e6


async def _nothing() -> None:
    """A handler that is never called."""
