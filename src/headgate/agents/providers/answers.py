"""What a provider says."""

import msgspec


class MetricAnswer(msgspec.Struct, frozen=True):
    """`result` is what conditions read; with an `error` there is none."""

    result: object = None
    error: str | None = None
