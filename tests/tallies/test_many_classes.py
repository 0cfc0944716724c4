"""Many classes cost no more than their number: none is looked for among all others."""

import numpy as np

import tallybayes as tb

LABELS = [f"class {k:03}" for k in range(300)]


class Unsearched(tuple):
    """Classes in which nothing may be searched one by one."""

    __slots__ = ()

    def __contains__(self, label):
        raise AssertionError("searched")

    def index(self, *args):
        raise AssertionError("searched")


def test_taking_away_searches_no_class():
    tally = tb.Tally.of({"x": np.arange(600.0)}, LABELS * 2)
    part = tb.Tally.of({"x": np.arange(300.0)}, LABELS, schema=tally.schema)
    tally.classes = Unsearched(tally.classes)
    assert (tally - part).rows.tolist() == [1] * 300
    assert (tally + part).rows.tolist() == [3] * 300


def test_a_stated_prior_searches_no_class():
    prior = tb.Fixed(dict.fromkeys(LABELS, 1 / 300))
    found = prior.probabilities(Unsearched(LABELS), np.ones(300))
    np.testing.assert_allclose(found, 1 / 300)
