"""Property tests look at the same examples in every run, so that a failure is the change's own.

`HEADGATE_EXAMPLES=10 pytest tests/properties` and `--hypothesis-seed` look further.
"""

from hypothesis import settings

settings.register_profile("headgate", derandomize=True, deadline=None, database=None)
settings.load_profile("headgate")
