"""What the process that answers finds wrong with itself: what `headgate doctor` prints."""

from __future__ import annotations

import asyncio
from typing import Any

from headgate.api.documents import views
from headgate.api.http.calls import Answer, Request, Route
from headgate.kernel import rendering
from headgate.runtime.health import ADVICE, CHECKS, Check, Trouble
from headgate.store.port import UnavailableError


async def get_checks(call: Request) -> Answer:
    try:
        await asyncio.to_thread(call.service.store.ping)
    except UnavailableError as error:
        call.service.health.say_of_store(error)
    seen = [
        trouble
        for trouble in call.service.health.troubles()
        if not trouble.workspace or call.principal.sees(trouble.workspace)
    ]
    return Answer(200, {"checks": [_rendered(call, check, seen) for check in CHECKS]})


def _rendered(call: Request, check: Check, seen: list[Trouble]) -> dict[str, Any]:
    troubles = [trouble for trouble in seen if trouble.check == check]
    counts = call.service.health.counts()
    return {
        "name": check,
        "description": CHECKS[check],
        "status": "problem" if troubles else "ok",
        "problems": [
            {
                "workspace": trouble.workspace or None,
                "message": trouble.message,
                "since": rendering.render(trouble.since),
            }
            for trouble in troubles
        ],
        "advice": ADVICE[check],
        "count": sum(
            number
            for (name, workspace), number in counts.items()
            if name == check and (not workspace or call.principal.sees(workspace))
        ),
    }


ROUTES = (
    Route(
        "GET", "/v1/checks", "getChecks", "Say what is wrong with the process that answers",
        get_checks, "read", "service", {200: views.Checks}, scope="service",
        description="`count` says how often a check began to find something wrong since the process started.",
    ),
)  # fmt: skip
