"""`http`: asks an address. Any answer is a result; what it means, the metric's conditions say."""

from __future__ import annotations

from headgate.agents.providers.answers import MetricAnswer
from headgate.agents.web import Web
from headgate.fleet.rules import verification

LARGEST_ANSWER_BYTES = 1024 * 1024


async def measure(provider: verification.Http, web: Web) -> MetricAnswer:
    answer = await web.call(
        provider.method,
        provider.url,
        headers=provider.headers,
        body=provider.body.encode() if provider.body is not None else None,
        timeout_seconds=provider.timeout_seconds,
        largest_bytes=LARGEST_ANSWER_BYTES,
    )
    if answer.is_cut:
        return MetricAnswer(error=f"the answer is larger than {LARGEST_ANSWER_BYTES} bytes")
    document = answer.document()
    return MetricAnswer(
        {
            "ok": answer.is_good,
            "status": answer.status,
            "statusCode": answer.status,
            "headers": dict(answer.headers),
            "body": answer.text() if document is None else document,
        }
    )
