"""Relative frequencies with their working."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallybayes.explanations.ratio import Ratio

COUNTS = st.integers(0, 10**7)
SMOOTHING = st.fractions(0, 50, max_denominator=1000)


@given(count=COUNTS, more=COUNTS, alpha=SMOOTHING, k=st.integers(1, 50))
def test_the_fraction_is_exact_for_whole_counts_and_simple_smoothing(count, more, alpha, k):
    total = count + more
    if not total + alpha:
        return
    exact = (count + alpha) / (total + alpha * k)
    ratio = Ratio(float(exact), float(count), float(alpha), float(total), float(alpha) * k)
    # alpha k may need more digits than a simple fraction has, when it is said to be none
    assert ratio.fraction in ((exact,) if (alpha * k).denominator == 1 else (exact, None))
    if alpha == 0 or alpha.denominator == 1:
        assert ratio.fraction == exact


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Ratio(1 / 6, 0, 1, 3, 3), "(0 + 1)/(3 + 3) = 1/6 = 0.1667"),
        (Ratio(3 / 7, 3, 0, 7, 0), "3/7 = 0.4286"),
        (Ratio(1.0, 3, 0, 3, 0), "3/3 = 1"),
        (Ratio(0.0, 0, 0, 3, 0), "0/3 = 0"),
        (Ratio(4 / 3, 3, 1, 3, 0), "(3 + 1)/3 = 4/3 = 1.333"),
        (Ratio(0.3, 0.3), "3/10 = 0.3"),
        (Ratio(0.5, 1e6, 0, 2e6, 0), "1000000/2000000 = 1/2 = 0.5"),
        (Ratio(1.1 / 3.2, 1, 0.1, 3, 0.2), "(1 + 0.1)/(3 + 0.2) = 11/32 = 0.3438"),
        (Ratio((1 + 1 / 3) / 4, 1, 1 / 3, 3, 1), "(1 + 1/3)/(3 + 1) = 1/3 = 0.3333"),
        (Ratio(1 / 1000003, 1, 0, 1000003, 0), "1/1000003 = 1e-06"),
    ],
    ids=str,
)
def test_a_ratio_is_written_with_its_working(ratio, text):
    assert str(ratio) == text


def test_what_is_no_simple_fraction_has_only_a_decimal():
    ratio = Ratio(math.pi / 4, math.pi, 0.0, 4.0, 0.0)
    assert ratio.fraction is None
    assert ratio.to_dict() == {
        "value": math.pi / 4, "fraction": None, "working": "3.14159/4",
    }  # fmt: skip


def test_a_working_that_does_not_give_the_value_is_no_fraction():
    assert Ratio(0.5, 1, 0, 3, 0).fraction is None
    assert Ratio(1 / 3, 1, 0, 3, 0).fraction == Fraction(1, 3)


def test_a_part_of_nothing_has_no_fraction():
    assert Ratio(math.nan, 0, 0, 0, 0).fraction is None
    assert Ratio(math.nan, 0, 0, 0, 0).to_dict()["value"] is None
