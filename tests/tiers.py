"""How much is tried: the one place.

`TALLYBAYES_TIER=quick` is for work in progress, `test` (the default) tries everything once,
`deep` tries all settings, five times the examples, and what is too slow for every day. Outside
the deep tier the same examples are tried every time, so that no test fails by chance.
"""

import os
from itertools import product

import pytest
from hypothesis import HealthCheck, settings

TIER = os.environ.get("TALLYBAYES_TIER", "test")
EXAMPLES = {"quick": 5, "test": 25, "deep": 125}[TIER]
DEEP = TIER == "deep"

# The first example may wait for a compiler, and a busy machine makes every example slow.
settings.register_profile(
    TIER,
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not DEEP,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(TIER)

deep = pytest.mark.skipif(not DEEP, reason="make test-deep")


def scaled(factor, suppress=()):
    """Try so many times as many examples as other tests do."""
    examples = max(2, round(factor * EXAMPLES))
    return settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow, *suppress])


def some(every, core):
    """Return the core of what could be tried; all of it when deep."""
    return every if DEEP else core


def crossed(*values, every=7):
    """Combine values with each other: all combinations when deep, otherwise every seventh.

    As long as no number of values is a multiple of seven, each of them still occurs.
    """
    rows = list(product(*values))
    return some(rows, rows[::every])
