"""What is believed of the classes before anything is known."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb

TALLY = tb.Tally.of({"c": ["x", "y", "x", "x"]}, ["No", "No", "Yes", "No"])


def prior(which, tally=TALLY):
    return tb.estimate(tally, prior=which).prior.tolist()


WEIGHTED = tb.Tally.of({"c": ["x", "y"]}, ["No", "Yes"], [3, 1])
TRUTHS = tb.Tally.of({"c": ["x", "y"]}, [True, False])


@pytest.mark.parametrize(
    ("which", "tally", "expected"),
    [
        (None, TALLY, [0.75, 0.25]),
        (tb.Empirical(), TALLY, [0.75, 0.25]),
        (tb.Empirical(), WEIGHTED, [0.75, 0.25]),
        (tb.Uniform(), TALLY, [0.5, 0.5]),
        (tb.Fixed({"Yes": 0.1, "No": 0.9}), TALLY, [0.9, 0.1]),
        (tb.Fixed({True: 0.75, False: 0.25}), TRUTHS, [0.25, 0.75]),
    ],
)
def test_the_prior_is_the_share_of_each_class_unless_stated(which, tally, expected):
    assert prior(which, tally) == expected


@given(st.lists(st.integers(1, 50), min_size=1, max_size=5), st.fractions(0, 10, max_denominator=8))
def test_alpha_smooths_the_shares(counts, alpha):
    expected = [(n + alpha) / (sum(counts) + alpha * len(counts)) for n in map(Fraction, counts)]
    got = tb.Empirical(float(alpha)).probabilities(range(len(counts)), np.array(counts, float))
    np.testing.assert_allclose(got, [float(p) for p in expected], rtol=1e-14)
    assert sum(expected) == 1


def test_a_class_with_prior_zero_is_never_predicted():
    model = tb.estimate(TALLY, prior=tb.Fixed({"Yes": 1.0, "No": 0.0}))
    np.testing.assert_array_equal(model.posterior({"c": ["x", "y"]}), [[0, 1], [0, 1]])
    assert model.posterior_of({"c": "x"}) == {"No": 0.0, "Yes": 1.0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tb.Fixed({"a": 0.5, "b": 0.4}), "add up to 0.9; they must add up to 1"),
        (lambda: tb.Fixed({"a": 1.5, "b": -0.5}), "prior of class 'a' is 1.5"),
        (lambda: tb.Fixed({"a": float("nan"), "b": 1.0}), "prior of class 'a' is nan"),
        (lambda: tb.Fixed({"a": "half", "b": 0.5}), "prior of class 'a' is 'half'"),
        (lambda: tb.Fixed({"a": 0.5, "b": 0.501}), "add up to 1.001; they must add up to 1"),
        (lambda: tb.Fixed({}), "add up to 0"),
        (lambda: tb.Empirical(-1.0), "alpha is -1.0"),
        (lambda: tb.Empirical(float("nan")), "alpha is nan"),
        (lambda: prior(tb.Fixed({"No": 1.0})), "no prior is stated for class 'Yes'"),
        (
            lambda: prior(tb.Fixed({"No": 0.5, "Yes": 0.3, "Yess": 0.2})),
            r"unknown class 'Yess'; did you mean 'Yes'\?",
        ),
        (
            lambda: prior(tb.Fixed({"No": 0.5, "yes": 0.5})),
            r"no prior is stated for class 'Yes'; did you mean 'yes'\?",
        ),
    ],
)
def test_a_prior_that_cannot_be_is_refused(make, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        make()
