"""How long the properties are looked for.

The default is short, and other ones each time. `HEADGATE_EXAMPLES=50` looks at fifty times as many scenarios;
`HEADGATE_SEED=N` repeats a run.
"""

import os

from hypothesis import HealthCheck, Phase, settings

MULTIPLIER = float(os.environ.get("HEADGATE_EXAMPLES", "1"))


def examples(count: int) -> settings:
    """Settings of one test, whose share of the default run is `count` examples. Shrinking is done by `reducing`."""
    return settings(
        max_examples=max(1, int(count * MULTIPLIER)),
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate),
    )
